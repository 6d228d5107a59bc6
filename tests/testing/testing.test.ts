import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import test, { type ExecutionContext } from 'ava'
import { createTestApp, type TestApp, type TestAppOptions } from '../../core/testing.ts'
import { snapshot } from '../harness/embedded-files.ts'
import { temporaryFolder } from '../harness/folder.ts'
import { builtFile } from '../harness/program.ts'
import { openTestApp } from '../harness/test-app.ts'

const root = resolve(import.meta.dirname, '../..')

const NOTES = {
  contentTypes: { note: { draftAndPublish: true, attributes: { text: 'string', owner: 'string' } } },
  roles: { public: { permissions: { note: ['find', 'findOne', 'create'] } } },
  apiTokens: { all: { type: 'full-access', secret: 'a-secret-of-forty-letters-that-is-not-guessed' } },
}

async function open(t: ExecutionContext, options: Partial<TestAppOptions> = {}): Promise<TestApp> {
  return openTestApp(t, { project: NOTES, ...options })
}

test('the whole server responds without a port: routes, tokens, headers, errors, health', async t => {
  const { app, request } = await open(t)
  const { documentId } = await app.documents('note').create({ data: { text: 'hello' }, status: 'published' })
  const found = await request('GET', `/api/notes/${documentId}?fields=text`)
  t.like(found, { status: 200, body: { data: { documentId, text: 'hello' } } })
  t.truthy(found.headers['x-request-id'])
  const tag = String(found.headers.etag)
  const again = await request('GET', `/api/notes/${documentId}?fields=text`, {
    headers: { 'if-none-match': tag },
  })
  t.like(again, { status: 304, body: null })
  t.is((await request('DELETE', `/api/notes/${documentId}`)).status, 403)
  const token = NOTES.apiTokens.all.secret
  t.is((await request('DELETE', `/api/notes/${documentId}`, { token })).status, 204)
  t.like(await request('GET', '/api/nothing'), { status: 404, body: { error: { name: 'NotFoundError' } } })
  t.is((await request('GET', '/_ready')).status, 200)
})

/** SQL of a test that the schema of the next one must not have. */
const CHANGES = [
  'SELECT 1',
  'ANALYZE notes',
  'ALTER TABLE notes ADD CONSTRAINT short CHECK (length(text) > 5)',
  `DO $$ BEGIN EXECUTE (SELECT format('DROP TRIGGER %I ON notes', tgname) FROM pg_trigger
    WHERE tgrelid = 'notes'::regclass AND NOT tgisinternal ORDER BY tgname LIMIT 1); END $$`,
  `DO $$ BEGIN EXECUTE (SELECT format('DROP INDEX %s', indexrelid::regclass) FROM pg_index
    WHERE indrelid = 'notes'::regclass AND NOT indisprimary ORDER BY indexrelid LIMIT 1); END $$`,
  'CREATE TABLE extra (id integer)',
  'CREATE FUNCTION extra() RETURNS integer LANGUAGE sql RETURN 1',
  'CREATE SCHEMA extra',
  "CREATE TYPE extra AS ENUM ('a')",
]

test('an app sees nothing of the previous one, whose tables it may use again', async t => {
  let objects: unknown
  for (const change of CHANGES) {
    const api = await open(t)
    const run = async (sql: string) => (await api.app.sequelize.query(sql))[0]
    const now = await run(OBJECTS)
    objects ??= now
    t.deepEqual(now, objects, change)
    await api.app.documents('note').create({ data: { text: 'a long text' }, status: 'published' })
    const list = await api.request('GET', '/api/notes?fields=text')
    t.like(list.body, { data: [{ text: 'a long text' }], meta: { pagination: { total: 1 } } })
    t.deepEqual(await run('SELECT id FROM notes ORDER BY id'), [{ id: 1 }, { id: 2 }])
    await run(change)
    await api.close()
  }
})

const linksTo = (target: string) => ({ type: 'relation', relation: 'manyToMany', target })

const SEARCHED = {
  note: { search: { attributes: { text: 'A' } }, attributes: { text: 'string', owner: 'string' } },
} as const

const QUOTE = { 'shared.quote': { attributes: { words: 'string' } } }
const QUOTES = { type: 'component', component: 'shared.quote', repeatable: true }

/** Projects that have more or fewer tables, columns, links, locales and searches than their predecessor. */
const PROJECTS: readonly Readonly<Record<string, unknown>>[] = [
  NOTES,
  { contentTypes: { note: { draftAndPublish: true, attributes: { text: 'string', owner: 'integer' } } } },
  {
    i18n: { locales: ['en', 'de'] },
    contentTypes: {
      ...NOTES.contentTypes,
      tag: {
        localized: true,
        attributes: { name: { type: 'string', unique: true }, notes: linksTo('note') },
      },
    },
  },
  {
    contentTypes: { tag: { attributes: { name: 'string', notes: linksTo('user') } } },
    user: { attributes: { nick: { type: 'string', unique: true } } },
  },
  { contentTypes: SEARCHED },
  { contentTypes: { ...SEARCHED, tag: { attributes: { name: 'string' } } } },
  { components: QUOTE, contentTypes: { note: { attributes: { text: 'string', quote: QUOTES } } } },
  {
    components: QUOTE,
    contentTypes: {
      note: {
        search: { attributes: { text: 'A', 'quote.words': 'B' }, typos: true },
        attributes: { text: 'string', quote: QUOTES },
      },
    },
  },
]

test.serial('an app of another project has the tables that it would have in a new database', async t => {
  const run = async ({ app }: TestApp, sql: string) => (await app.sequelize.query(sql))[0]
  const open = async (project: (typeof PROJECTS)[number]) =>
    createTestApp({ project, snapshot: await snapshot() })
  const inNewDatabase = new Map<object, unknown>()
  for (const project of PROJECTS) {
    const api = await open(project)
    inNewDatabase.set(project, await run(api, ALL_OBJECTS))
    // Nothing of this database is used again.
    await run(api, 'CREATE SCHEMA extra')
    await api.close()
  }
  const kept = new Set<number>()
  for (const project of [...PROJECTS, ...PROJECTS.toReversed(), ...PROJECTS]) {
    const api = await open(project)
    t.deepEqual(await run(api, ALL_OBJECTS), inNewDatabase.get(project))
    t.deepEqual(await run(api, 'SELECT count(*)::int FROM plinth_migrations'), [{ count: 1 }])
    const [outbox] = (await run(api, "SELECT 'plinth_outbox'::regclass::oid")) as readonly { oid: number }[]
    kept.add(outbox?.oid ?? 0)
    const [type = ''] = Object.keys(Object(project.contentTypes))
    await api.app.documents(type).create({ data: { [type === 'note' ? 'text' : 'name']: 'Ärger' } })
    t.deepEqual(await api.app.documents(type).count({}), 1)
    await api.close()
  }
  // All tables are created after an app whose search needs an extension, and by an engine that replaced one with many plans.
  t.true(kept.size <= PROJECTS.length / 2, `${kept.size} databases`)
})

const OBJECTS = `SELECT relkind AS kind, relname AS name, reltuples > 0 AS analysed FROM pg_class
    WHERE relnamespace = 'public'::regnamespace AND relname NOT LIKE 'plinth%'
  UNION ALL SELECT 'trigger', tgname, tgenabled = 'O' FROM pg_trigger WHERE NOT tgisinternal
  UNION ALL SELECT 'constraint', conname, convalidated FROM pg_constraint WHERE connamespace = 'public'::regnamespace
  UNION ALL SELECT 'function', proname, true FROM pg_proc WHERE pronamespace = 'public'::regnamespace
  UNION ALL SELECT 'schema', nspname, true FROM pg_namespace
  UNION ALL SELECT 'type', typname, true FROM pg_type WHERE typnamespace = 'public'::regnamespace AND typtype = 'e'
  ORDER BY 1, 2, 3`

const ALL_OBJECTS = `WITH objects AS (${OBJECTS.replace("AND relname NOT LIKE 'plinth%'", '')})
  SELECT * FROM objects UNION ALL SELECT 'column', concat_ws(' ', attrelid::regclass, attname, atttypid::regtype, atthasdef), attnotnull
    FROM pg_attribute JOIN pg_class AS c ON c.oid = attrelid
    WHERE relnamespace = 'public'::regnamespace AND relkind = 'r' AND attnum > 0 AND NOT attisdropped
  ORDER BY 1, 2, 3`

test('a request with oversized headers is answered as by a server', async t => {
  const { request } = await open(t)
  const { status, body } = await request('GET', `/api/notes?filters[text]=${'x'.repeat(20_000)}`)
  t.like(
    { status, body },
    { status: 431, body: { error: { status: 431, name: 'RequestHeaderFieldsTooLargeError' } } },
  )
})

test('listen opens a free port of 127.0.0.1 until close', async t => {
  t.is((await open(t)).url, null)
  const app = await open(t, { listen: true })
  const answer = await fetch(`${app.url}/api/notes`)
  t.is(answer.status, 200)
  t.deepEqual(await answer.json(), (await app.request('GET', '/api/notes')).body)
  await app.close()
  await t.throwsAsync(fetch(`${app.url}/api/notes`))
})

test('a closed app rejects requests and uses of its documents', async t => {
  const app = await open(t)
  const late = app.request('GET', '/api/notes')
  const closing = app.close()
  t.is((await late).status, 200)
  for (const when of [Promise.resolve(), closing]) {
    await when
    const message = 'GET /api/notes: the app of this test is closed'
    await t.throwsAsync(app.request('GET', '/api/notes'), { message })
    await t.throwsAsync(app.graphql('{ notes { documentId } }'), { message: /closed$/ })
  }
  await t.throwsAsync(app.app.documents('api::note.note').count({}))
})

test('a FormData body is uploaded as a form', async t => {
  const { request } = await open(t)
  const form = new FormData()
  form.append('files', new Blob(['hello'], { type: 'text/plain' }), 'hello.txt')
  const { status, body } = await request('POST', '/api/upload', {
    body: form,
    token: NOTES.apiTokens.all.secret,
  })
  t.is(status, 201)
  t.like(body, [{ name: 'hello.txt' }])
})

test('policies, middlewares and extensions of a folder run, for the caller of a request, and the log can be read', async t => {
  const folder = temporaryFolder()
  t.teardown(folder.remove)
  folder.write(
    'policies/has-key.ts',
    `import { definePolicy } from 'plinth'
     export default definePolicy(({ http }) => http.request.headers['x-key'] === 'open')`,
  )
  folder.write('middlewares/.gitkeep', '')
  folder.write(
    'extensions/stamp.ts',
    `import { defineExtension } from 'plinth'
     export default defineExtension({
       register({ rest, documents, app }) {
         const mine = state => app.documents('note').as(state.ability)
         rest.route('GET', '/mine', ({ state }) => mine(state).findMany({ status: 'published' }), { auth: { scope: ['api::note.note.find'] } })
         rest.route('DELETE', '/mine/:id', ({ state, args }) => mine(state).delete({ documentId: args.id }), { auth: { scope: ['api::note.note.find'] } })
         documents.use((context, next) => {
           if (context.action === 'create') context.params.data = { ...context.params.data, owner: 'stamped' }
           return next()
         })
         documents.on('note.publish', async event => {
           const note = await app.documents('note').findOne({ documentId: event.documentId })
           app.log.info('published ' + note.text)
         })
       },
     })`,
  )
  const project = { ...NOTES, routesConfig: { 'note.find': { policies: ['has-key'] } } }
  const { app, request, settled, log } = await open(t, { project, plugins: folder.path })
  t.is((await request('GET', '/api/notes')).status, 403)
  const made = await request('POST', '/api/notes?status=published', { body: { data: { text: 'hello' } } })
  t.like(made, { status: 201, body: { data: { text: 'hello', owner: 'stamped' } } })
  const found = await request('GET', '/api/notes', { headers: { 'x-key': 'open' } })
  t.like(found, { status: 200, body: { data: [{ owner: 'stamped' }] } })
  t.is(await app.documents('note').count(), 1)
  t.like(await request('GET', '/api/mine'), { status: 200, body: [{ owner: 'stamped' }] })
  const [note] = await app.documents('note').findMany()
  t.is((await request('DELETE', `/api/mine/${note?.documentId}`)).status, 403)
  t.is(await app.documents('note').count(), 1)
  await settled()
  t.true(log().some(line => line.includes('published hello')))
})

test('plugins of a project that is an object import modules and packages of their folder', async t => {
  const folder = temporaryFolder()
  t.teardown(folder.remove)
  folder.write('project.yaml', 'name: [')
  folder.write(
    'lib/allowed.ts',
    "import { allowed } from 'own-package'\nexport const isAllowed = () => allowed\n",
  )
  folder.write('node_modules/own-package/package.json', '{ "main": "index.js" }')
  folder.write('node_modules/own-package/index.js', 'exports.allowed = false\n')
  folder.write(
    'policies/closed.ts',
    `import { definePolicy } from 'plinth'
     import { isAllowed } from '../lib/allowed'
     export default definePolicy(() => isAllowed())`,
  )
  const project = { ...NOTES, routesConfig: { 'note.find': { policies: ['closed'] } } }
  const { request } = await open(t, { project, plugins: folder.path })
  t.like(await request('GET', '/api/notes'), { status: 403, body: { error: { name: 'PolicyError' } } })
})

test('an unknown option is refused with the nearest one', async t => {
  const options = { project: NOTES, plugin: 'api' } as TestAppOptions
  await t.throwsAsync(createTestApp(options), { message: /no key `plugin`: did you mean `plugins`\?/ })
})

test('an option of a wrong kind is refused by its name', async t => {
  const cases: readonly (readonly [unknown, string])[] = [
    [undefined, 'createTestApp(…) takes an object with project, plugins, database'],
    [
      {},
      '`project` of createTestApp(…) is the folder of a project.yaml, or its content as an object, found undefined',
    ],
    [
      { project: [] },
      '`project` of createTestApp(…) is the folder of a project.yaml, or its content as an object, found a list',
    ],
    [{ project: {}, plugins: '/nowhere' }, '`plugins` of createTestApp(…): there is no folder /nowhere'],
    [
      { project: 'site', plugins: 'site' },
      '`plugins` of createTestApp(…) is for a project that is an object: the folder site has its own',
    ],
  ]
  for (const [options, message] of cases) {
    const error = await t.throwsAsync(createTestApp(options as Parameters<typeof createTestApp>[0]))
    t.true(error?.message.startsWith(message), error?.message)
  }
})

test('a request that cannot be meant is refused, and says what to write', async t => {
  const { request, graphql } = await open(t)
  const misspelt = { data: { text: 'a' } } as object
  await t.throwsAsync(request('POST', '/api/notes', misspelt), { message: /`data`.*body, token, headers/ })
  await t.throwsAsync(graphql('{ notes { data { id } } }', {}, misspelt), { message: /`data`/ })
  await t.throwsAsync(request('GET', 'api/notes'), { message: /begins with a slash, found "api\/notes"/ })
  await t.throwsAsync(request('GET', '/api/notes?filters[text]=a b'), {
    message: /^No request can have " " in its path, .*encodeURIComponent.* makes it %20$/,
  })
  await t.throwsAsync(request('GET', '/api/notes?filters[text]=ü'), { message: /"ü" .*%C3%BC$/ })
  await t.throwsAsync(request('POST', '/api/notes', { body: () => ({}) }), {
    message: /cannot be a function/,
  })
  t.is((await request('GET', '/api/notes?filters[text][$in][0]="a"')).status, 200)
})

test('a form and a Blob are sent as they are', async t => {
  const { request } = await open(t)
  const form = new URLSearchParams({ 'data[text]': 'of a form' })
  t.like(await request('POST', '/api/notes', { body: form }), { body: { data: { text: 'of a form' } } })
  const json = new Blob(['{"data":{"text":"of a Blob"}}'], { type: 'application/json' })
  t.like(await request('POST', '/api/notes', { body: json }), { body: { data: { text: 'of a Blob' } } })
})

test('an invalid project is refused with its errors', async t => {
  const project = { contentTypes: { note: { attributes: { text: 'strng' } } } }
  await t.throwsAsync(createTestApp({ project }), { message: /strng/ })
})

test('the example of the documentation passes', async t => {
  const [, example = ''] = /```js\n(.*?)```/s.exec(readFileSync(join(root, 'docs/testing.md'), 'utf8')) ?? []
  const folder = temporaryFolder()
  t.teardown(folder.remove)
  const testing = pathToFileURL(builtFile('core/testing.ts')).href
  folder.write('example.test.mjs', example.replace("'plinth/testing'", `'${testing}'`))
  const child = spawn(
    process.execPath,
    ['--test', '--test-timeout=100000', join(folder.path, 'example.test.mjs')],
    { cwd: root, stdio: ['ignore', 'pipe', 'pipe'], timeout: 110_000 },
  )
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', part => {
      output += String(part)
    })
  const [code] = await once(child, 'close')
  t.is(code, 0, output)
  t.regex(output, /pass 1\b/)
})

test('a secret of an API token that no request can send is an error', async t => {
  const message = /the secret of `all` is empty, or has a space or a sign outside of ASCII/
  for (const all of ['any text', 'clé', ''])
    await t.throwsAsync(createTestApp({ project: NOTES, tokens: { all } }), { message })
})
