import test from 'ava'
import { ValidationError } from '../../core/faults/errors.ts'
import type { DocumentMiddleware } from '../../core/plugins/services/documents-api.ts'
import { open, refusalOf } from './opened.ts'

test('document middlewares run around every action of code and of REST, the first outermost', async t => {
  const seen: string[] = []
  const logger =
    (name: string): DocumentMiddleware =>
    async ({ uid, action }, next) => {
      seen.push(`${name} > ${uid} ${action}`)
      const value = await next()
      seen.push(`${name} < ${action}`)
      return value
    }
  const { documents, request } = await open(t, [logger('a'), logger('b')])
  const { documentId } = await documents('book').create({
    data: { title: 'Emma', price: 3 },
    status: 'published',
  })
  t.deepEqual(seen.splice(0), [
    'a > api::book.book create',
    'b > api::book.book create',
    'b < create',
    'a < create',
  ])
  const found = await request('reader', 'GET', '/books')
  t.like(found, { status: 200, body: { data: [{ documentId }], meta: { pagination: { total: 1 } } } })
  await request('reader', 'GET', `/books/${documentId}`)
  await request('editor', 'POST', '/books', { title: 'Persuasion' })
  await request('editor', 'PUT', `/books/${documentId}`, { title: 'Emma' })
  await request('editor', 'DELETE', `/books/${documentId}`)
  t.deepEqual(
    seen.filter(line => line.startsWith('a >')).map(line => line.split(' ').at(-1)),
    ['findMany', 'findOne', 'create', 'update', 'delete'],
  )
})

test('a middleware that changes nothing leaves the response text unchanged', async t => {
  const { documents, request } = await open(t, [(_context, next) => next()])
  const plain = await open(t)
  for (const each of [documents, plain.documents])
    await each('book').create({ data: { title: 'Emma', price: 3 }, status: 'published' })
  const withoutIds = (text: string) => text.replace(/"(documentId|\w+At)":"[^"]*"/g, '"$1":""')
  for (const url of ['/books', '/books?fields=title&pagination[withCount]=false', '/books?filters[price]=3'])
    t.is(
      withoutIds((await request('reader', 'GET', url)).text),
      withoutIds((await plain.request('reader', 'GET', url)).text),
    )
})

test('a middleware changes the parameters and the result', async t => {
  const { documents, request } = await open(t, [
    async (context, next) => {
      if (context.action === 'create') context.params.data = { ...(context.params.data as object), price: 1 }
      const value = await next()
      return Array.isArray(value) ? value.map(each => ({ ...each, seen: true })) : value
    },
  ])
  t.like(await documents('book').create({ data: { title: 'Emma', price: 9 }, status: 'published' }), {
    price: 1,
  })
  const { status, body } = await request('reader', 'GET', '/books')
  t.is(status, 200)
  t.like(body, { data: [{ title: 'Emma', price: 1, seen: true }], meta: { pagination: { total: 1 } } })
})

test('a condition of a middleware may use attributes that the caller may not, without revealing them', async t => {
  const { documents, request, caller } = await open(t, [
    (context, next) => {
      if (context.action === 'findMany')
        context.params.filters = { $and: [context.params.filters ?? {}, { secret: 'mine' }] }
      return next()
    },
  ])
  for (const secret of ['mine', 'yours'])
    await documents('book').create({ data: { title: secret, secret }, status: 'published' })
  const { body } = await request('reader', 'GET', '/books')
  t.like(body, { data: [{ title: 'mine' }], meta: { pagination: { total: 1 } } })
  t.notRegex(JSON.stringify(body), /secret/)
  const own = await request('reader', 'GET', '/books?filters[secret]=yours')
  t.like(own, { status: 400, body: { error: { message: 'Invalid key secret' } } })
  const reader = documents('book').as(caller('reader'))
  t.is((await reader.findMany({ status: 'published' })).length, 1)
  t.regex(
    await refusalOf(reader.findMany({ status: 'published', filters: { secret: 'yours' } })),
    /Invalid key secret/,
  )
})

test('a cursor does not reveal the sort keys of a middleware, and one in the caller’s order passes middlewares', async t => {
  const { documents, request } = await open(t, [
    (context, next) => {
      const { _q: order, ...params } = context.params
      if (context.action === 'findMany')
        context.params = order === 'hidden' ? { ...params, sort: 'secret' } : params
      return next()
    },
  ])
  for (const secret of ['one', 'two'])
    await documents('book').create({ data: { title: secret, secret }, status: 'published' })
  const reported = (url: string) => request('reader', 'GET', url).then(({ text }) => text, String)
  const hidden = await reported('/books?_q=hidden&sort=title&pagination[after]=&pagination[pageSize]=1')
  t.regex(hidden, /pagination\[after\].*an order of its own/)
  t.notRegex(hidden, /"next"/)
  const first = JSON.parse(await reported('/books?sort=title&pagination[after]=&pagination[pageSize]=1'))
  const { next } = first.meta.pagination
  t.like(JSON.parse(await reported(`/books?sort=title&pagination[after]=${next}`)), {
    data: [{ title: 'two' }],
  })
})

test('a middleware may set values that the caller may not; those of the caller stay refused', async t => {
  const { documents, request } = await open(t, [
    (context, next) => {
      if (context.action === 'create')
        context.params.data = { ...(context.params.data as object), secret: 'set' }
      return next()
    },
  ])
  t.like(await request('editor', 'POST', '/books', { title: 'Emma', secret: 'own' }), {
    status: 400,
    body: { error: { message: 'Invalid key secret' } },
  })
  t.like(await request('editor', 'POST', '/books?status=published', { title: 'Emma' }), { status: 201 })
  t.like(await documents('book').findFirst(), { title: 'Emma', secret: 'set', price: 7 })
})

test('middlewares do not see calls that are refused by validation', async t => {
  let calls = 0
  const { request } = await open(t, [
    (_context, next) => {
      calls++
      return next()
    },
  ])
  t.is((await request('reader', 'POST', '/books', { title: 'Emma' })).status, 403)
  t.is((await request('reader', 'GET', '/books?sort=nothing')).status, 400)
  t.is((await request('editor', 'POST', '/books', { nothing: 1 })).status, 400)
  t.is(calls, 0)
})

test('a middleware refuses by throwing its own error, and hides a document by returning null', async t => {
  const { documents, request } = await open(t, [
    ({ action }, next) => {
      if (action === 'create') throw new ValidationError('closed on Sundays')
      return action === 'findOne' ? null : next()
    },
  ])
  t.is(await refusalOf(documents('book').create({ data: {} })), 'validation: closed on Sundays')
  const refused = await request('editor', 'POST', '/books', { title: 'x' })
  t.is(refused.status, 400)
  t.true(refused.text.includes('closed on Sundays'))
  t.is((await request('reader', 'GET', '/books/any')).status, 404)
})

test('a middleware that returns nothing, or calls next twice, is reported', async t => {
  const silent = await open(t, [
    async (_context, next) => {
      await next()
    },
  ])
  await t.throwsAsync(silent.documents('book').findMany(), { message: /answered nothing/ })
  const twice = await open(t, [
    async (_context, next) => {
      await next()
      return next()
    },
  ])
  await t.throwsAsync(twice.documents('book').findMany(), { message: /called twice/ })
})

test('with a middleware, documentId and data in the query string have no effect', async t => {
  const seen: Readonly<Record<string, unknown>>[] = []
  const { documents, request } = await open(t, [
    ({ params }, next) => {
      seen.push({ ...params })
      return next()
    },
  ])
  const [emma, other] = await Promise.all(
    ['Emma', 'Other'].map(title =>
      documents('book').create({ data: { title, price: 1 }, status: 'published' }),
    ),
  )
  const forged = `documentId=${other?.documentId}&data[title]=Forged`
  const path = `/books/${emma?.documentId}`
  seen.length = 0
  t.like(await request('reader', 'GET', `${path}?${forged}`), {
    status: 200,
    body: { data: { title: 'Emma' } },
  })
  t.like(await request('reader', 'GET', `/books?${forged}`), { body: { meta: { pagination: { total: 2 } } } })
  t.is((await request('editor', 'PUT', `${path}?${forged}`, { title: 'Emma II' })).status, 200)
  t.is((await request('editor', 'POST', `/books?${forged}`, { title: 'Persuasion' })).status, 201)
  t.is((await request('editor', 'DELETE', `${path}?${forged}`)).status, 204)
  t.deepEqual(
    seen.map(({ documentId, data }) => [documentId, data]),
    [
      [emma?.documentId, undefined],
      [undefined, undefined],
      [emma?.documentId, { title: 'Emma II' }],
      [undefined, { title: 'Persuasion' }],
      [emma?.documentId, undefined],
    ],
  )
  const left = await documents('book').findMany({ status: 'published', sort: 'title' })
  t.deepEqual(
    left.map(({ title }) => title),
    ['Other', 'Persuasion'],
  )
})
