import test, { type ExecutionContext } from 'ava'
import type { TestApp } from '../../core/testing.ts'
import { temporaryFolder } from '../harness/folder.ts'
import { openTestApp } from '../harness/test-app.ts'

// Plugins that do at run time what they should not: each is answered, the log says what is wrong and where, and the server
// goes on. Files that cannot be loaded or registered are in faulty-files.test.ts.

const PROJECT = `name: Notes
contentTypes:
  note: { attributes: { text: string, rank: integer } }
roles:
  public: { permissions: { note: [find, findOne, create, update] } }
`

/** Requests of handlers that never answer; other tests wait longer, since the cores may be busy. */
const IMPATIENT = '10s'

async function open(
  t: ExecutionContext,
  files: Readonly<Record<string, string>>,
  { more = '', requestTimeout = '60s' }: { readonly more?: string; readonly requestTimeout?: string } = {},
): Promise<TestApp> {
  const folder = temporaryFolder()
  t.teardown(folder.remove)
  folder.write(
    'project.yaml',
    `${PROJECT}server: { logLevel: debug, requestTimeout: ${requestTimeout} }\n${more}`,
  )
  for (const [file, text] of Object.entries(files)) folder.write(file, text)
  return openTestApp(t, { project: folder.path, listen: true })
}

const extension = (body: string) =>
  `import { defineExtension } from 'plinth'\nexport default defineExtension({\n  register({ rest, documents, graphql, app }: any) {\n${body}\n  },\n})\n`

const AT = String.raw`\(at extensions/all\.ts:\d+\)`

/** Handler, status, and what the answer or a line of the log says. */
const HANDLERS: Readonly<Record<string, readonly [string, number, RegExp]>> = {
  huge: [
    "() => Array.from({ length: 30_000 }, (_, at) => ({ at, text: 'x'.repeat(50) }))",
    200,
    /"at":29999/,
  ],
  deep: [
    '() => { let a = {}; for (let i = 0; i < 100_000; i++) a = { a }; return a }',
    500,
    /got what is no JSON: Maximum call stack/,
  ],
  text: ["() => { throw 'a text' }", 500, /"error":"a text"/],
  clears: [
    "({ app }) => app.model.contentTypes.get('api::note.note').attributes.clear()",
    500,
    RegExp(`This map is frozen ${AT}`),
  ],
  deletes: [
    "({ app }) => app.model.contentTypes.delete('api::note.note')",
    500,
    RegExp(`This map is frozen ${AT}`),
  ],
  model: ["({ app }) => { app.model.name = 'x' }", 500, RegExp(`object is not extensible ${AT}`)],
  app: ['({ app }) => { app.log = null }', 500, RegExp(`Cannot assign to read only property 'log' .*${AT}`)],
  rules: ['({ state }) => { state.ability.rules.push(1) }', 500, RegExp(`object is not extensible ${AT}`)],
  prototype: ['() => JSON.parse(\'{"__proto__":{"polluted":1}}\')', 200, /"polluted":1/],
  type: ["({ app }) => app.documents('nte').findMany()", 400, /no content-type nte: did you mean `note`/],
  method: [
    "({ app }) => app.documents('note').findAll()",
    500,
    RegExp(`.app.documents\\(…\\). has no .findAll.: did you mean .findMany.\\? ${AT}`),
  ],
  name: ['({ aps }) => aps.log', 500, RegExp(`.context. has no .aps.: did you mean .app.\\? ${AT}`)],
  key: [
    "({ app }) => app.documents('note').findMany({ filter: {} })",
    400,
    /Unknown parameter filter of findMany: did you mean `filters`/,
  ],
  data: ["({ app }) => app.documents('note').create({ data: { txt: 'a' } })", 400, /Invalid key txt/],
  create: [
    "({ app }) => app.documents('note').create({ text: 'a' })",
    400,
    /Unknown parameter text of create: it takes data/,
  ],
  as: [
    "({ app }) => app.documents('note').as({}).findMany()",
    500,
    RegExp(`takes the .state.ability. of a context ${AT}`),
  ],
  subject: [
    "({ state }) => state.ability.can('find', { text: 'a' })",
    500,
    RegExp(`unknown subject .Object.: .* ${AT}`),
  ],
  models: ['({ app }) => app.models.nte.findAll()', 500, RegExp(`reading 'findAll'\\) ${AT}`)],
  sql: ["({ app }) => app.sequelize.query('SELEC 1')", 500, /DatabaseError: syntax error at or near .*SELEC/],
  template: [
    "({ app }) => app.mail.send({ to: 'a@b.test', template: 'nothing' })",
    500,
    RegExp(`mails/nothing.md ${AT}`),
  ],
  mail: ['({ app }) => app.mail.send({})', 400, /`to` must be a mail address, not empty/],
  work: ['({ app }) => app.transaction()', 500, RegExp(`app.transaction\\(…\\) takes a function ${AT}`)],
  media: [
    '({ app }) => app.media.signedUrl({})',
    500,
    RegExp(`takes a file with its .url., or the url, found none ${AT}`),
  ],
  twice: ["({ http }) => { http.response.send('first'); http.response.send('second') }", 200, /second/],
  getter: [
    "({ app }) => { app.log.info({ get a() { throw new Error('in a getter') } }, 'said'); return 1 }",
    200,
    /"unreadable":"Error: in a getter"/,
  ],
  logged: [
    "({ app }) => { app.log.error({ it: Object.defineProperty(new Error(), 'message', { get() { throw 1 } }) }, 'said'); return 1 }",
    200,
    /"it":"an object that cannot be read, which is no error/,
  ],
  cause: [
    "() => { const { proxy, revoke } = Proxy.revocable({}, {}); revoke(); throw new Error('outer', { cause: proxy }) }",
    500,
    /outer.*caused by an object that cannot be read, which is no error/,
  ],
  revoked: [
    '() => { const { proxy, revoke } = Proxy.revocable({}, {}); revoke(); throw proxy }',
    500,
    /a proxy that has been revoked/,
  ],
  number: ["() => { throw Object.assign(new Error('text'), { message: 42 }) }", 500, /"error":"42"/],
  cycle: [
    "({ app }) => { const a = { n: 1n, f() {} }; a.a = a; app.log.info(a, Symbol('said')); return 1 }",
    200,
    /Symbol\(said\)/,
  ],
  undone: [
    "({ app }) => app.transaction(async () => { await app.documents('note').create({ data: { text: 'undone' } }); throw new Error('no') })",
    500,
    RegExp(`Internal Server Error: no ${AT}`),
  ],
  swallowed: [
    "({ app }) => app.transaction(() => app.transaction(async () => { await app.documents('note').create({ data: { text: 'undone' } }); throw new Error('no') }).catch(() => 'inner'))",
    200,
    /inner/,
  ],
  both: [
    "({ app }) => Promise.all([1, 2, 3].map(n => app.transaction(() => app.documents('note').create({ data: { text: 'done' } })))).then(all => all.length)",
    200,
    /3/,
  ],
  parallel: [
    "({ app }) => app.transaction(() => Promise.all([1, 2, 3].map(n => app.documents('note').create({ data: { text: 'done' } })))).then(all => all.length)",
    200,
    /3/,
  ],
  never: ['() => new Promise(() => {})', 503, /timed out/],
}

const FIELDS: Readonly<Record<string, readonly [string, string, RegExp]>> = {
  number: ['Int', "() => 'many'", /the resolver of number: Int cannot represent non-integer value/],
  list: ['[Int!]', '() => 5', /the resolver of list: Expected Iterable/],
  document: ['NoteEntityResponse', '() => ({ data: 7 })', /expected a document, as app.documents answers it/],
  nothing: ['String', '() => { throw null }', /Unexpected error value: null/],
  rejects: ['String', "() => Promise.reject('a text')", /Unexpected error value: .*a text/],
  bytes: ['String', '() => new Uint8Array(3)', /the resolver of bytes: String cannot represent value/],
  cycle: [
    'String',
    '() => { const a = {}; a.a = a; return a }',
    /the resolver of cycle: String cannot represent value/,
  ],
}

const routesOf = (handlers: typeof HANDLERS) =>
  Object.entries(handlers)
    .map(([name, [code]]) => `    rest.route('GET', '/h/${name}', ${code}, { auth: false })`)
    .join('\n')

const selectionOf = (name: string) =>
  FIELDS[name]?.[0] === 'NoteEntityResponse' ? `${name} { data { id } }` : name

const fieldsOf = () => `    graphql.use({
      typeDefs: 'extend type Query { ${Object.entries(FIELDS)
        .map(([name, [type]]) => `${name}: ${type}`)
        .join(', ')} }',
      resolvers: { Query: { ${Object.entries(FIELDS)
        .map(([name, [, code]]) => `${name}: ${code}`)
        .join(', ')} } },
      resolversConfig: { ${Object.keys(FIELDS)
        .map(name => `'Query.${name}': { auth: false }`)
        .join(', ')} },
    })`

/** The answer and the lines of the log, until one of them matches. */
async function seen(app: TestApp, wanted: RegExp, ask: () => Promise<string>): Promise<string> {
  const before = app.log().length
  const answer = await ask()
  const all = () => [answer, ...app.log().slice(before)].join('\n').replaceAll('\\"', '"')
  for (let count = 0; count < 500 && !wanted.test(all()); count++)
    await new Promise(resolve => setTimeout(resolve, 10))
  return all()
}

test('a handler that does what it should not is answered, and the server goes on', async t => {
  const app = await open(
    t,
    { 'extensions/all.ts': extension(routesOf(HANDLERS)) },
    { requestTimeout: IMPATIENT },
  )
  for (const [name, [, status, wanted]] of Object.entries(HANDLERS)) {
    const found = await seen(app, wanted, async () => {
      const answer = await fetch(`${app.url}/api/h/${name}`)
      return `${answer.status} ${await answer.text()}`
    })
    t.true(found.startsWith(String(status)), `${name}: ${found.slice(0, 500)}`)
    t.regex(found.slice(0, 4_000_000), wanted, name)
  }
  const { body } = await app.request('GET', '/api/notes?fields=text')
  const { data } = body as { data: { text: string }[] | null }
  const texts = (data ?? []).map(({ text }) => text)
  t.deepEqual(texts, Array(6).fill('done'), 'what a failed or unfinished transaction wrote is not there')
  t.is((await app.request('POST', '/api/notes', { body: { data: { text: 'a' } } })).status, 201)
})

test('a transaction that is left open is answered 503, and its writes are not seen', async t => {
  const app = await open(
    t,
    {
      'extensions/all.ts': extension(`
    let started
    rest.route('GET', '/open', () => app.transaction(async () => {
      started = await app.documents('note').create({ data: { text: 'undone' } })
      await new Promise(() => {})
    }), { auth: false })
    rest.route('GET', '/started', () => ({ text: started.text }), { auth: false })`),
    },
    { requestTimeout: IMPATIENT },
  )
  t.is((await fetch(`${app.url}/api/open`)).status, 503)
  t.deepEqual(await (await fetch(`${app.url}/api/started`)).json(), { text: 'undone' })
  t.is((await fetch(`${app.url}/api/none`)).status, 404)
})

test('a resolver that returns what does not fit is an error of its field, and logged', async t => {
  const app = await open(t, { 'extensions/all.ts': extension(fieldsOf()) })
  for (const [name, [, , wanted]] of Object.entries(FIELDS)) {
    const found = await seen(app, wanted, async () => {
      const { data, errors } = await app.graphql(`{ notes { data { id } } ${selectionOf(name)} }`)
      t.deepEqual(data, { notes: { data: [] }, [name]: null }, name)
      t.is(errors?.length, 1, name)
      return ''
    })
    t.regex(found, wanted, name)
    t.regex(found, /"event":"failed"/, name)
  }
})

test('a middleware of a field that answers nothing is an error of its field, and logged', async t => {
  const guard = (code: string) =>
    extension(`graphql.use({ resolversConfig: { 'Query.notes': { middlewares: [${code}] } } })`)
  const ask = async (code: string, wanted: RegExp) => {
    const app = await open(t, { 'extensions/all.ts': guard(code) })
    return seen(app, wanted, async () => JSON.stringify(await app.graphql('{ notes { data { id } } }')))
  }
  const lost =
    /a middleware of Query\.notes called next\(\) and answered nothing: it must return a value, or null/
  t.regex(await ask('async next => { await next() }', lost), lost)
  t.regex(await ask('async next => { await next(); return null }', /./), /^{"data":{"notes":null}}/)
})

test('an argument that a generated field does not have is an error, wherever code passes it', async t => {
  for (const [use, field] of [
    [
      `resolvers: { Query: { notes: (p, args, c, i, generated) => generated({ ...args, filtre: 1 }) } }`,
      'notes',
    ],
    [
      `resolversConfig: { 'Query.notes': { middlewares: [(next, p, args) => next(p, { ...args, filtre: 1 })] } }`,
      'notes',
    ],
  ]) {
    const app = await open(t, { 'extensions/all.ts': extension(`graphql.use({ ${use} })`) })
    const wanted = RegExp(`Query.${field} has no argument .filtre.: did you mean .filters.`)
    const found = await seen(app, wanted, async () =>
      JSON.stringify(await app.graphql('{ notes { data { id } } }')),
    )
    t.true(found.includes('"data":{"notes":null}'), found)
    t.regex(found, wanted)
  }
})

for (const [what, code, status, wanted] of [
  [
    'returns nothing',
    '() => {}',
    500,
    /A document middleware answered nothing: it must return next\(\) \(extensions\/\w+/,
  ],
  [
    'calls next() twice',
    'async (context, next) => { await next(); return next() }',
    500,
    /next\(\) of a document middleware was called twice/,
  ],
  ['throws a text', "() => { throw 'a text' }", 500, /"error":"a text"/],
  [
    'throws an object',
    "() => { throw { secret: 'x' } }",
    500,
    /"error":"an object with the keys secret, which is no error: throw new Error\(…\)"/,
  ],
  [
    'asks for an attribute that does not exist',
    "(context, next) => { context.params.filters = { txt: 'a' }; return next() }",
    400,
    /Invalid key txt/,
  ],
  [
    'replaces the parameters by a text',
    "(context, next) => { context.params = 'a'; return next() }",
    500,
    /context\.params of a document middleware must be an object/,
  ],
  [
    'reads what its context does not have',
    'context => context.model',
    500,
    /`context` has no `model`: one of `uid`, `contentType`, `action`, `params`, `caller`, `previous` \(at extensions\/all\.ts/,
  ],
  [
    'assigns the result, as Strapi has it',
    'async (context, next) => { context.result = []; return next() }',
    500,
    /Cannot add property result, object is not extensible \(at extensions\/all\.ts/,
  ],
  [
    'answers a body instead of documents',
    'async (context, next) => ({ data: await next() })',
    500,
    /A document middleware must answer findMany with a list of documents or null, found an object \(extensions\/all\)/,
  ],
  [
    'answers a promise in a list',
    'async (context, next) => { await next(); return [{ text: Promise.resolve(1) }] }',
    500,
    /A document middleware of findMany got, under `text`, a promise: await it/,
  ],
  ['never ends', '() => new Promise(() => {})', 503, /timed out/],
] as const)
  test(`a document middleware that ${what} fails its action alone`, async t => {
    const guarded = `documents.use((context, next) => context.action === 'findMany' ? (${code})(context, next) : next())`
    const app = await open(t, { 'extensions/all.ts': extension(guarded) }, { requestTimeout: IMPATIENT })
    const found = await seen(app, wanted, async () => {
      const answer = await fetch(`${app.url}/api/notes`)
      return `${answer.status} ${await answer.text()}`
    })
    t.true(found.startsWith(String(status)), found)
    t.regex(found, wanted)
    t.is((await app.request('POST', '/api/notes', { body: { data: { text: 'a' } } })).status, 201)
  })

test('a listener that always fails, and a destroy that fails, are logged and hold nothing up', async t => {
  const app = await open(t, {
    'extensions/all.ts': `import { defineExtension } from 'plinth'
export default defineExtension({
  register({ documents }) {
    documents.on('note.create', () => { throw null })
    documents.on('note.*', async () => { throw new Error('always') })
  },
  destroy() { throw new Error('not ended') },
})\n`,
  })
  const found = await seen(app, /always/, async () => {
    const answer = await app.request('POST', '/api/notes', { body: { data: { text: 'a' } } })
    return String(answer.status)
  })
  t.regex(found, /^201/)
  t.is((await app.request('GET', '/api/notes')).status, 200)
  await app.close()
  t.regex(app.log().join('\n'), /extensions\/all could not end.*not ended/)
})

test('a query string that a policy sets may begin with a question mark, and must be a text', async t => {
  const setsTo = (value: string) => `import { definePolicy } from 'plinth'
export default definePolicy(({ http: { request } }: any) => { request.search = ${value} })
`
  const app = await open(
    t,
    {
      'policies/narrows.ts': setsTo("'?filters[rank]=7&sort=rank'"),
      'policies/misspells.ts': setsTo("'?filters[rnk]=7'"),
      'policies/clears.ts': setsTo('null'),
    },
    {
      more: `routesConfig:
  note.find: { policies: [narrows] }
  note.findOne: { policies: [clears] }
  note.create: { policies: [misspells] }
`,
    },
  )
  const notes = app.app.documents('note')
  const [seen] = await Promise.all([7, 8].map(rank => notes.create({ data: { rank } })))
  const list = await app.request('GET', '/api/notes?fields=rank')
  t.regex(JSON.stringify(list.body), /"data":\[\{[^{}]*"rank":7[^{}]*\}\]/)
  const refused = await app.request('POST', '/api/notes', { body: { data: { rank: 9 } } })
  t.is(refused.status, 400)
  t.regex(JSON.stringify(refused.body), /Invalid key rnk/)
  t.is((await app.request('GET', `/api/notes/${seen?.documentId}`)).status, 403)
  t.regex(app.log().join('\n'), /http\.request\.search must be a query string/)
})

test('a policy that writes, changes its context or reads a body twice decides all the same', async t => {
  const policy = (code: string) =>
    `import { definePolicy } from 'plinth'\nexport default definePolicy(${code})\n`
  const app = await open(
    t,
    {
      'policies/writes.ts': policy(
        "async ({ app, state }) => { await app.documents('note').create({ data: { text: 'by the policy' } }); Object.assign(state, { user: { id: 1 }, extra: 1 }) }",
      ),
      'policies/frozen.ts': policy(
        "context => { Object.defineProperty(context, 'kind', { value: 'graphql' }) }",
      ),
      'policies/body.ts': policy(
        'async ({ http: { request } }) => { await request.json(); await request.body(); await request.json() }',
      ),
    },
    {
      more: `routesConfig:
  note.find: { policies: [writes] }
  note.create: { policies: [body] }`,
    },
  )
  t.is((await app.request('GET', '/api/notes')).status, 200)
  t.is((await app.request('POST', '/api/notes', { body: { data: { text: 'a' } } })).status, 201)
  const headers = { 'content-type': 'application/json' }
  const latin = Buffer.from('{"data":{"text":"é"}}', 'latin1')
  t.is((await app.request('POST', '/api/notes', { body: latin, headers })).status, 403)
  t.is(
    (await app.request('POST', '/api/notes', { body: '{', headers: { 'content-type': 'application/json' } }))
      .status,
    403,
  )
  t.is(await app.app.documents('note').count(), 2)
})

for (const [what, code, wanted] of [
  ['a mount of no router', "rest.mount('/shop', {})", /rest\.mount|router|function/],
  ['a mount of a list', "rest.mount('/shop', [])", /rest\.mount|router|function/],
  ['SDL with an error', "graphql.use({ typeDefs: 'extend type Query { a: ' })", /Syntax Error/],
  [
    'a resolver of an unknown field',
    'graphql.use({ resolvers: { Query: { nothing: () => 1 } } })',
    /nothing/,
  ],
  ['a type that is unknown', "graphql.use({ typeDefs: 'extend type Query { a: Nothing }' })", /Nothing/],
  ['documents in register', "app.documents('note')", /app\.documents can be used from bootstrap on/],
  ['media in register', 'app.media', /app\.media can be used from bootstrap on/],
  ['a document middleware that is none', 'documents.use({})', /documents\.use\(…\) takes a function/],
  [
    'a listener that is none',
    "documents.on('note.create')",
    /documents\.on\('note\.create', …\) takes a function/,
  ],
  ['a route without a handler', "rest.route('GET', '/x')", /GET \/x/],
  [
    'two routes for one path',
    "rest.route('GET', '/x/:a', () => 1); rest.route('GET', '/x/:b', () => 1)",
    /GET \/x\/:b/,
  ],
  ['a rejection that is no error', 'return Promise.reject(5)', /5, which is no error/],
] as const)
  test(`${what} prevents the start, with a reason`, async t => {
    const error = await t.throwsAsync(open(t, { 'extensions/all.ts': extension(code) }))
    t.regex(error?.message ?? '', wanted)
    t.regex(error?.message ?? '', /extensions\/all/)
  })

test('two files of one name are an error that names both', async t => {
  const policy = "import { definePolicy } from 'plinth'\nexport default definePolicy(() => true)\n"
  const error = await t.throwsAsync(open(t, { 'policies/same.ts': policy, 'policies/same.js': policy }))
  t.regex(error?.message ?? '', /policies\/same\.(?:ts|js)[\s\S]*policies\/same\.(?:ts|js)/)
})
