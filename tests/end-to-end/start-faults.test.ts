import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { connect } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'
import test, { type ExecutionContext } from 'ava'
import { layEmbedded } from '../harness/embedded-files.ts'
import { type Folder, temporaryFolder } from '../harness/folder.ts'
import { freePort } from '../harness/free-port.ts'
import { type Server, startServer } from '../harness/server.ts'
import { freshDatabase } from '../harness/test-database.ts'
import { until } from '../harness/until.ts'
import { openGate } from './gate.ts'
import { runToEnd } from './run-to-end.ts'

// Faults that prevent a start, or separate a server from its database: one clear message, exit code 1,
// and nothing lost. Safety rules S17, S21 to S23.

const PROJECT = `name: Notes
server: { host: "\${HOST:-127.0.0.1}", port: "\${PORT:-1391}" }
database: { url: "\${DATABASE_URL:-embedded}", startTimeout: 0, pool: { acquire: 2s } }
contentTypes:
  note: { attributes: { text: string } }
roles: { public: { permissions: { note: [find, create] } } }
`

/** A server that ends with its test, whatever comes of that. */
async function serving(t: ExecutionContext, options: Parameters<typeof startServer>[0]): Promise<Server> {
  const server = await startServer(options)
  t.teardown(() => server.stop())
  return server
}
const NOTES = '- { documentId: first, text: One }\n- { documentId: second, text: Two }\n'

function notes(t: ExecutionContext): Folder {
  const folder = temporaryFolder()
  t.teardown(folder.remove)
  folder.write('project.yaml', PROJECT)
  folder.write('content/notes.yaml', NOTES)
  return folder
}

async function refused(
  t: ExecutionContext,
  folder: Folder,
  environment: Readonly<Record<string, string>> = {},
) {
  const { code, output } = await runToEnd(folder.path, environment)
  t.is(code, 1, output)
  t.notRegex(output, /\n\s+at .*:\d+/, 'no stack is shown')
  return output
}

const textsOf = async (server: Server): Promise<unknown> => {
  const { body } = await server.get('/api/notes?sort=text')
  return (body as { data: readonly { text: string }[] }).data.map(note => note.text)
}

async function serves(t: ExecutionContext, folder: Folder, environment: Readonly<Record<string, string>>) {
  const server = await serving(t, { project: folder.path, environment })
  t.deepEqual(await textsOf(server), ['One', 'Two'])
  t.is(await server.stop(), 0)
}

test.serial('an invalid project file is reported with its position, and nothing starts', async t => {
  const folder = notes(t)
  const files: readonly (readonly [string | Uint8Array, RegExp])[] = [
    ['', /^\S+\/project\.yaml:1:1 the file is empty/],
    [Uint8Array.of(0x89, 0xff, 0, 1), /^\S+\/project\.yaml:1:1 the file is not UTF-8/],
    ['name: [', /^\S+\/project\.yaml:\d+:\d+ the YAML cannot be read/],
    ['- a list', /^\S+\/project\.yaml:1:1 expected a mapping, found a list/],
  ]
  for (const [content, message] of files) {
    folder.write('project.yaml', content)
    t.regex(await refused(t, folder), message)
  }
  const empty = temporaryFolder()
  t.teardown(empty.remove)
  t.regex(await refused(t, empty), /^\S+\/project\.yaml:1:1 the file cannot be read: there is no such file/)
  mkdirSync(join(empty.path, 'project.yaml'))
  t.regex(await refused(t, empty), /^\S+\/project\.yaml:1:1 the file cannot be read: it is a folder/)
  t.false(existsSync(join(folder.path, '.plinth')))
})

test.serial('unreadable content is reported with its position, and nothing starts', async t => {
  const folder = notes(t)
  folder.write('content/notes.yaml', Uint8Array.of(0x89, 0xff, 0, 1))
  t.regex(await refused(t, folder), /^\S+\/content\/notes\.yaml:1:1 the file is not UTF-8/)
  t.false(existsSync(join(folder.path, '.plinth')))
})

test.serial('a folder that cannot be written is named, by a start and by a command', async t => {
  const folder = notes(t)
  folder.write('.plinth', 'A file where a folder is expected.\n')
  t.regex(await refused(t, folder), /A file or folder cannot be used: E\w+: .*\.plinth/)
  const types = await runToEnd(folder.path, {}, 'types')
  t.deepEqual(
    [types.code, /^A file or folder cannot be used: E\w+: .*\.plinth/m.test(types.output)],
    [1, true],
    types.output,
  )
  t.notRegex(types.output, /\n\s+at .*:\d+/)
})

test.serial('a missing database is named in one line, without its password', async t => {
  const port = await freePort()
  const output = await refused(t, notes(t), {
    DATABASE_URL: `postgres://guide:hunter2@127.0.0.1:${port}/guide`,
  })
  t.regex(output, new RegExp(`^PostgreSQL at 127\\.0\\.0\\.1:${port} cannot be reached.*\\n$`))
  t.notRegex(output, /hunter2/)
})

test.serial('a start fails if the port is in use, and the next one succeeds', async t => {
  const folder = notes(t)
  const database = await freshDatabase()
  t.teardown(database.drop)
  if (database.url === 'embedded') await layEmbedded(folder.path)
  const port = await freePort()
  const other = createServer().listen(port, '127.0.0.1')
  const output = await refused(t, folder, { DATABASE_URL: database.url, PORT: String(port) })
  t.regex(output, new RegExp(`Port ${port} of 127\\.0\\.0\\.1 is in use`))
  other.close()
  await serves(t, folder, { DATABASE_URL: database.url })
})

test.serial(
  'an embedded database serves one process; a second is refused, and damaged files are not changed',
  async t => {
    const folder = notes(t)
    const embedded = { DATABASE_URL: 'embedded' }
    const server = await serving(t, { project: folder.path, environment: embedded })
    t.regex(await refused(t, folder, embedded), new RegExp(`is in use by process ${server.pid} `))
    t.deepEqual(await textsOf(server), ['One', 'Two'])
    t.is(await server.stop(), 0)

    const control = join(folder.path, '.plinth/database/global/pg_control')
    const whole = readFileSync(control)
    truncateSync(control, 0)
    t.regex(await refused(t, folder, embedded), /cannot be opened.*Nothing was deleted\. Put back a copy/)
    writeFileSync(control, whole)
    await serves(t, folder, embedded)
  },
)

test.serial('a request in flight at SIGTERM is answered before the process ends', async t => {
  const folder = notes(t)
  const server = await serving(t, { project: folder.path })
  const socket = connect(Number(new URL(server.base).port), '127.0.0.1')
  const head =
    'POST /api/notes HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n'
  socket.write(`${head}[`)
  await once(socket, 'connect')
  await pause(300)
  const ended = server.stop()
  for (let tries = 0; tries < 100 && (await isListening(server)); tries++) await pause(100)
  t.false(await isListening(server), 'no new connection is accepted')
  socket.write(']')
  t.regex(await text(socket), /^HTTP\/1\.1 [45]\d\d [\s\S]*Connection: close/)
  t.is(await ended, 0)
})

const isListening = (server: Server): Promise<boolean> =>
  server.get('/_health').then(
    () => true,
    () => false,
  )

const url = process.env.TEST_DATABASE_URL

if (url) {
  test.serial('requests get 503 while the database is unreachable, and succeed after it is back', async t => {
    const folder = notes(t)
    const database = await freshDatabase()
    t.teardown(database.drop)
    const gate = await openGate(t, database.url)
    const server = await serving(t, { project: folder.path, environment: { DATABASE_URL: gate.url } })
    const statuses = async () => {
      const answers = await Promise.all(['/_health', '/_ready', '/api/notes'].map(path => server.get(path)))
      return answers.map(({ status }) => status)
    }
    t.deepEqual(await statuses(), [204, 200, 200])
    for (let time = 0; time < 2; time++) {
      gate.shut()
      t.deepEqual(await statuses(), [204, 503, 503])
      gate.open()
      t.deepEqual(await statuses(), [204, 200, 200], server.log())
    }
    t.deepEqual(await textsOf(server), ['One', 'Two'])
    gate.shut()
    t.is(await server.stop(), 0, 'it ends without its database, too')
    t.notRegex(server.log(), /failed unexpectedly/)
  })

  test.serial('a start waits for a database that is not ready yet, and logs it', async t => {
    const folder = notes(t)
    folder.write('project.yaml', PROJECT.replace('startTimeout: 0', 'startTimeout: 40s'))
    const database = await freshDatabase()
    t.teardown(database.drop)
    const gate = await openGate(t, database.url)
    gate.shut()
    const opening = until('it was tried', () => gate.refused() > 1).then(gate.open)
    const server = await serving(t, { project: folder.path, environment: { DATABASE_URL: gate.url } })
    await opening
    t.deepEqual(await textsOf(server), ['One', 'Two'])
    t.regex(server.log(), /PostgreSQL at .* cannot be reached.* Waiting for the database, at most \d+ s/)
  })

  test.serial('a start waits for the database only up to a limit, and not for permanent errors', async t => {
    const folder = notes(t)
    folder.write('project.yaml', PROJECT.replace('startTimeout: 0', 'startTimeout: 2s'))
    const gone = `postgres://guide@127.0.0.1:${await freePort()}/guide`
    t.regex(await refused(t, folder, { DATABASE_URL: gone }), /cannot be reached/)
    folder.write('project.yaml', PROJECT.replace('startTimeout: 0', 'startTimeout: 10m'))
    const missing = new URL(url)
    missing.pathname = '/plinth_not_there'
    t.regex(await refused(t, folder, { DATABASE_URL: missing.href }), /has no database plinth_not_there/)
  })

  test.serial('a database outage during a start ends it; the next start finishes the work', async t => {
    const folder = notes(t)
    const database = await freshDatabase()
    t.teardown(database.drop)
    for (const answers of [1, 3, 8, 15, 25]) {
      const gate = await openGate(t, database.url, answers)
      const output = await refused(t, folder, { DATABASE_URL: gate.url })
      t.regex(
        output,
        /^(PostgreSQL at .* cannot be reached|The database stopped answering|The database cannot be brought)/m,
      )
    }
    await serves(t, folder, { DATABASE_URL: database.url })
  })
}
