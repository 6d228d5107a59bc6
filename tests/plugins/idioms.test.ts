import test, { type ExecutionContext } from 'ava'
import type { TestApp } from '../../core/testing.ts'
import { temporaryFolder } from '../harness/folder.ts'
import { openTestApp } from '../harness/test-app.ts'

const PROJECT = `
name: Idioms
contentTypes:
  article:
    attributes:
      title: { type: string, required: true }
      rank: integer
      secret: { type: string, private: true }
      author: { type: relation, relation: manyToOne, target: author, inversedBy: articles }
      editor: { type: relation, relation: manyToOne, target: person }
  author: { attributes: { name: string, articles: { type: relation, relation: oneToMany, target: article, mappedBy: author } } }
  person: { attributes: { name: string } }
roles:
  public: { permissions: { article: [find, findOne, create, update, delete], author: [find] } }
apiTokens: { site: { secret: site-site-site-site-site-site-site-site, type: full-access } }
`

/** Opens a project with these files. */
async function open(
  t: ExecutionContext,
  files: Readonly<Record<string, string>>,
  more = '',
): Promise<TestApp> {
  const folder = temporaryFolder()
  t.teardown(folder.remove)
  folder.write('project.yaml', PROJECT + more)
  for (const [path, text] of Object.entries(files)) folder.write(path, text)
  return openTestApp(t, { project: folder.path })
}

const route = (body: string) =>
  `import { defineMiddleware } from 'plinth'\nexport default defineMiddleware({ route: () => async (context, next) => { ${body} } })\n`

const extension = (body: string, imports = '') =>
  `import { defineExtension${imports} } from 'plinth'\nexport default defineExtension({ register({ rest, documents, graphql, app }) { ${body} } })\n`

const USES = `routesConfig: { article.find: { middlewares: [change] } }\n`

async function seed({ app }: TestApp) {
  const author = await app.documents('author').create({ data: { name: 'Jane' } })
  for (const [title, rank] of [
    ['A', 1],
    ['B', 2],
    ['C', 3],
  ] as const)
    await app.documents('article').create({ data: { title, rank, author: author.documentId, secret: 's' } })
}

interface Body {
  readonly data: readonly Readonly<Record<string, unknown>>[]
  readonly meta: { readonly pagination: Readonly<Record<string, unknown>> }
  readonly error: { readonly message: string; readonly status: number }
}

const bodyOf = ({ body }: { readonly body: unknown }) => body as Body

test('a route middleware reads and changes the parsed query, and the route sees the changes', async t => {
  const app = await open(
    t,
    {
      'middlewares/change.ts': route(`
        const { filters, pagination } = context.query
        if (filters?.title !== 'B') {
          context.query.filters = { $and: [filters ?? {}, { rank: { $gt: 1 } }] }
          context.query.populate = { author: { fields: ['name'] }, editor: true }
          context.query.pagination = { ...pagination, pageSize: 1 }
          context.query.sort = ['rank:desc']
        }
        await next()`),
    },
    USES,
  )
  await seed(app)
  const changed = bodyOf(await app.request('GET', '/api/articles?pagination[withCount]=true&fields=title'))
  t.like(changed.data, [{ title: 'C', author: { name: 'Jane' } }])
  t.false('editor' in (changed.data[0] ?? {}), 'the caller may not find people')
  t.like(changed.meta.pagination, { pageSize: 1, total: 2 })
  const same = bodyOf(await app.request('GET', '/api/articles?filters[title]=B'))
  t.deepEqual(
    same.data.map(({ title }) => title),
    ['B'],
  )
})

for (const [change, message] of [
  [`context.query.filters = { titel: 'A' }`, 'Invalid key titel'],
  [`context.query.filters = { secret: 's' }`, 'Invalid key secret'],
  [`context.query.filters = { title: undefined }`, 'filters.title is undefined'],
  [
    `context.query.filtres = { title: 'A' }`,
    'Unknown parameter filtres of context.query: did you mean `filters`?',
  ],
  [
    'context.query.pagination = { limt: 1 }',
    'Unknown parameter limt of pagination of context.query: did you mean `limit`?',
  ],
  [`context.query = { sort: 'nothing' }`, 'Invalid key nothing'],
  [
    `context.query = { search: 'wine', highlight: 'title' }`,
    'Invalid parameter search: `article` declares no `search:` in project.yaml',
  ],
] as const)
  test(`a changed query is checked like the client's, with the caller's permissions: ${change}`, async t => {
    const app = await open(t, { 'middlewares/change.ts': route(`${change}\nawait next()`) }, USES)
    await seed(app)
    const { status, body } = await app.request('GET', '/api/articles')
    t.is(status, 400, JSON.stringify(body))
    t.is((body as Body).error.message, message)
  })

test('a malformed query string is refused although a middleware adds to it', async t => {
  const app = await open(
    t,
    { 'middlewares/change.ts': route(`context.query.populate = 'author'\nawait next()`) },
    USES,
  )
  const list = Array.from({ length: 120 }, (_, index) => `filters[rank][$in][]=${index}`).join('&')
  t.is((await app.request('GET', `/api/articles?${list}`)).status, 400)
})

test('an extension that replaces a generated route runs before and after it', async t => {
  const app = await open(t, {
    'extensions/articles.ts': extension(`
      rest.route('GET', '/articles', async (context, next) => {
        context.query.sort = 'rank:desc'
        const { data, meta } = await next()
        return { data: data.map(each => ({ ...each, label: each.title + each.rank })), meta: { ...meta, seen: true } }
      }, { replaces: true })
      rest.route('POST', '/articles', async (context, next) => next(), { replaces: true })
      rest.route('DELETE', '/articles/:id', async (context, next) => { await next() }, { replaces: true })
      rest.route('GET', '/articles/:id', async ({ args }, next) => {
        try { return await next() } catch (error) { return { missing: args.id, status: error.status } }
      }, { replaces: true })`),
  })
  await seed(app)
  const { data, meta } = bodyOf(await app.request('GET', '/api/articles'))
  t.deepEqual(
    data.map(({ label }) => label),
    ['C3', 'B2', 'A1'],
  )
  t.like(meta, { seen: true, pagination: { total: 3 } })
  const made = await app.request('POST', '/api/articles', { body: { data: { title: 'D' } } })
  t.is(made.status, 201)
  const { documentId } = (made.body as { data: { documentId: string } }).data
  t.is((await app.request('DELETE', `/api/articles/${documentId}`)).status, 204)
  const missing = await app.request('GET', `/api/articles/${documentId}`)
  t.deepEqual([missing.status, missing.body], [200, { missing: documentId, status: 404 }])
  t.is((await app.request('POST', '/api/articles', { body: { data: { titel: 'D' } } })).status, 400)
})

test('a replaced route keeps the permission of the generated one, and its policies', async t => {
  const files = {
    'policies/closed.ts': `import { definePolicy } from 'plinth'\nexport default definePolicy(() => false)\n`,
    'extensions/all.ts': extension(`
      for (const path of ['/people', '/articles', '/users/me'])
        rest.route('GET', path, async (context, next) => next(), { replaces: true })`),
  }
  const app = await open(t, files, 'routesConfig: { article.find: { policies: [closed] } }\n')
  t.is((await app.request('GET', '/api/people')).status, 403)
  t.is(
    (await app.request('GET', '/api/people', { token: 'site-site-site-site-site-site-site-site' })).status,
    200,
  )
  t.like(await app.request('GET', '/api/articles'), { status: 403, body: { error: { name: 'PolicyError' } } })
  t.is((await app.request('GET', '/api/users/me')).status, 403)
})

for (const [body, message] of [
  [`rest.route('GET', '/articles', () => 1)`, /GET \/articles is there already.*replaces: true/],
  [
    `rest.route('GET', '/artcles', () => 1, { replaces: true })`,
    /replaces no generated route: did you mean `GET \/articles`/,
  ],
  [
    `for (let i = 0; i < 2; i++) rest.route('GET', '/articles', () => 1, { replaces: true })`,
    /is there already: \/articles of extensions\/routes\.ts:\d+ \(at extensions\/routes\.ts:\d+\)/,
  ],
  [`rest.route('GET', '/articles', () => 1, { replace: true })`, /no key `replace`: did you mean `replaces`/],
] as const)
  test(`an extension with conflicting routes prevents the start: ${body}`, async t => {
    await t.throwsAsync(open(t, { 'extensions/routes.ts': extension(body) }), { message })
  })

test('http.request.json() refuses what no body of the content API may have, and reads a byte order mark', async t => {
  const app = await open(t, {
    'extensions/routes.ts': extension(
      "rest.route('POST', '/echo', async ({ http }) => ({ got: await http.request.json() }), { auth: false })",
    ),
  })
  const send = (body: string) =>
    app.request('POST', '/api/echo', { body, headers: { 'content-type': 'application/json' } })
  t.like(await send('\uFEFF{"a":[1]}'), { status: 200, body: { got: { a: [1] } } })
  for (const body of [
    '{"__proto__":{"admin":true}}',
    '[{"a":{"__proto__":1}}]',
    '['.repeat(200) + ']'.repeat(200),
  ])
    t.like(await send(body), { status: 400, body: { error: { name: 'ValidationError' } } }, body.slice(0, 30))
})

test('OPTIONS and 405 name the methods that extensions add to a path', async t => {
  const app = await open(t, {
    'extensions/routes.ts': extension(`
      rest.route('PATCH', '/articles/:id', () => 1, { auth: false })
      rest.route('POST', '/articles/:id/like', () => 1, { auth: false })`),
  })
  const allow = async (method: string, path: string) =>
    (await app.request(method, path)).headers.allow?.split(', ').sort()
  t.deepEqual(await allow('OPTIONS', '/api/articles/x'), ['DELETE', 'GET', 'HEAD', 'PATCH', 'PUT'])
  t.deepEqual(await allow('POST', '/api/articles/x'), ['DELETE', 'GET', 'HEAD', 'PATCH', 'PUT'])
  t.true((await allow('OPTIONS', '/api/articles/x/like'))?.includes('POST'))
  t.deepEqual(await allow('OPTIONS', '/api/articles'), ['GET', 'HEAD', 'POST'])
})

const THROWN = [
  ['BadRequestError', 400],
  ['ValidationError', 400],
  ['ApplicationError', 400],
  ['UnauthorizedError', 401],
  ['ForbiddenError', 403],
  ['NotFoundError', 404],
  ['ConflictError', 409],
  ['PayloadTooLargeError', 413],
  ['RateLimitError', 429],
] as const

test('errors thrown by code are answered as in Strapi', async t => {
  const names = THROWN.map(([name]) => name).join(', ')
  const app = await open(t, {
    'extensions/routes.ts': extension(
      `const errors = { ${names} }
      rest.route('GET', '/fails/:name', ({ args }) => { throw new errors[args.name]('No', { key: 'a' }) }, { auth: false })`,
      `, ${names}`,
    ),
  })
  for (const [name, status] of THROWN) {
    const answer = await app.request('GET', `/api/fails/${name}`)
    t.is(answer.status, status)
    t.deepEqual(answer.body, { data: null, error: { status, name, message: 'No', details: { key: 'a' } } })
  }
})

test('an Express middleware that calls next() twice is answered once, and logged', async t => {
  const twice = (code: string) =>
    `import { BadRequestError, defineMiddleware } from 'plinth'\nexport default defineMiddleware({ express: () => (request, response, next) => { ${code} } })\n`
  const app = await open(
    t,
    {
      'middlewares/twice.ts': twice('next(); next()'),
      'middlewares/refuses.ts': twice(
        "if (request.headers['x-refuse']) next(new BadRequestError('Refused'))\nnext()",
      ),
    },
    'middlewares: [twice, refuses]\n',
  )
  await seed(app)
  t.is((await app.request('GET', '/api/articles')).status, 200)
  const headers = { 'x-refuse': '1' }
  const written = await app.request('POST', '/api/articles', { body: { data: { title: 'D' } }, headers })
  t.is(written.status, 400)
  t.is(await app.app.documents('article').count(), 3, 'a refused request is not executed')
  for (const name of ['twice', 'refuses'])
    t.regex(app.log().join('\n'), RegExp(`the middleware ${name} called next\\(\\) twice`))
})

test('an Express middleware that fails stops the request, whatever it throws, but not after next()', async t => {
  const failing = (code: string) =>
    `import { defineMiddleware } from 'plinth'\nexport default defineMiddleware({ express: () => async (request, response, next) => { if (request.headers['x-fails'] !== ${JSON.stringify(code)}) return next()\n${code} } })\n`
  const cases = {
    nothing: 'throw void 0',
    rejects: 'return Promise.reject()',
    both: 'next(); throw null',
    late: "next(); throw new Error('Too late')",
  }
  const app = await open(
    t,
    {
      ...Object.fromEntries(
        Object.entries(cases).map(([name, code]) => [`middlewares/${name}.ts`, failing(code)]),
      ),
      'middlewares/sync.ts': failing('throw undefined').replace('async ', ''),
    },
    `middlewares: [sync, ${Object.keys(cases).join(', ')}]\n`,
  )
  await seed(app)
  const post = async (code: string) => {
    const headers = { 'x-fails': code }
    const { status } = await app.request('POST', '/api/articles', {
      body: { data: { title: code } },
      headers,
    })
    return [status, await app.app.documents('article').count({ filters: { title: code } })]
  }
  t.deepEqual(await post('throw undefined'), [500, 0], 'the request is not executed')
  t.deepEqual(await post(cases.nothing), [500, 0])
  t.deepEqual(await post(cases.rejects), [500, 0])
  t.deepEqual(await post(cases.both), [201, 1])
  t.deepEqual(await post(cases.late), [201, 1], 'the write was executed')
  const log = app.log().join('\n')
  t.regex(log, /the middleware sync threw undefined/)
  t.regex(log, /the middleware late failed after next\(\)","error":"Error: Too late/)
})

test('cookies and headers of Express middlewares reach every response', async t => {
  const app = await open(
    t,
    {
      'middlewares/visit.ts': `import { defineMiddleware } from 'plinth'
export default defineMiddleware({ express: () => (request, response, next) => {
  response.setHeader('Set-Cookie', ['visit=1; Path=/', 'tab=2'])
  response.setHeader('X-Frame-Options', 'SAMEORIGIN')
  response.setHeader('Vary', 'X-Site')
  response.setHeader('Cache-Control', 'no-store')
  next()
} })\n`,
      'extensions/routes.ts': extension(`
        rest.route('GET', '/fails', () => { throw new Error('inside') }, { auth: false })`),
    },
    'middlewares: [visit]\n',
  )
  await seed(app)
  for (const [method, path] of [
    ['GET', '/api/articles'],
    ['GET', '/api/articles/none'],
    ['GET', '/api/people'],
    ['POST', '/api/articles'],
    ['GET', '/api/fails'],
    ['OPTIONS', '/api/articles'],
    ['GET', '/uploads/none.png'],
    ['GET', '/nothing'],
  ] as const) {
    const { headers } = await app.request(method, path)
    t.deepEqual(headers['set-cookie'], ['visit=1; Path=/', 'tab=2'], path)
    t.is(headers['x-frame-options'], 'SAMEORIGIN', path)
    t.regex(String(headers.vary), /X-Site/, path)
    t.regex(String(headers.vary), /Origin/, path)
  }
  t.is((await app.request('GET', '/api/articles')).headers['cache-control'], 'no-store')
})

test('document middlewares receive the caller, and the document before a change', async t => {
  const app = await open(t, {
    'extensions/watch.ts': extension(`
      documents.use(async (context, next) => {
        if (context.action !== 'update' && context.action !== 'delete') return next()
        const before = await context.previous({ populate: { author: { fields: ['name'] } } })
        const who = context.caller ? (context.caller.role?.type ?? context.caller.token.name) : 'code'
        const result = await next()
        app.log.info({ who, before: before?.title ?? null, author: before?.author?.name, msg: 'own' }, 'changed')
        return result
      })`),
  })
  await seed(app)
  const [first] = await app.app.documents('article').findMany({ sort: 'title' })
  const path = `/api/articles/${first?.documentId}`
  await app.request('PUT', path, { body: { data: { title: 'A2' } } })
  await app.request('PUT', path, {
    body: { data: { title: 'A3' } },
    token: 'site-site-site-site-site-site-site-site',
  })
  await app.app.documents('article').update({ documentId: String(first?.documentId), data: { title: 'A4' } })
  await app.request('DELETE', path)
  await app.request('DELETE', path)
  const lines = app
    .log()
    .map(line => JSON.parse(line))
    .filter(({ msg }) => msg === 'changed')
  t.deepEqual(
    lines.map(({ who, before, author, msg_ }) => [who, before, author, msg_]),
    [
      ['public', 'A', 'Jane', 'own'],
      ['site', 'A2', 'Jane', 'own'],
      ['code', 'A3', 'Jane', 'own'],
      ['public', 'A4', 'Jane', 'own'],
      ['public', null, undefined, 'own'],
    ],
  )
})

test('what a document middleware writes around next() in a transaction is written with the action, or not at all', async t => {
  const app = await open(t, {
    'extensions/both.ts': extension(
      `documents.use(async (context, next) => {
        if (context.uid !== 'api::article.article' || context.action !== 'create') return next()
        return app.transaction(async () => {
          const made = await next()
          await app.documents('person').create({ data: { name: String(context.params.data?.title) } })
          if (context.params.data?.rank === 0) throw new ValidationError('No rank')
          return made
        })
      })`,
      ', ValidationError',
    ),
  })
  const { request, graphql, app: code } = app
  const refused = await request('POST', '/api/articles', { body: { data: { title: 'A', rank: 0 } } })
  t.is(refused.status, 400)
  const { errors } = await graphql(
    'mutation { createArticle(data: { title: "A", rank: 0 }) { data { id } } }',
  )
  t.is(errors?.[0]?.message, 'No rank')
  await t.throwsAsync(code.documents('article').create({ data: { title: 'A', rank: 0 } }))
  t.is((await code.documents('article').count()) + (await code.documents('person').count()), 0)
  t.is((await request('POST', '/api/articles', { body: { data: { title: 'B' } } })).status, 201)
  t.is((await code.documents('article').count()) + (await code.documents('person').count()), 2)
})

test('previous() is refused after next(), with a reason', async t => {
  const app = await open(t, {
    'extensions/watch.ts': extension(`
      documents.use(async (context, next) => {
        const result = await next()
        if (context.action === 'update') await context.previous()
        return result
      })`),
  })
  await seed(app)
  const [first] = await app.app.documents('article').findMany({})
  const update = app.app
    .documents('article')
    .update({ documentId: String(first?.documentId), data: { title: 'x' } })
  await t.throwsAsync(update, { message: /previous\(\) must be called before next\(\)/ })
})

test('updateMany and deleteMany change all documents that match, or none', async t => {
  const app = await open(t, {
    'extensions/watch.ts': extension(`
      documents.use((context, next) => { app.log.info(context.action); return next() })`),
  })
  await seed(app)
  const articles = app.app.documents('article')
  t.deepEqual(await articles.updateMany({ filters: { rank: { $gt: 1 } }, data: { title: 'Same' } }), {
    count: 2,
  })
  t.is(await articles.count({ filters: { title: 'Same' } }), 2)
  await t.throwsAsync(articles.updateMany({ filters: {}, data: { title: null } }))
  await t.throwsAsync(articles.updateMany({ filters: {}, data: { titel: 'x' } }), {
    message: /did you mean `title`/,
  })
  t.is(await articles.count({ filters: { title: 'Same' } }), 2)
  await t.throwsAsync(articles.deleteMany({} as never), {
    message: /filters of deleteMany must be an object/,
  })
  t.deepEqual(await articles.deleteMany({ filters: { title: 'Same' } }), { count: 2 })
  t.deepEqual(await articles.deleteMany({ filters: { title: 'Same' } }), { count: 0 })
  t.is(await articles.count(), 1)
  t.true(app.log().some(line => line.includes('deleteMany')))
  const users = app.app.documents('plugin::users-permissions.user')
  await t.throwsAsync(users.updateMany({ filters: {}, data: { password: 'x' } }), { message: /use update/ })
})

test('in development an error in project code reports its position', async t => {
  const throwing = (hook: string) =>
    `import { defineExtension } from 'plinth'\nexport default defineExtension({\n  ${hook} {\n    throw new Error('inside')\n  },\n})\n`
  for (const hook of ['register()', 'bootstrap()'])
    await t.throwsAsync(open(t, { 'extensions/fails.ts': throwing(hook) }), {
      message: /extensions\/fails could not (register|start): inside \(at extensions\/fails\.ts:4\)/,
    })
  const app = await open(t, {
    'extensions/fails.ts': extension(
      `\n\n      rest.route('GET', '/fails', () => { throw new TypeError('inside') }, { auth: false })`,
    ),
  })
  t.like(await app.request('GET', '/api/fails'), {
    status: 500,
    body: { error: { message: 'Internal Server Error: inside (at extensions/fails.ts:4)' } },
  })
})
