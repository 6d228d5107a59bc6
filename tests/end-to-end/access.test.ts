import test from 'ava'
import { type Body, errorOf, namesIn, openRoom, type Room, type Value } from './reading-room.ts'

// reference/rest.md#14-access, as far as reads go
let room: Room
test.before(async () => {
  room = await openRoom()
})
test.after.always(() => room?.close())

const dataOf = (answer: { readonly body: unknown }): Value => (answer.body as { data: Value }).data

test('the public role reads only what it is granted', async t => {
  t.is((await room.get('/api/books', null)).status, 200)
  for (const path of ['/api/diaries', '/api/diaries/first-diary', '/api/diaries/nothing', '/api/subjects']) {
    const error = errorOf(await room.get(path, null))
    t.is(error.status, 403, path)
    t.is(error.name, 'ForbiddenError')
    t.is(error.message, 'Forbidden')
  }
})

test('find and findOne are granted separately', async t => {
  t.is((await room.get('/api/shelves', null)).status, 200)
  t.is((await room.get('/api/shelves/desk', null)).status, 403)
})

test('a full-access and a read-only token read everything', async t => {
  for (const token of ['full', 'read'] as const) {
    t.is((await room.get('/api/diaries', token)).status, 200)
    t.is((await room.get('/api/diaries/first-diary', token)).status, 200)
  }
})

test('a custom token reads only what it names, not what is public', async t => {
  t.is((await room.get('/api/subjects', 'custom')).status, 200)
  t.is((await room.get('/api/subjects/fire', 'custom')).status, 403)
  t.is((await room.get('/api/books', 'custom')).status, 403)
})

test('an unknown token is refused even on public routes', async t => {
  for (const token of ['unknown-token', 'a.b.c', 'eyJhbGciOiJub25lIn0.eyJpZCI6MX0.']) {
    const error = errorOf(await room.get('/api/books', null, { authorization: `Bearer ${token}` }))
    t.is(error.status, 401)
    t.is(error.name, 'UnauthorizedError')
    t.is(error.message, 'Missing or invalid credentials')
  }
})

test('an expired token is refused as expired', async t => {
  const error = errorOf(await room.get('/api/books', 'expired'))
  t.is(error.status, 401)
  t.is(error.message, 'Token expired')
})

test('a request without exactly one bearer token is anonymous', async t => {
  for (const authorization of ['Basic YTpi', 'Bearer', 'Bearer one two']) {
    t.is((await room.get('/api/books', null, { authorization })).status, 200, authorization)
    t.is((await room.get('/api/diaries', null, { authorization })).status, 403, authorization)
  }
})

test('a condition of a permission restricts the list, its total and each document', async t => {
  const answer = await room.get('/api/books', 'guarded')
  t.deepEqual(namesIn(dataOf(answer), 'title'), ['Ember'])
  t.is(((answer.body as Body).meta as { pagination: Body }).pagination.total, 1)
})

test('fields outside a permission are not returned and cannot be selected, filtered, sorted or populated', async t => {
  const [book] = dataOf(await room.get('/api/books', 'guarded')) as readonly Body[]
  const system = ['createdAt', 'documentId', 'id', 'locale', 'publishedAt', 'updatedAt']
  t.deepEqual(Object.keys(book ?? {}).sort(), [...system, 'title', 'pages'].sort())
  for (const query of ['fields=code', 'filters[code]=A1', 'sort=code', 'filters[author][name]=Ada']) {
    t.is((await room.get(`/api/books?${query}`, 'guarded')).status, 400, query)
  }
  t.is((await room.get('/api/books?filters[pages]=120&sort=title&fields=pages', 'guarded')).status, 200)
})

test('drafts are hidden from a caller without the right to read them', async t => {
  t.is((await room.get('/api/books?status=draft', 'guarded')).status, 403)
  t.is((await room.get('/api/books?status=draft', null)).status, 200)
})
