import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { temporaryFolder } from '../../harness/folder.ts'
import { type Server, startServer } from '../../harness/server.ts'
import { teardownOfFile } from '../../harness/test-app.ts'
import { until } from '../../harness/until.ts'
import { type Cluster, query, startCluster, startReplica } from '../cluster.ts'

// A server that takes no writes is no primary: nothing is read or written there, and all is well once there is another.

const PROJECT = `name: Notes
server: { host: "\${HOST}", port: "\${PORT}" }
database: { url: "\${DATABASE_URL}", statementTimeout: 2s, pool: { max: 4, acquire: 8s } }
contentTypes: { note: { attributes: { text: string } } }
roles: { public: { permissions: { note: [find, create] } } }
`

let primary: Cluster
let standby: Cluster
let server: Server

const file = teardownOfFile(test.after.always)

test.before(async () => {
  primary = await startCluster(file)
  standby = await startReplica(file, primary)
  const folder = temporaryFolder()
  file.teardown(folder.remove)
  folder.write('project.yaml', PROJECT)
  const several = `postgres://postgres@127.0.0.1:${standby.port},127.0.0.1:${primary.port}/postgres?target_session_attrs=read-write`
  server = await startServer({ project: folder.path, environment: { DATABASE_URL: several } })
  file.teardown(server.stop)
})

const write = async (text: string) => {
  const answer = await fetch(`${server.base}/api/notes`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ data: { text } }),
    signal: AbortSignal.timeout(120_000),
  })
  return { status: answer.status, retry: answer.headers.get('retry-after'), body: await answer.text() }
}

const texts = async () => {
  const { status, body } = await server.get('/api/notes?sort=text&pagination[limit]=100')
  return status === 200 ? (body as { data: { text: string }[] }).data.map(({ text }) => text) : status
}

const isWritten = async (text: string) => (await write(text)).status === 201

test.serial('the writable server of several is found', async t => {
  t.is((await write('first')).status, 201)
  t.deepEqual(await texts(), ['first'])
})

test.serial('a primary in read-only mode is unavailable until it accepts writes again', async t => {
  await primary.query('ALTER SYSTEM SET default_transaction_read_only = on')
  await primary.query('SELECT pg_reload_conf()')
  await until('the server says so', async () => {
    const { status, body } = await server.get('/_ready')
    return status === 503 && (body as { status: string }).status === 'read-only'
  })
  const refused = await write('never')
  t.is(refused.status, 503, refused.body)
  t.truthy(refused.retry)
  await primary.query('ALTER SYSTEM RESET default_transaction_read_only')
  await primary.query('SELECT pg_reload_conf()')
  await until('writes are done again', () => isWritten('second'))
  t.deepEqual(await texts(), ['first', 'second'])
  t.is((await server.get('/_ready')).status, 200)
})

test.serial('a read-only session is closed, and the write is repeated on another', async t => {
  const name = 'postgres'
  await primary.query(`ALTER DATABASE ${name} SET default_transaction_read_only = on`)
  await primary.query(
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'plinth'",
  )
  t.is((await write('never')).status, 503)
  const writable = `${primary.url}?options=-c%20default_transaction_read_only%3Doff`
  await query(writable, `ALTER DATABASE ${name} RESET default_transaction_read_only`)
  await until('writes are done again', () => isWritten('third'))
})

test.serial('a promoted standby takes over; the former primary, back as a standby, is not used', async t => {
  await primary.end('SIGINT')
  t.is((await write('never')).status, 503)
  await standby.query('SELECT pg_promote()')
  await until('writes are done again', () => isWritten('fourth'))
  writeFileSync(join(primary.folder, 'data', 'standby.signal'), '')
  await primary.start()
  for (let times = 0; times < 5; times++) t.true(await isWritten(`fifth ${times}`))
  t.is(((await texts()) as string[]).filter(text => text.startsWith('f')).length, 7)
})

test.serial('a former primary that was paused answers nothing after it resumes', async t => {
  // From here on there are two primaries: the one of before does not know that it was replaced.
  await primary.end('SIGINT')
  const third = await startReplica(t, standby)
  const wasPrimary = standby
  const folder = temporaryFolder()
  t.teardown(folder.remove)
  folder.write('project.yaml', PROJECT)
  const several = `postgres://postgres@127.0.0.1:${wasPrimary.port},127.0.0.1:${third.port}/postgres`
  await server.stop()
  server = await startServer({ project: folder.path, environment: { DATABASE_URL: several } })
  t.teardown(server.stop)
  t.true(await isWritten('sixth'))
  await until('the replica has it', async () => {
    const rows = await third.query("SELECT count(*)::int FROM notes WHERE text = 'sixth'")
    return rows[0]?.[0] === 1
  })
  wasPrimary.signal('SIGSTOP')
  await third.query('SELECT pg_promote()')
  await until('writes are done again', () => isWritten('seventh'))
  wasPrimary.signal('SIGCONT')
  for (let times = 0; times < 20; times++) {
    const read = await texts()
    t.true(Array.isArray(read) && read.includes('seventh'), JSON.stringify(read))
  }
  // Idle connections are closed after ten seconds: those that are opened then must not lead to the former primary.
  await third.query(
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'plinth'",
  )
  await until('it reads again', async () => Array.isArray(await texts()))
  for (let times = 0; times < 20; times++) {
    const read = await texts()
    t.true(Array.isArray(read) && read.includes('seventh'), JSON.stringify(read))
  }
  t.notRegex(server.log(), /failed unexpectedly/)
})
