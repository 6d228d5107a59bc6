import test, { type ExecutionContext } from 'ava'
import { createTestApp } from '../../core/testing.ts'
import { snapshot } from '../harness/embedded-files.ts'
import { temporaryFolder } from '../harness/folder.ts'

// What code gives to plugins is checked like what project.yaml gives them.

const PROJECT = { contentTypes: { note: { attributes: { text: 'string' } } } }

const FILES = {
  'policies/has-role.js': `import { definePolicy } from 'plinth'
export default definePolicy({
  configSchema: { type: 'object', properties: { roles: { type: 'array' } }, required: ['roles'], additionalProperties: false },
  check: (context, { roles }) => roles.includes('public'),
})`,
  'middlewares/slow.js': `import { defineMiddleware } from 'plinth'
export default defineMiddleware({
  optionsSchema: { type: 'object', properties: { most: { type: 'integer' } } },
  route: () => (context, next) => next(),
  resolver: () => (next) => next(),
})`,
  'middlewares/all.js': `import { defineMiddleware } from 'plinth'
export default defineMiddleware({ express: () => (request, response, next) => next() })`,
}

/** The errors of a project with this extension; an empty text: it starts. */
async function refusalOf(t: ExecutionContext, body: string): Promise<string> {
  const folder = temporaryFolder()
  t.teardown(folder.remove)
  for (const [name, text] of Object.entries(FILES)) folder.write(name, text)
  folder.write(
    'extensions/own.js',
    `import { defineExtension } from 'plinth'\nexport default defineExtension({ register({ rest, graphql, documents }) { ${body} } })`,
  )
  try {
    const app = await createTestApp({ project: PROJECT, plugins: folder.path, snapshot: await snapshot() })
    await app.close()
    return ''
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

const CASES: Readonly<Record<string, string>> = {
  "rest.route('GET', '/x', () => 1, { policies: ['has-role'] })":
    'the policy `has-role` does not take this config: missing key `roles`',
  "rest.route('GET', '/x', () => 1, { policies: [{ name: 'has-role', config: { role: [] } }] })":
    'unknown key `role`: did you mean `roles`?',
  "rest.route('GET', '/x', () => 1, { middlewares: [{ name: 'slow', options: { most: 'ten' } }] })":
    'the middleware `slow` does not take these options: most: expected integer',
  "graphql.use({ resolversConfig: { 'Query.notes': { policies: ['has-role'] } } })":
    'the policy `has-role` does not take this config: missing key `roles`',
  "graphql.use({ resolversConfig: { 'Query.notes': { middlewares: [{ name: 'slow', options: { most: 'ten' } }] } } })":
    'the middleware `slow` does not take these options: most: expected integer',
  "rest.route('GET', '/x', () => 1, { middlewares: ['all'] })":
    'middlewares/all cannot wrap a route: it has no `route`, but `express`. Add `route` to defineMiddleware(…)',
  "graphql.use({ resolversConfig: { 'Query.notes': { middlewares: ['all'] } } })":
    'middlewares/all cannot wrap a resolver: it has no `resolver`, but `express`',
  'graphql.use({ resolvers: { Query: { notes: { reslve: () => 1 } } } })':
    'resolvers `Query.notes` has no key `reslve`: did you mean `resolve`?',
  'graphql.use({ resolvers: { Query: { notes: { resolve: undefined } } } })':
    'resolvers `Query.notes` is no function',
  'graphql.use({ resolvers: { Query: { notes: { policies: [], resolve: () => 1 } } } })':
    'resolvers.Query.notes has no key `policies`; it may have resolve,',
  "documents.on(['note.create'], () => {})":
    "documents.on(…) takes an event such as 'article.create', found a list",
  "rest.route('GET', '/api/x', () => 1)":
    '/api/x begins with `rest.prefix`, which is added to every path: write /x',
  "rest.mount('/API/shop', () => {})":
    '/API/shop begins with `rest.prefix`, which is added to every path: write /shop',
  "rest.route('get', '/x', () => 1)": 'no route can have the method get: did you mean `GET`?',
}

test('wrong values that an extension gives are errors at load, with the plugin and the key', async t => {
  for (const [body, message] of Object.entries(CASES)) {
    const refusal = await refusalOf(t, body)
    t.true(refusal.includes(message), `${body}\n${refusal}`)
    t.regex(refusal, /extensions\/own/)
  }
})

test('values that fit are accepted', async t => {
  t.is(
    await refusalOf(
      t,
      `rest.route('GET', '/x', () => 1, { policies: [{ name: 'has-role', config: { roles: ['public'] } }], middlewares: ['slow'] })
      graphql.use({ resolversConfig: { 'Query.notes': { middlewares: [{ name: 'slow', options: { most: 3 } }] } } })`,
    ),
    '',
  )
})

test('registering after `register` is an error', async t => {
  const folder = temporaryFolder()
  t.teardown(folder.remove)
  folder.write(
    'extensions/late.js',
    `import { defineExtension } from 'plinth'
let services
const calls = [
  () => services.rest.route('GET', '/late', () => 1),
  () => services.rest.mount('/shop', () => 1),
  () => services.documents.use((context, next) => next()),
  () => services.documents.on('note.create', () => {}),
  () => services.media.registerStorage('own', { open: () => ({}), private: false }),
  () => services.graphql.use({}),
]
const messageOf = call => { try { call(); return 'none' } catch (error) { return error.message } }
export default defineExtension({
  register(given) { services = given },
  bootstrap({ app }) { for (const call of calls) app.log.warn(messageOf(call)) },
})`,
  )
  const app = await createTestApp({ project: PROJECT, plugins: folder.path, snapshot: await snapshot() })
  t.teardown(app.close)
  const said = app
    .log()
    .map(line => String(JSON.parse(line).msg))
    .filter(text => text.includes('register'))
  t.deepEqual(said, [
    ...['route', 'mount', 'use', 'on', 'registerStorage'].map(
      name => `\`${name}\` can be called in \`register\` alone: now the server has what was registered`,
    ),
    'graphql can be extended in `register` alone: now the schema is made',
  ])
})
