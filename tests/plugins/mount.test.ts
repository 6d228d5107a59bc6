import test, { type ExecutionContext } from 'ava'
import { createTestApp } from '../../core/testing.ts'
import { snapshot } from '../harness/embedded-files.ts'
import { temporaryFolder } from '../harness/folder.ts'

const TOKEN = 'site-site-site-site-site-site-site-site'
const SECRET = 'full-full-full-full-full-full-full-full'

const PROJECT = {
  contentTypes: { article: { draftAndPublish: false, attributes: { title: 'string', owner: 'string' } } },
  roles: { public: { permissions: { article: { find: { fields: ['title'] } } } } },
  apiTokens: {
    site: { type: 'custom', secret: TOKEN, permissions: { article: ['find', 'create'] } },
    full: { type: 'full-access', secret: SECRET },
  },
  server: { cors: { origins: ['https://shop.example'] } },
}

/** GraphQL and metrics below the prefix of REST. */
const BELOW = {
  contentTypes: {
    article: { ...PROJECT.contentTypes.article, search: { attributes: { title: 'A' } } },
  },
  graphql: { endpoints: { '/api/graphql': 'flat', '/api/inner/graphql': 'nested' } },
  server: { ...PROJECT.server, metrics: { enabled: true, path: '/api/stats/metrics' } },
}

const router = (
  body: string,
  mount = `rest.mount('/shop', router, { auth: false })`,
) => `import express, { Router } from 'express'
import { ConflictError, defineExtension } from 'plinth'
export default defineExtension({
  register({ rest, app }) {
    const router = Router()
    ${body}
    ${mount}
  },
})`

async function open(t: ExecutionContext, extension: string, project: object = PROJECT) {
  const folder = temporaryFolder()
  t.teardown(folder.remove)
  folder.write('extensions/shop.ts', extension)
  const app = await createTestApp({
    project: { ...PROJECT, ...project },
    plugins: folder.path,
    snapshot: await snapshot(),
  })
  t.teardown(() => app.close())
  return app
}

test('a mounted router answers below its path, with the caller, the request id and the headers of every response', async t => {
  const app = await open(
    t,
    router(`
    router.use(express.json())
    router.get('/cart/:id', (request, response) => {
      const { state, requestId } = response.locals.plinth
      response.cookie('cart', request.params.id).json({
        cart: request.params.id, size: request.query.size, base: request.baseUrl,
        role: state.role?.type ?? null, token: state.token?.name ?? null, requestId,
        may: state.ability.can('create', 'article'),
      })
    })
    router.post('/orders', async (request, response) => {
      const { app, state } = response.locals.plinth
      const made = await app.documents('article').as(state.ability).create({ data: request.body })
      response.status(201).json({ title: made.title })
    })
    router.get('/taken', () => { throw new ConflictError('Sold out') })
    router.get('/broken', () => { throw new Error('inside') })
    router.get('/late', (request, response, next) => { setTimeout(() => next(new ConflictError('Late')), 5) })`),
  )
  const cart = await app.request('GET', '/api/shop/cart/7?size=3', {
    headers: { 'x-request-id': 'abc', origin: 'https://shop.example' },
  })
  t.deepEqual(cart.body, {
    ...{ cart: '7', size: '3', base: '/api/shop', role: 'public', token: null, requestId: 'abc', may: false },
  })
  t.deepEqual(cart.headers['set-cookie'], ['cart=7; Path=/'])
  t.is(cart.headers['x-request-id'], 'abc')
  t.is(cart.headers['access-control-allow-origin'], 'https://shop.example')
  t.truthy(cart.headers['x-frame-options'])
  t.like((await app.request('GET', '/api/SHOP/cart/7', { token: TOKEN })).body, { token: 'site', may: true })

  const order = { body: { title: 'A' } }
  t.like(await app.request('POST', '/api/shop/orders', { ...order, token: TOKEN }), {
    status: 201,
    body: { title: 'A' },
  })
  t.like(await app.request('POST', '/api/shop/orders', order), {
    status: 403,
    body: { error: { name: 'ForbiddenError' } },
  })
  t.is(await app.app.documents('article').count(), 1)

  for (const path of ['taken', 'late'])
    t.like(
      await app.request('GET', `/api/shop/${path}`),
      { status: 409, body: { error: { name: 'ConflictError' } } },
      path,
    )
  const broken = await app.request('GET', '/api/shop/broken')
  t.is(broken.status, 500)
  for (const path of ['/api/shop', '/api/shop/nothing', '/api/shopping'])
    t.like(await app.request('GET', path), { status: 404, body: { error: { name: 'NotFoundError' } } }, path)
  t.is((await app.request('OPTIONS', '/api/shop/orders')).headers.allow, 'POST')
  t.is((await app.request('GET', '/api/articles')).status, 200)
})

test('a mounted router is closed by default, and admits callers by scope and policies', async t => {
  const handler = `router.get('/', (request, response) => void response.json({ user: response.locals.plinth.state.token?.name ?? null }))`
  const closed = await open(t, router(handler, `rest.mount('/shop', router)`))
  t.is((await closed.request('GET', '/api/shop')).status, 403)
  t.is((await closed.request('GET', '/api/shop', { token: TOKEN })).status, 403)
  t.is((await closed.request('GET', '/api/shop', { token: 'wrong' })).status, 401)
  t.like(await closed.request('GET', '/api/shop', { token: SECRET }), { status: 200, body: { user: 'full' } })

  const scoped = await open(
    t,
    router(
      handler,
      `rest.mount('/shop', router, {
        auth: { scope: ['api::article.article.create'] },
        policies: [context => context.http.request.headers['x-shop'] === 'open'],
      })`,
    ),
  )
  const opened = { 'x-shop': 'open' }
  t.is((await scoped.request('GET', '/api/shop', { headers: opened })).status, 403)
  t.is((await scoped.request('GET', '/api/shop', { token: TOKEN })).status, 403)
  t.is((await scoped.request('GET', '/api/shop', { token: TOKEN, headers: opened })).status, 200)
})

for (const [mount, fault] of [
  [`rest.mount('/GraphQL', router)`, /the router at \/GraphQL would hide \/graphql of the GraphQL endpoint/],
  [
    `rest.mount('/graphql/admin', router)`,
    /would hide \/graphql of the GraphQL endpoint. Mount it at another path \(at extensions\/[a-z]+\.ts:\d+\)/,
  ],
  [`rest.mount('/inner', router)`, /would hide \/inner\/graphql of the GraphQL endpoint/],
  [`rest.mount('/stats', router)`, /would hide \/stats\/metrics of the metrics/],
  [`rest.mount('/actions', router)`, /would hide \/actions of the server itself/],
  [`rest.mount('/search', router)`, /would hide \/search of the server itself/],
  [
    `rest.route('POST', '/graphql', () => 1)`,
    /POST \/graphql is there already: \/graphql of the GraphQL endpoint/,
  ],
  [
    `rest.route('PUT', '/graphql', () => 1)`,
    /PUT \/graphql is there already: \/graphql of the GraphQL endpoint/,
  ],
  [`rest.route('GET', '/:page', () => 1)`, /GET \/:page is there already: \/graphql of the GraphQL endpoint/],
  [
    `rest.mount('/articles', router)`,
    /the router at \/articles would hide \/articles of api::article\.article/,
  ],
  [`rest.mount('/articles/special', router)`, /at \/articles\/special would hide \/articles of/],
  [`rest.mount('/users', router)`, /would hide \/users/],
  [
    `rest.mount('/shop', router); rest.mount('/shop/cart', router)`,
    /the router at \/shop\/cart would hide \/shop of extensions\/shop/,
  ],
  [`rest.route('GET', '/shop/:id', () => 1); rest.mount('/shop', router)`, /would hide \/shop\/:id/],
  [`rest.mount('shop', router)`, /`shop` is no path of a router such as \/shop/],
  [`rest.mount('/:shop', router)`, /is no path of a router/],
  [`rest.mount('/shop')`, /the router of \/shop is no Express router/],
  [`rest.mount('/shop', router, { scope: [] })`, /mount.* has no key `scope`; it may have auth, policies/],
  [
    `rest.mount('/shop', router, { auth: { scope: ['api::article.article.reed'] } })`,
    /unknown permission .*did you mean/,
  ],
] as const)
  test(`a wrong mount prevents the start: ${mount}`, async t => {
    await t.throwsAsync(open(t, router('', mount), BELOW), { message: fault })
  })

test('a router and routes with other paths leave a GraphQL endpoint below the prefix alone', async t => {
  const app = await open(
    t,
    router(
      `router.get('/', (request, response) => void response.json('shop'))
      rest.route('PUT', '/graphql/pages', () => 'put', { auth: false })`,
      `rest.mount('/graphql-shop', router, { auth: false })`,
    ),
    BELOW,
  )
  t.is((await app.request('GET', '/api/graphql-shop')).body, 'shop')
  t.is((await app.request('PUT', '/api/graphql/pages')).body, 'put')
  for (const path of ['/api/graphql', '/api/inner/graphql'])
    t.deepEqual((await app.request('POST', path, { body: { query: '{ __typename }' } })).body, {
      data: { __typename: 'Query' },
    })
})
