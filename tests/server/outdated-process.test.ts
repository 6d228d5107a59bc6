import { execFile } from 'node:child_process'
import { resolve } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import pg from 'pg'
import { temporaryFolder } from '../harness/folder.ts'
import { PLINTH } from '../harness/program.ts'
import { startServer } from '../harness/server.ts'
import { freshDatabase } from '../harness/test-database.ts'
import { until } from '../harness/until.ts'

// Processes of two versions of a project over one database, where the newer one changes what the older one relies on.

const root = resolve(import.meta.dirname, '..', '..')

const project = (note: string) => `name: Versions
server: { host: 127.0.0.1, port: "\${PORT:-1394}", rateLimit: { api: false, auth: false } }
database: { url: "\${DATABASE_URL:-embedded}" }
auth: { jwtSecret: 0123456789-of-a-secret-for-a-test }
contentTypes:
  note: { ${note} }
  tag: { attributes: { name: string } }
roles: { public: { permissions: { note: "*", tag: "*", upload: "*", users: "*", i18n: [find] } } }
`
const FIRST = project('attributes: { text: string }')
const DRAFTS = project('draftAndPublish: true, attributes: { text: string }')
const GROWN = project('attributes: { text: string, size: integer }')
const REQUIRED = project(
  'attributes: { text: string, size: integer, stars: { type: integer, required: true, backfill: 1 } }',
)

async function place(t: ExecutionContext) {
  const database = await freshDatabase()
  t.teardown(database.drop)
  const environment = { NODE_ENV: 'production', DATABASE_URL: database.url }
  const folderOf = (yaml: string) => {
    const folder = temporaryFolder()
    t.teardown(folder.remove)
    folder.write('project.yaml', yaml)
    return folder.path
  }
  const client = new pg.Client({ connectionString: database.url })
  await client.connect()
  t.teardown(() => client.end())
  return {
    sql: async (text: string) => (await client.query({ text, rowMode: 'array' })).rows as unknown[][],
    async serve(yaml: string) {
      const server = await startServer({ project: folderOf(yaml), environment })
      t.teardown(() => server.stop())
      return {
        ...server,
        ask: async (method: string, path: string, body?: object) => {
          const answer = await fetch(server.base + path, {
            method,
            headers: { 'Content-Type': 'application/json' },
            ...(body && { body: JSON.stringify(body) }),
            signal: AbortSignal.timeout(120_000),
          })
          return { status: answer.status, text: await answer.text() }
        },
      }
    },
    run: (yaml: string, ...words: readonly string[]) =>
      new Promise<{ code: number; text: string }>(done => {
        const args = [...PLINTH, ...words, folderOf(yaml)]
        const env = { ...process.env, ...environment, HOST: '127.0.0.1', PORT: '0' }
        const ended = (error: { code?: unknown } | null, out: string, errors: string) =>
          done({ code: error ? Number(error.code ?? 1) : 0, text: out + errors })
        execFile(process.execPath, args, { cwd: root, env, timeout: 180_000 }, ended)
      }),
  }
}

const REQUESTS = [
  ['GET', '/api/notes'],
  ['GET', '/api/tags'],
  ['GET', '/api/notes/none'],
  ['POST', '/api/notes', { data: { text: 'late' } }],
  ['PUT', '/api/notes/none', { data: { text: 'late' } }],
  ['DELETE', '/api/notes/none'],
  ['POST', '/graphql', { query: '{ notes { data { id } } }' }],
  ['POST', '/graphql', { query: 'mutation { createNote(data: { text: "late" }) { data { id } } }' }],
  ['POST', '/graphql', { query: '{ __typename }' }],
  ['GET', '/api/users'],
  ['POST', '/api/auth/local', { identifier: 'a', password: 'b' }],
  ['GET', '/api/upload/files'],
  ['GET', '/api/i18n/locales'],
  ['GET', '/uploads/none.png'],
  ['GET', '/_ready'],
] as const

for (const [index, [method, path, body]] of REQUESTS.entries())
  if (index % 5 === 0)
    test.serial(`an outdated process answers 503 to everything after ${method} ${path}`, async t => {
      const { serve, run, sql } = await place(t)
      const older = await serve(FIRST)
      t.is((await older.ask('POST', '/api/notes', { data: { text: 'one' } })).status, 201)
      t.is((await older.ask('GET', '/api/notes')).status, 200)
      const migrated = await run(DRAFTS, 'migrate')
      t.is(migrated.code, 0, migrated.text)
      t.regex(migrated.text, new RegExp(`answer 503 from now on: pid ${older.pid} on `))
      t.is((await older.ask(method, path, body)).status, 503, path)
      for (const [each, at, sent] of REQUESTS) {
        const { status, text } = await older.ask(each, at, sent)
        t.is(status, 503, `${each} ${at}: ${text}`)
        if (at !== '/_ready') t.regex(text, /has to be restarted/)
        else t.deepEqual(JSON.parse(text), { status: 'outdated' })
      }
      t.is((await older.ask('GET', '/_health')).status, 204)
      t.deepEqual(await sql('SELECT text, status FROM notes ORDER BY status'), [
        ['one', 'draft'],
        ['one', 'published'],
      ])
      t.is(older.log().split('"outdated"').length, 2, older.log())
    })

test.serial('requests that run no statement are refused too after another process has migrated', async t => {
  const { serve, run } = await place(t)
  const older = await serve(FIRST)
  t.is((await older.ask('GET', '/uploads/none.png')).status, 404)
  t.is((await run(DRAFTS, 'migrate')).code, 0)
  await until(
    'it has heard of the migration',
    async () => (await older.ask('GET', '/uploads/none.png')).status === 503,
  )
})

test.serial(
  'a start with an incompatible schema is refused while processes of another version run, unless it may replace them',
  async t => {
    const { serve, run, sql } = await place(t)
    const older = await serve(FIRST)
    const refused = await run(DRAFTS, 'start')
    t.is(refused.code, 1)
    t.regex(refused.text, new RegExp(`pid ${older.pid} on .*--expand.*--replace-others`, 's'))
    t.is((await older.ask('GET', '/api/notes')).status, 200)
    const grown = await serve(GROWN)
    t.is((await older.ask('GET', '/api/notes')).status, 200)
    const required = await serve(REQUIRED)
    for (const each of [older, grown, required])
      t.is(
        (
          await each.ask('POST', '/api/notes', {
            data: { text: 'x', ...(each === required && { stars: 2 }) },
          })
        ).status,
        201,
      )
    await until('all are seen', async () => (await sql('SELECT FROM plinth_processes')).length === 3)
    const rest = await run(REQUIRED, 'migrate')
    t.is(rest.code, 0, rest.text)
    t.deepEqual(
      [(await older.ask('GET', '/api/tags')).status, (await required.ask('GET', '/api/tags')).status],
      [503, 200],
    )
  },
)

test.serial('a process that was killed or has ended blocks no start', async t => {
  const { serve, sql } = await place(t)
  const ended = await serve(FIRST)
  const killed = await serve(FIRST)
  await until('both are seen', async () => (await sql('SELECT FROM plinth_processes')).length === 2)
  await ended.stop()
  t.is((await sql('SELECT FROM plinth_processes')).length, 1)
  process.kill(killed.pid, 'SIGKILL')
  const locks = `SELECT FROM pg_locks WHERE locktype = 'advisory'
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`
  await until('its session has ended', async () => (await sql(locks)).length === 0)
  const newer = await serve(DRAFTS)
  t.is((await newer.ask('POST', '/api/notes', { data: { text: 'two' } })).status, 201)
})
