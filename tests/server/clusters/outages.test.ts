import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import test, { type ExecutionContext } from 'ava'
import pg from 'pg'
import { assertNoOrphans, compare, reportedBy } from '../../end-to-end/kill-findings.ts'
import { makePeople, PROJECT, send, valuesOf, writeUntilGone } from '../../end-to-end/kill-writers.ts'
import { type Folder, temporaryFolder } from '../../harness/folder.ts'
import { type Server, startServer } from '../../harness/server.ts'
import { teardownOfFile } from '../../harness/test-app.ts'
import { until } from '../../harness/until.ts'
import { type Cluster, startCluster } from '../cluster.ts'
import { chownToOwner } from '../own-process.ts'
import { COMMIT, openWire, type Wire } from '../wire.ts'

// Safety rules S21 and S22 on a real PostgreSQL: whatever becomes of it, requests are answered, nothing is half
// written, nothing that was acknowledged is lost, and all is well when it is back, without a restart.

const IMPATIENT =
  'database: { pool: { max: 4, acquire: 4s }, statementTimeout: 2s, preparedStatements: false, '

let cluster: Cluster
let wire: Wire
let folder: Folder
let server: Server
let people: readonly string[]

const file = teardownOfFile(test.after.always)

test.before(async () => {
  cluster = await startCluster(file)
  wire = await openWire(file, cluster.url)
  folder = temporaryFolder()
  file.teardown(folder.remove)
  folder.write(
    'project.yaml',
    PROJECT.replace('database: { ', IMPATIENT).replace('port: ', 'requestTimeout: 10s, port: '),
  )
  server = await startServer({ project: folder.path, environment: { DATABASE_URL: wire.url } })
  file.teardown(server.stop)
  people = await makePeople(server)
})

const isReady = async (wanted: boolean) => (await server.get('/_ready')).status === (wanted ? 200 : 503)
const away = () => until('the server is not ready', () => isReady(false))
const back = () => until('the server is ready', () => isReady(true))

const UNAVAILABLE = {
  data: null,
  error: { status: 503, name: 'ServiceUnavailableError', message: 'Service Unavailable', details: {} },
}

async function isUnavailable(t: ExecutionContext, method: string, path: string) {
  const { status, body } = await send(server, method, path)
  t.is(status, 503, JSON.stringify(body))
  const { message } = body.error as { message: string }
  t.true(MESSAGES.has(message), message)
  t.deepEqual(body, { ...UNAVAILABLE, error: { ...UNAVAILABLE.error, message } })
}

/** While a database does not answer, a read may wait behind others. */
const MESSAGES = new Set([
  'Service Unavailable',
  'The server is busy: try again',
  'The database did not answer in time',
])

/** A write whose answer says what became of it. */
async function isRefused(t: ExecutionContext, { method, path, data, outcome }: Refused) {
  const { status, body } = await send(server, method, path, data)
  t.is(status, 503, JSON.stringify(body))
  t.deepEqual(body, { ...UNAVAILABLE, error: { ...UNAVAILABLE.error, details: { outcome } } })
}

interface Refused {
  readonly method: string
  readonly path: string
  readonly data: unknown
  readonly outcome: 'not-written' | 'unknown'
}

test.serial('acknowledged writes survive a database that crashes, hangs or restarts', async t => {
  let isOver = false
  const statuses = new Set<number>()
  const reading = (async () => {
    while (!isOver) {
      const { status } = await send(server, 'GET', '/api/articles?populate=*')
      statuses.add(status)
      if (status !== 200) await pause(50)
    }
  })()
  let written = 0
  const onWrite = (count: number) => {
    written = count
  }
  const writing = writeUntilGone(4, Number.MAX_SAFE_INTEGER, {
    ...{ server, people, onWrite },
    goesOn: () => !isOver,
  })
  const more = () => {
    const before = written
    return until('writes are answered', () => written > before + 8)
  }
  await more()
  await cluster.end('SIGKILL')
  await away()
  await isUnavailable(t, 'GET', '/api/articles')
  const never = { method: 'POST', path: '/api/articles', data: valuesOf('never', people) }
  await isRefused(t, { ...never, outcome: 'not-written' })
  await cluster.start()
  await back()
  await more()
  cluster.signal('SIGSTOP')
  await away()
  await isUnavailable(t, 'GET', '/api/articles')
  cluster.signal('SIGCONT')
  await back()
  await more()
  await cluster.end('SIGINT')
  await away()
  await cluster.start()
  await back()
  await more()
  await cluster.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid()')
  await more()
  isOver = true
  const [writers] = await Promise.all([writing, reading])
  t.deepEqual([...statuses].toSorted(), [200, 503])
  t.true(writers.doubtful.length > 0)
  compare(t, await reportedBy(t, server, people), writers)
  await assertNoOrphans(t, { folder, url: cluster.url })
  t.notRegex(server.log(), /failed unexpectedly/)
})

const titlesOf = async (documentId: string) => {
  const path = `/api/articles/${documentId}?populate[words]=true&populate[seal]=true`
  const { status, body } = await send(server, 'GET', path)
  const { title, stage, words, seal } = (body.data ?? {}) as Record<string, unknown>
  return {
    status,
    title,
    stage,
    words: (words as { text: string }[])?.map(({ text }) => text),
    seal: (seal as { text: string })?.text,
  }
}

const whole = (word: string) => ({
  ...{ status: 200, title: word, stage: word },
  ...{ words: [`${word} one`, `${word} two`], seal: word },
})

test.serial('a connection that is cut inside a transaction commits all or nothing of it', async t => {
  const made = await send(server, 'POST', '/api/articles', valuesOf('first', people))
  const { documentId } = made.body.data as { documentId: string }
  const path = `/api/articles/${documentId}`
  const change = (word: string, outcome: Refused['outcome']) =>
    isRefused(t, { method: 'PUT', path, data: valuesOf(word, people), outcome })
  const within = wire.cut('BEGIN', 'after')
  await change('within', 'not-written')
  await within
  t.deepEqual(await titlesOf(documentId), whole('first'), 'cut inside: nothing')
  const before = wire.cut(COMMIT, 'before')
  await change('before', 'unknown')
  await before
  t.deepEqual(await titlesOf(documentId), whole('first'), 'cut before the commit came: nothing')
  const after = wire.cut(COMMIT, 'after')
  await change('after', 'unknown')
  await after
  t.deepEqual(await titlesOf(documentId), whole('after'), 'committed without a response: all of it, once')
  const insert = wire.cut('INSERT INTO "people"', 'after')
  const once = { method: 'POST', path: '/api/people', data: { name: 'Once' } }
  await isRefused(t, { ...once, outcome: 'unknown' })
  await insert
  const { body } = await send(server, 'GET', '/api/people?filters[name]=Once')
  t.is((body.data as unknown[]).length, 1, 'done once, not again')
  const read = wire.cut('FROM "people"', 'after')
  const { status } = await send(server, 'GET', '/api/people?sort=name')
  await read
  t.is(status, 200, 'a read that was cut is asked again')
})

test.serial('a slow network delays responses; a silent one, and an exhausted pool, mean 503', async t => {
  wire.delay = 100
  t.is((await send(server, 'GET', '/api/articles')).status, 200)
  t.is((await send(server, 'POST', '/api/people', { name: 'Slow' })).status, 201)
  wire.delay = 0
  wire.isSilent = true
  await isUnavailable(t, 'GET', '/api/articles')
  await away()
  wire.isSilent = false
  await back()
  const holder = new pg.Client({ connectionString: cluster.url })
  await holder.connect()
  t.teardown(() => holder.end())
  await holder.query('BEGIN; LOCK TABLE people')
  const reads = Array.from({ length: 12 }, () => isUnavailable(t, 'GET', '/api/people'))
  await Promise.all(reads)
  t.regex(server.log(), /No database connection became free in time/)
  await holder.query('ROLLBACK')
  t.is((await send(server, 'GET', '/api/people')).status, 200)
})

/** A file system of a few megabytes; null without the right to mount one. */
function smallDisk(): string | null {
  const path = mkdtempSync('/tmp/plinth-own.')
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=3m,mode=777', 'tmpfs', path], { stdio: 'ignore' })
    file.teardown(() => {
      execFileSync('umount', ['-l', path])
      rmSync(path, { recursive: true, force: true })
    })
    return path
  } catch {
    rmSync(path, { recursive: true, force: true })
    return null
  }
}

const disk = smallDisk()

// Only root may mount, and not in every container.
if (disk !== null)
  test.serial(
    'on a full disk writes get 503 and change nothing, reads continue, and freed space helps at once',
    async t => {
      const space = `${disk}/space`
      mkdirSync(space)
      chownToOwner(space)
      await cluster.query(`CREATE TABLESPACE small LOCATION '${space}'`)
      await cluster.query('ALTER TABLE components_parts_word SET TABLESPACE small')
      const big = { title: 'big', words: Array.from({ length: 50 }, () => ({ text: 'x'.repeat(200) })) }
      let last = await send(server, 'POST', '/api/articles', big)
      for (let tries = 0; last.status === 201 && tries < 1_000; tries++)
        last = await send(server, 'POST', '/api/articles', big)
      t.is(last.status, 503)
      const details = { outcome: 'not-written' }
      t.deepEqual(last.body, { ...UNAVAILABLE, error: { ...UNAVAILABLE.error, details } })
      const count = async () =>
        (await cluster.query("SELECT count(*)::int FROM articles WHERE title = 'big'"))[0]?.[0]
      const before = await count()
      const refused = { method: 'POST', path: '/api/articles', data: big }
      await isRefused(t, { ...refused, outcome: 'not-written' })
      t.is(await count(), before)
      t.is((await send(server, 'GET', '/api/articles')).status, 200)
      await assertNoOrphans(t, { folder, url: cluster.url })
      execFileSync('mount', ['-o', 'remount,size=64m', disk])
      t.is((await send(server, 'POST', '/api/articles', big)).status, 201)
      await cluster.query('ALTER TABLE components_parts_word SET TABLESPACE pg_default')
      await cluster.query('DROP TABLESPACE small')
    },
  )
