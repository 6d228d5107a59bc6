import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { type Folder, temporaryFolder } from '../harness/folder.ts'
import { type Answer, type Server, startServer } from '../harness/server.ts'
import { until } from '../harness/until.ts'
import { begin, command } from './command.ts'
import { runToEnd } from './run-to-end.ts'

// Commands on an embedded database that a server has open: they work as they do without a server.

const project = (attributes: string) => `name: Notes
server: { host: "\${HOST:-127.0.0.1}", port: "\${PORT:-1391}" }
database: { url: "\${DATABASE_URL:-embedded}" }
auth: { jwtSecret: "\${JWT_SECRET:-}" }
contentTypes:
  note: { attributes: { ${attributes} } }
roles: { public: { permissions: { note: [find, create] } } }
`
const FIRST = project('text: string, size: integer')
const WIDER = project('text: string, size: integer, color: string')
const NARROWER = project('text: string')

function folderOf(t: ExecutionContext, yaml = FIRST): Folder {
  const folder = temporaryFolder()
  t.teardown(folder.remove)
  folder.write('project.yaml', yaml)
  return folder
}

async function serving(t: ExecutionContext, folder: Folder, environment = {}): Promise<Server> {
  const server = await startServer({
    project: folder.path,
    environment: { DATABASE_URL: 'embedded', ...environment },
  })
  t.teardown(() => server.stop())
  return server
}

const PRODUCTION = { NODE_ENV: 'production', JWT_SECRET: 'a-secret-of-more-than-32-characters-0123456789' }

/** The files that a process with the open database creates next to it. */
const leftIn = (folder: Folder): readonly string[] =>
  readdirSync(join(folder.path, '.plinth')).filter(name => /socket|lock/.test(name))

async function create(server: Server, data: object): Promise<Answer> {
  const answer = await fetch(`${server.base}/api/notes`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ data }),
    signal: AbortSignal.timeout(120_000),
  })
  return { status: answer.status, headers: answer.headers, body: await answer.json() }
}

test.serial('plan and migrate work while the server runs, which answers 503 after the commit', async t => {
  const folder = folderOf(t)
  const server = await serving(t, folder, PRODUCTION)
  t.is((await create(server, { text: 'one', size: 1 })).status, 201)

  const nothing = await command('plan', folder.path)
  t.is(nothing.code, 0, nothing.complaint)

  folder.write('project.yaml', NARROWER)
  const refused = await command('migrate', folder.path)
  t.is(refused.code, 1)
  t.regex(refused.complaint, /plinth migrate --allow-destructive/)
  t.is((await server.get('/api/notes')).status, 200)

  const planned = await command('plan', folder.path, '--json')
  t.is(planned.code, 2, planned.complaint)
  const done = await command('migrate', folder.path, '--allow-destructive')
  t.is(done.code, 0, done.complaint)
  t.regex(done.complaint, new RegExp(`503 from now on: pid ${server.pid} `))
  t.is((await server.get('/api/notes')).status, 503)
  t.is((await create(server, { text: 'two' })).status, 503)
  await until(
    'the server says that it is not ready',
    async () => (await server.get('/_ready')).status === 503,
  )
  t.regex((await command('migrate', folder.path, '--status')).out, /size/)
  t.is((await command('plan', folder.path)).code, 0)
})

test.serial('an additive migration leaves the running server unaffected', async t => {
  const folder = folderOf(t)
  const server = await serving(t, folder, PRODUCTION)
  folder.write('project.yaml', WIDER)
  t.is((await command('plan', folder.path)).code, 2)
  const done = await command('migrate', folder.path, '--expand')
  t.is(done.code, 0, done.complaint)
  t.regex(done.out, /color/)
  t.is((await create(server, { text: 'one', size: 1 })).status, 201)
  t.is((await server.get('/_ready')).status, 200)
})

test.serial('a development server applies a refused change after a command migrated', async t => {
  const folder = folderOf(t)
  const server = await serving(t, folder)
  t.is((await create(server, { text: 'one', size: 1 })).status, 201)
  folder.write('project.yaml', NARROWER)
  await until('the reload is refused', async () => /allow-destructive/.test(server.log()))
  const done = await command('migrate', folder.path, '--allow-destructive')
  t.is(done.code, 0, done.complaint)
  await until('the server has reloaded', async () => /Reloaded/.test(server.log()))
  const { status, body } = await server.get('/api/notes')
  t.is(status, 200)
  const [note] = (body as { data: readonly object[] }).data
  t.like(note, { text: 'one' })
  t.false('size' in (note ?? {}))
})

test.serial(
  'only its user can reach the socket, which is removed after the server ended or was killed',
  async t => {
    const folder = folderOf(t)
    const record = join(folder.path, '.plinth', 'database.socket')
    const server = await serving(t, folder)
    const socket = readFileSync(record, 'utf8')
    t.is(statSync(socket).mode & 0o777, 0o600)
    t.is(statSync(dirname(socket)).mode & 0o777, 0o700)
    const second = await runToEnd(folder.path, { DATABASE_URL: 'embedded' })
    t.is(second.code, 1)
    t.regex(second.output, new RegExp(`in use by process ${server.pid} `))
    t.is(await server.stop(), 0)
    t.false(existsSync(socket))
    t.deepEqual(leftIn(folder), [])

    const killed = await serving(t, folder)
    const stale = readFileSync(record, 'utf8')
    process.kill(killed.pid, 'SIGKILL')
    await killed.stop()
    t.true(existsSync(stale))
    // No process holds the database any more: the command opens it itself.
    t.is((await command('plan', folder.path)).code, 0)
    t.deepEqual(leftIn(folder), [])
    await serving(t, folder)
    t.is((await command('plan', folder.path)).code, 0)
  },
)

test.serial('the socket of a project with a very long path is in the temporary folder', async t => {
  const folder = folderOf(t)
  const deep = join(folder.path, 'a'.repeat(60), 'b'.repeat(60))
  folder.write(join('a'.repeat(60), 'b'.repeat(60), 'project.yaml'), FIRST)
  const server = await startServer({ project: deep, environment: { DATABASE_URL: 'embedded' } })
  t.teardown(() => server.stop())
  const socket = readFileSync(join(deep, '.plinth', 'database.socket'), 'utf8')
  t.false(socket.startsWith(folder.path))
  t.is(statSync(dirname(socket)).mode & 0o777, 0o700)
  const planned = await command('plan', deep)
  t.is(planned.code, 0, planned.complaint)
  t.is(await server.stop(), 0)
  t.false(existsSync(dirname(socket)))
})

const WAITING = (folder: Folder) => `import { existsSync, writeFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { defineMigration } from 'plinth'
export default defineMigration(async ({ sql }) => {
  await sql\`INSERT INTO notes (document_id, text, created_at, updated_at) VALUES ('half', 'half', now(), now())\`
  writeFileSync('${folder.path}/inside', '')
  while (!existsSync('${folder.path}/go')) await pause(20)
})
`

/** A command that is in the middle of the transaction of a migration, and waits there. */
async function migrating(t: ExecutionContext, folder: Folder) {
  folder.write('migrations/1.before.ts', WAITING(folder))
  const running = begin(['migrate', folder.path])
  t.teardown(() => running.kill('SIGKILL'))
  await until('the migration has written', async () => existsSync(join(folder.path, 'inside')))
  return running
}

const textsOf = async (server: Server): Promise<readonly string[]> => {
  const { body } = await server.get('/api/notes?sort=text')
  return (body as { data: readonly { text: string }[] }).data.map(({ text }) => text)
}

test.serial(
  'a command that is killed in a transaction is rolled back, and the server keeps serving',
  async t => {
    const folder = folderOf(t)
    const server = await serving(t, folder, PRODUCTION)
    t.is((await create(server, { text: 'one' })).status, 201)
    const running = await migrating(t, folder)
    const waiting = [textsOf(server), create(server, { text: 'two' })] as const
    running.kill('SIGKILL')
    t.is((await waiting[1]).status, 201)
    await waiting[0]
    t.deepEqual(await textsOf(server), ['one', 'two'])
    writeFileSync(join(folder.path, 'go'), '')
    const done = await command('migrate', folder.path)
    t.is(done.code, 0, done.complaint)
  },
)

test.serial(
  'a server that stops ends the commands that use it: they report it, and are rolled back',
  async t => {
    const folder = folderOf(t)
    const server = await serving(t, folder, PRODUCTION)
    const running = await migrating(t, folder)
    t.is(await server.stop(), 0)
    writeFileSync(join(folder.path, 'go'), '')
    const { code, complaint } = await running.ended
    t.is(code, 1)
    t.regex(complaint, /the process that holds the embedded database stopped/)
    t.notRegex(complaint, /\n\s+at /)
    t.regex((await command('migrate', folder.path, '--status')).out, /to be applied +1\.before\.ts/)
    folder.write(
      'migrations/1.before.ts',
      "import { defineMigration } from 'plinth'\nexport default defineMigration(async () => {})",
    )
    t.is((await command('migrate', folder.path)).code, 0)
    t.deepEqual(await textsOf(await serving(t, folder, PRODUCTION)), [])
  },
)

test.serial('session settings of a migration do not affect the server', async t => {
  const folder = folderOf(t)
  const server = await serving(t, folder, PRODUCTION)
  folder.write(
    'migrations/1.before.sql',
    "SET default_transaction_read_only = on; SET search_path = pg_catalog; SET statement_timeout = '1ms'; PREPARE stray AS SELECT 1;",
  )
  const done = await command('migrate', folder.path)
  t.is(done.code, 0, done.complaint)
  for (const text of ['one', 'two']) t.is((await create(server, { text })).status, 201)
  t.deepEqual(await textsOf(server), ['one', 'two'])
})

const HEADER = `{"plinth":"documents","format":1,"project":"Notes","fingerprint":"","passwords":false,"locales":["en"],"types":{"api::note.note":{"draftAndPublish":false,"localized":false,"attributes":{"text":"string"}}},"components":{}}`
const IMPORTED = 1_500

test.serial('export and import work while requests write', async t => {
  const folder = folderOf(t)
  const server = await serving(t, folder)
  const lines = Array.from({ length: IMPORTED }, (_, at) =>
    JSON.stringify({
      type: 'api::note.note',
      documentId: `note-${at}`,
      versions: [{ values: { text: 'in' } }],
    }),
  )
  folder.write('notes.ndjson', `${[HEADER, ...lines].join('\n')}\n`)
  let isOver = false
  const statuses: number[] = []
  const write = async () => {
    while (!isOver) statuses.push((await create(server, { text: 'own' })).status)
  }
  const writers = [write(), write(), write()]
  const imported = await command('import', folder.path, join(folder.path, 'notes.ndjson'))
  const exported = await command('export', folder.path, '--out', '-')
  isOver = true
  await Promise.all(writers)
  t.is(imported.code, 0, imported.complaint)
  t.is(exported.code, 0, exported.complaint)
  t.deepEqual([...new Set(statuses)], [201])
  const notes = exported.out
    .split('\n')
    .filter(line => line.includes('api::note.note'))
    .slice(1)
  t.is(notes.filter(line => line.includes('note-')).length, IMPORTED)
  const { body } = await server.get('/api/notes?pagination[limit]=1')
  t.is(
    (body as { meta: { pagination: { total: number } } }).meta.pagination.total,
    IMPORTED + statuses.length,
  )
  t.regex((await command('doctor', folder.path)).complaint, /^Database: embedded in .*\n$/)
})

test.serial('an export with a slow reader does not block requests', async t => {
  const folder = folderOf(t, project('text: text'))
  const server = await serving(t, folder)
  const long = 'long '.repeat(20_000)
  for (let at = 0; at < 20; at++) t.is((await create(server, { text: `${at} ${long}` })).status, 201)
  let read = () => {}
  const exporting = begin(
    ['export', folder.path, '--out', '-'],
    new Promise<void>(resolve => {
      read = resolve
    }),
  )
  t.teardown(() => exporting.kill('SIGKILL'))
  await exporting.written
  t.is((await create(server, { text: 'meanwhile' })).status, 201)
  read()
  const { code, out, complaint } = await exporting.ended
  t.is(code, 0, complaint)
  t.is(out.split('\n').filter(line => line.includes('"documentId"')).length, 20)
  t.false(readdirSync(join(folder.path, '.plinth')).some(name => name.startsWith('export')))
})

test.serial('an import does not make the running server outdated, and a refused import names it', async t => {
  const folder = folderOf(t)
  const server = await serving(t, folder, PRODUCTION)
  folder.write('project.yaml', project('text: integer, size: integer'))
  folder.write('notes.ndjson', `${HEADER}\n`)
  const { code, complaint } = await command('import', folder.path, join(folder.path, 'notes.ndjson'))
  t.is(code, 1)
  t.regex(complaint, new RegExp(`pid ${server.pid} on .*end them first`))
  t.is((await create(server, { text: 'one' })).status, 201)
})
