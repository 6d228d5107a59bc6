import { existsSync } from 'node:fs'
import { Agent, request as ask, createServer, type IncomingHttpHeaders } from 'node:http'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import test, { type ExecutionContext } from 'ava'
import pg from 'pg'
import { layEmbedded } from '../harness/embedded-files.ts'
import { type Folder, temporaryFolder } from '../harness/folder.ts'
import { freePort } from '../harness/free-port.ts'
import { type Server, startServer } from '../harness/server.ts'
import { freshDatabase } from '../harness/test-database.ts'
import { until } from '../harness/until.ts'
import { openGate } from './gate.ts'
import { runToEnd } from './run-to-end.ts'

// From the first moment of a start until the project is served: the port is bound first, and every request is answered.

const PROJECT = `name: Notes
server: { host: "\${HOST:-127.0.0.1}", port: "\${PORT:-1391}" }
database: { url: "\${DATABASE_URL:-embedded}" }
contentTypes:
  note: { attributes: { text: string } }
roles: { public: { permissions: { note: [find, create] } } }
`

/** An extension whose bootstrap waits for the file `go`, and which writes down that it was ended. */
const WAITS = `import { existsSync, writeFileSync } from 'node:fs'
import { defineExtension } from 'plinth'
const at = name => new URL('../' + name, import.meta.url)
export default defineExtension({
  async bootstrap() {
    while (!existsSync(at('go'))) await new Promise(done => setTimeout(done, 20))
  },
  destroy() { writeFileSync(at('destroyed'), '') },
})
`

function notes(t: ExecutionContext, files: Readonly<Record<string, string>> = {}): Folder {
  const folder = temporaryFolder()
  t.teardown(folder.remove)
  for (const [name, content] of Object.entries({ 'project.yaml': PROJECT, ...files }))
    folder.write(name, content)
  return folder
}

/** A server whose start has bound the port, and has not ended. */
async function starting(
  t: ExecutionContext,
  folder: Folder,
  environment: Readonly<Record<string, string>> = {},
): Promise<Server> {
  const server = await startServer({ project: folder.path, environment, awaits: '/_health' })
  t.teardown(() => server.stop())
  return server
}

interface Sent {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: unknown
  /** The port at this end: the same for each request of one connection. */
  readonly localPort: number
}

interface Request {
  readonly method?: string
  readonly body?: string
  readonly headers?: Readonly<Record<string, string>>
}

/** Sends requests over one connection, which is kept. */
function oneConnection(t: ExecutionContext, base: string) {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  t.teardown(() => agent.destroy())
  return (path: string, { method = 'GET', body, headers = {} }: Request = {}): Promise<Sent> =>
    new Promise((resolve, reject) => {
      const type = body === undefined ? {} : { 'content-type': 'application/json' }
      const request = ask(base + path, { agent, method, headers: { ...type, ...headers } })
      request.on('error', reject)
      request.on('response', async answer => {
        const localPort = answer.socket.localPort ?? 0
        const read = await text(answer)
        const { statusCode: status = 0, headers } = answer
        resolve({ status, headers, localPort, body: read === '' ? null : JSON.parse(read) })
      })
      request.end(body)
    })
}

test.serial('a port in use ends a start before a database is opened', async t => {
  const folder = notes(t)
  const port = await freePort()
  const other = createServer().listen(port, '127.0.0.1')
  t.teardown(() => other.close())
  const environment = { DATABASE_URL: 'embedded', PORT: String(port) }
  const { code, output } = await runToEnd(folder.path, environment)
  t.is(code, 1)
  t.is(output, `Port ${port} of 127.0.0.1 is in use: set server.port (PORT) to a free one\n`)
  t.false(existsSync(join(folder.path, '.plinth', 'database')))
})

test.serial('requests during a start are answered, and their connections are served afterwards', async t => {
  const folder = notes(t, { 'extensions/waits.mjs': WAITS })
  const server = await starting(t, folder)
  const send = oneConnection(t, server.base)
  await until('extensions start', async () =>
    JSON.stringify((await send('/_ready')).body).includes('extension'),
  )
  const health = await send('/_health')
  t.deepEqual([health.status, health.body], [204, null])
  const ready = await send('/_ready')
  t.deepEqual(
    [ready.status, ready.body],
    [503, { status: 'starting', reason: 'The extensions of the project are starting' }],
  )

  const message = 'The server is starting: try again in a moment'
  const error = (details: object) => ({ status: 503, name: 'ServiceUnavailableError', message, details })
  const read = await send('/api/notes?sort=text', { headers: { origin: 'http://elsewhere' } })
  t.deepEqual([read.status, read.body], [503, { data: null, error: error({}) }])
  t.is(read.headers['retry-after'], '1')
  t.is(read.headers['access-control-allow-origin'], 'http://elsewhere')
  const notWritten = { outcome: 'not-written' }
  const write = await send('/api/notes', { method: 'POST', body: '{"data":{"text":"early"}}' })
  t.deepEqual([write.status, write.body], [503, { data: null, error: error(notWritten) }])
  t.is(write.headers['retry-after'], '1')
  const graphql = await send('/graphql', { method: 'POST', body: '{"query":"{ notes { documentId } }"}' })
  t.is(graphql.status, 503)
  t.is(graphql.headers['retry-after'], '1')
  t.deepEqual(graphql.body, {
    errors: [
      {
        message,
        extensions: {
          error: { name: 'ServiceUnavailableError', message, details: notWritten },
          code: 'INTERNAL_SERVER_ERROR',
        },
      },
    ],
  })
  for (const path of ['/nowhere', '/uploads/none.png', '/api/upload/files'])
    t.is((await send(path)).status, 503, path)
  t.is(
    (
      await send('/api/notes', {
        method: 'OPTIONS',
        headers: { origin: 'http://a', 'access-control-request-method': 'POST' },
      })
    ).status,
    204,
  )

  folder.write('go', '')
  await until('it is ready', async () => (await send('/_ready')).status === 200)
  const served = await send('/api/notes')
  t.deepEqual([served.status, (served.body as { data: unknown }).data], [200, []])
  t.is(served.localPort, health.localPort, 'it is the same connection')
})

test.serial('no request is lost at the moment when the project begins to be served', async t => {
  const folder = notes(t, { 'extensions/waits.mjs': WAITS })
  const server = await starting(t, folder)
  const statuses = new Set<number>()
  let isOver = false
  const client = async () => {
    const send = oneConnection(t, server.base)
    while (!isOver)
      statuses.add((await send('/api/notes', { method: 'POST', body: '{"data":{"text":"x"}}' })).status)
  }
  const clients = Array.from({ length: 8 }, client)
  await until('requests are refused', () => statuses.has(503))
  folder.write('go', '')
  await until('requests are served', () => statuses.has(201))
  isOver = true
  await Promise.all(clients)
  t.deepEqual([...statuses].toSorted(), [201, 503])
})

test.serial('SIGTERM while an extension starts ends the start and closes what it opened', async t => {
  const folder = notes(t, { 'extensions/waits.mjs': WAITS })
  await layEmbedded(folder.path)
  const server = await starting(t, folder, { DATABASE_URL: 'embedded' })
  const send = oneConnection(t, server.base)
  await until('extensions start', async () =>
    JSON.stringify((await send('/_ready')).body).includes('extension'),
  )
  t.is(await server.stop(), 0, server.log())
  t.true(existsSync(join(folder.path, 'destroyed')))
  folder.write('go', '')
  const next = await startServer({ project: folder.path, environment: { DATABASE_URL: 'embedded' } })
  t.is(await next.stop(), 0)
  t.notRegex(next.log(), /Took over/)
})

/** A migration that has changed something, and then waits for something else than the database. */
const STUCK = `import { writeFileSync } from 'node:fs'
import { defineMigration } from 'plinth'
export default defineMigration(
  async ({ sql }) => {
    await sql\`CREATE TABLE half (n integer)\`
    writeFileSync(new URL('../stuck', import.meta.url), '')
    await new Promise(() => setInterval(() => {}, 1000))
  },
  { newDatabases: true },
)
`

test.serial('SIGTERM during a blocked migration ends the start and rolls back', async t => {
  const folder = notes(t, { 'migrations/2026-11-22-stuck.after.mjs': STUCK })
  const database = await freshDatabase()
  t.teardown(database.drop)
  if (database.url === 'embedded') await layEmbedded(folder.path)
  const environment = { DATABASE_URL: database.url }
  const server = await starting(t, folder, environment)
  await until('it waits', () => existsSync(join(folder.path, 'stuck')))
  t.is(await server.stop(), 0, server.log())
  folder.write('migrations/2026-11-22-stuck.after.mjs', STUCK.replace(/ {4}await new Promise.*/, ''))
  const next = await startServer({ project: folder.path, environment })
  t.is((await next.get('/api/notes')).status, 200, 'the table is made as if for the first time')
  t.is(await next.stop(), 0)
  t.notRegex(next.log(), /Took over/)
})

test.serial('a failed start releases its port and logs the reason', async t => {
  const fails = WAITS.replace('  },\n  destroy', "    throw new Error('no mail server')\n  },\n  destroy")
  const folder = notes(t, { 'extensions/waits.mjs': fails })
  const server = await starting(t, folder)
  const send = oneConnection(t, server.base)
  t.is((await send('/api/notes')).status, 503)
  folder.write('go', '')
  await until('it has ended', () => !isRunning(server.pid))
  t.is(await server.stop(), 1)
  t.regex(server.log(), /extensions\/waits could not start: no mail server/)
})

const url = process.env.TEST_DATABASE_URL

if (url) {
  test.serial('a port in use ends a start before anything is changed in the database', async t => {
    const folder = notes(t)
    const database = await freshDatabase()
    t.teardown(database.drop)
    const port = await freePort()
    const other = createServer().listen(port, '127.0.0.1')
    t.teardown(() => other.close())
    for (const WORKERS of ['1', '2']) {
      const environment = { DATABASE_URL: database.url, PORT: String(port), WORKERS }
      const { code, output } = await runToEnd(folder.path, environment)
      t.is(code, 1)
      t.regex(output, new RegExp(`^Port ${port} of 127\\.0\\.0\\.1 is in use`, 'm'))
      t.deepEqual(
        await query(
          database.url,
          "SELECT count(*)::int AS n FROM pg_class WHERE relnamespace = 'public'::regnamespace",
        ),
        [{ n: 0 }],
      )
    }
  })

  const SLOW = {
    'migrations/2026-11-22-slow.after.sql': '-- plinth: new databases too\nSELECT pg_sleep(120)\n',
  }
  const SLEEPS =
    "SELECT count(*)::int AS n FROM pg_stat_activity WHERE datname = current_database() AND query LIKE '%pg_sleep%' AND pid <> pg_backend_pid() AND state = 'active'"
  const OTHERS =
    "SELECT count(*)::int AS n FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'"

  for (const WORKERS of ['1', '2'])
    test.serial(
      `SIGTERM during a migration rolls it back and leaves no session behind (WORKERS=${WORKERS})`,
      async t => {
        const folder = notes(t, SLOW)
        const database = await freshDatabase()
        t.teardown(database.drop)
        const environment = { DATABASE_URL: database.url, WORKERS }
        const server = await starting(t, folder, environment)
        await until('the migration runs', async () => count(await query(database.url, SLEEPS)) === 1)
        const ready = await server.get('/_ready')
        t.deepEqual(
          [ready.status, ready.body],
          [503, { status: 'starting', reason: 'The database is being migrated' }],
        )
        t.is((await server.get('/_health')).status, 204)
        t.is((await server.get('/api/notes')).status, 503)
        t.is(await server.stop(), 0, server.log())
        t.notRegex(server.log(), /stopped answering|SIGKILL/)
        await until('no session is left', async () => count(await query(database.url, OTHERS)) === 0)
        t.deepEqual(await query(database.url, "SELECT to_regclass('notes') AS notes"), [{ notes: null }])
        folder.write('migrations/2026-11-22-slow.after.sql', '-- plinth: new databases too\nSELECT 1\n')
        const next = await startServer({ project: folder.path, environment })
        t.is((await next.get('/api/notes')).status, 200)
        t.is(await next.stop(), 0)
      },
    )

  test.serial('SIGTERM while the start waits for the database ends it at once', async t => {
    const folder = notes(t)
    const database = await freshDatabase()
    t.teardown(database.drop)
    const gate = await openGate(t, database.url)
    gate.shut()
    const server = await starting(t, folder, { DATABASE_URL: gate.url })
    const waiting = { status: 'starting', reason: 'The server waits for the database' }
    await until('it waits', () => gate.refused() > 1)
    const ready = await server.get('/_ready')
    t.deepEqual([ready.status, ready.body], [503, waiting])
    t.is(await server.stop(), 0, server.log())
    t.notRegex(server.log(), /"level":"error"/)
  })
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

const count = (rows: readonly unknown[]): number => (rows[0] as { n: number }).n

async function query(connectionString: string, statement: string): Promise<readonly unknown[]> {
  const client = new pg.Client({ connectionString })
  await client.connect()
  try {
    return (await client.query(statement)).rows
  } finally {
    await client.end()
  }
}
