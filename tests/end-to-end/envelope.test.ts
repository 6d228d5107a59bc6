import test from 'ava'
import { type Body, errorOf, metaOf, openRoom, type Room } from './reading-room.ts'

// reference/rest.md#1-envelope-and-status-codes, reference/rest.md#2-errors
let room: Room
test.before(async () => {
  room = await openRoom()
})
test.after.always(() => room?.close())

test('a list response has data and pagination, and nothing else', async t => {
  const answer = await room.get('/api/people')
  t.is(answer.status, 200)
  t.deepEqual(Object.keys(answer.body as Body).sort(), ['data', 'meta'])
  t.deepEqual(metaOf(answer), { pagination: { page: 1, pageSize: 5, pageCount: 1, total: 3 } })
})

test('a document response has data and an empty meta', async t => {
  const answer = await room.get('/api/people/ben')
  t.is(answer.status, 200)
  t.is(((answer.body as Body).data as Body).documentId, 'ben')
  t.deepEqual(metaOf(answer), {})
})

test('a document has its ids, every scalar attribute and its timestamps; unset values are null', async t => {
  const ben = await room.one('/api/people/ben')
  t.deepEqual(Object.keys(ben).sort(), [
    'born',
    'createdAt',
    'documentId',
    'email',
    'id',
    'name',
    'publishedAt',
    'updatedAt',
  ])
  t.is(typeof ben.id, 'number')
  t.is(ben.email, null)
  for (const stamp of ['createdAt', 'updatedAt', 'publishedAt']) {
    t.regex(String(ben[stamp]), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  }
})

test('only localized documents have a locale', async t => {
  t.is((await room.one('/api/books/ember')).locale, 'en')
  t.false('locale' in (await room.one('/api/people/ada')))
})

test('private attributes and passwords are never returned, for any caller or parameter', async t => {
  for (const path of ['/api/people/ada', '/api/people/ada?populate=*', '/api/books/ember?populate=author']) {
    const text = JSON.stringify(await room.one(path))
    t.notRegex(text, /whisper|spine|"1234"|"secret"|"pin"|"hidden"|createdBy|updatedBy/)
  }
})

test('each attribute type is returned in the format of the contract', async t => {
  const { id, documentId, createdAt, updatedAt, publishedAt, ...ember } = await room.one('/api/books/ember')
  t.deepEqual(ember, {
    title: 'Ember',
    subtitle: 'Hello World',
    slug: 'ember',
    body: '# Ember',
    code: 'A1',
    pages: 120,
    weight: 1.25,
    price: 9.5,
    sold: '9007199254740993',
    day: '2024-02-29',
    opens: '13:45:10.25',
    releasedAt: '2024-01-01T00:00:00.000Z',
    stamp: '1700000000000',
    inPrint: true,
    kind: 'novel',
    contact: 'ember@library.test',
    meta: { a: 1, b: [true, null] },
    tags: ['warm', 'short'],
    text: [{ type: 'paragraph', children: [{ type: 'text', text: 'Glow.' }] }],
    locale: 'en',
  })
  t.truthy(id && documentId && createdAt && updatedAt && publishedAt)
})

test('a trailing slash and capitals in the path are accepted, a double slash is not', async t => {
  t.is((await room.get('/api/people/ada/')).status, 200)
  t.is((await room.get('/api/People/ada')).status, 200)
  t.is((await room.get('//api/people')).status, 404)
})

test('HEAD returns the headers of GET without a body', async t => {
  const answer = await room.request('HEAD', '/api/books')
  t.is(answer.status, 200)
  t.is(answer.body, null)
  t.is((await room.request('HEAD', '/api/books/nothing')).status, 404)
})

test('OPTIONS lists the methods of a path', async t => {
  const list = await room.request('OPTIONS', '/api/books')
  t.is(list.status, 200)
  t.is(list.headers.get('allow'), 'HEAD, GET, POST')
  t.is((await room.request('OPTIONS', '/api/books/ember')).headers.get('allow'), 'HEAD, GET, PUT, DELETE')
  t.is((await room.request('OPTIONS', '/api/notice')).headers.get('allow'), 'HEAD, GET, PUT, DELETE')
})

test('a method that a path does not support is 405 in plain text, an unknown one 501', async t => {
  const answer = await room.request('PATCH', '/api/books')
  t.is(answer.status, 405)
  t.is(answer.body, 'Method Not Allowed')
  t.regex(answer.headers.get('content-type') ?? '', /^text\/plain/)
  t.is(answer.headers.get('allow'), 'HEAD, GET, POST')
  t.is((await room.request('REPORT', '/api/books')).status, 501)
})

test('responses are JSON in UTF-8 for any Accept header', async t => {
  const answer = await room.get('/api/books', 'full', { accept: 'text/html' })
  t.is(answer.headers.get('content-type'), 'application/json; charset=utf-8')
})

test('CORS: the origin of a browser is echoed, and its preflight answered', async t => {
  const origin = 'https://site.test'
  const answer = await room.get('/api/books', null, { origin })
  t.is(answer.headers.get('access-control-allow-origin'), origin)
  t.regex(answer.headers.get('vary') ?? '', /Origin/)
  const preflight = await room.request('OPTIONS', '/api/books', {
    origin,
    'access-control-request-method': 'GET',
  })
  t.is(preflight.status, 204)
  t.is(preflight.headers.get('access-control-allow-methods'), 'GET,POST,PUT,PATCH,DELETE,HEAD,OPTIONS')
  t.is(preflight.headers.get('access-control-max-age'), '31536000')
})

test('every response has the security headers', async t => {
  const { headers } = await room.get('/api/books')
  t.is(headers.get('x-content-type-options'), 'nosniff')
  t.is(headers.get('x-frame-options'), 'SAMEORIGIN')
  t.is(headers.get('referrer-policy'), 'no-referrer')
  t.is(headers.get('strict-transport-security'), 'max-age=31536000; includeSubDomains')
})

test('responses to authenticated requests are not for shared caches', async t => {
  t.regex((await room.get('/api/books')).headers.get('cache-control') ?? '', /private/)
  for (const path of ['/api/books', '/api/nothing', '/graphql?query=%7B__typename%7D']) {
    const { headers } = await room.get(path, null)
    t.is(headers.get('cache-control'), 'no-cache', path)
    t.is(headers.get('vary'), 'Origin, Authorization, Strapi-Response-Format', path)
  }
})

test('an unchanged document is answered with 304', async t => {
  for (const path of ['/api/books/ember', '/api/books?populate=*']) {
    const tag = (await room.get(path)).headers.get('etag') ?? ''
    t.not(tag, '')
    const again = await room.get(path, 'full', { 'if-none-match': tag })
    t.is(again.status, 304)
    t.is(again.body, null)
  }
})

test('the health check answers 204', async t => {
  const answer = await room.get('/_health', null)
  t.is(answer.status, 204)
  t.is(answer.body, null)
})

test('an error has status, name, message and details, and data is null', async t => {
  const answer = await room.get('/api/books/nothing')
  t.is(answer.status, 404)
  t.deepEqual(answer.body, {
    data: null,
    error: { status: 404, name: 'NotFoundError', message: 'Not Found', details: {} },
  })
})

test('an unknown route, document or component is not found', async t => {
  for (const path of [
    '/api/nothing',
    '/api/books/nothing',
    '/api/book',
    '/api',
    '/books',
    '/api/parts.link',
    '/api/books/ember/more',
  ]) {
    t.is(errorOf(await room.get(path)).name, 'NotFoundError', path)
  }
})

test('an invalid key is reported with its path and parameter', async t => {
  const cases: readonly (readonly [string, string, string | null, string, string])[] = [
    ['filters[nothing]=1', 'nothing', null, 'filters', 'Invalid key nothing'],
    ['filters[author][nothing]=1', 'nothing', 'author', 'filters', 'Invalid key nothing at author'],
    [
      'filters[author][secret]=1',
      'secret',
      'author.secret',
      'filters',
      'Invalid key secret at author.secret',
    ],
    ['filters[title][$like]=1', '$like', 'title', 'filters', 'Invalid key $like at title'],
    ['sort=nothing', 'nothing', null, 'sort', 'Invalid key nothing'],
    ['fields=nothing', 'nothing', null, 'fields', 'Invalid key nothing'],
    ['populate=nothing', 'nothing', 'nothing', 'populate', 'Invalid key nothing'],
  ]
  for (const [query, key, path, param, message] of cases) {
    const { details, ...error } = errorOf(await room.get(`/api/books?${query}`))
    t.deepEqual(error, { status: 400, name: 'ValidationError', message, data: null }, query)
    t.deepEqual(details, { key, path, source: 'query', param }, query)
  }
})

test('checks run in the order route, credentials, permission, query', async t => {
  const bearer = { authorization: 'Bearer unknown-token' }
  t.is((await room.get('/api/nothing', null, bearer)).status, 404)
  t.is((await room.get('/api/books?filters[nothing]=1', null, bearer)).status, 401)
  t.is((await room.get('/api/diaries?filters[nothing]=1', null)).status, 403)
  t.is((await room.get('/api/books/nothing?filters[nothing]=1', null)).status, 400)
})

test('a path that cannot be decoded is a bad request', async t => {
  const error = errorOf(await room.get('/api/books/%E0%A4%A'))
  t.is(error.status, 400)
  t.is(error.name, 'BadRequestError')
})
