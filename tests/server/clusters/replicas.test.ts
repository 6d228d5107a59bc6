import { tmpdir } from 'node:os'
import test from 'ava'
import { openDatabase } from '../../../core/database/open-database.ts'
import type { DatabaseObservation } from '../../../core/database/open-options.ts'
import { inSession } from '../../../core/database/statements/session-scope.ts'
import { DATABASE_SETTINGS } from '../../harness/database-settings.ts'
import { temporaryFolder } from '../../harness/folder.ts'
import { type Server, startServer } from '../../harness/server.ts'
import { teardownOfFile } from '../../harness/test-app.ts'
import { until } from '../../harness/until.ts'
import { type Cluster, startCluster, startReplica } from '../cluster.ts'

// Reads from replicas: callers always see their own writes, whatever happens to the replicas.

const WRITER = 'writer-of-replicated-notes-000000000000'
const READER = 'reader-of-replicated-notes-000000000000'

const PROJECT = `name: Notes
server: { host: "\${HOST}", port: "\${PORT}" }
database: { url: "\${DATABASE_URL}", replicas: ["\${REPLICA_URL}"], replicaLag: 10m }
contentTypes:
  note: { attributes: { text: string } }
roles: { public: { permissions: { note: [find, create] } } }
apiTokens:
  writer: { type: full-access, secret: ${WRITER} }
  reader: { type: read-only, secret: ${READER} }
`

interface PlanRequest {
  readonly token?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: unknown
}

function clientOf(base: string) {
  const ask = (method: string, path: string, { token, headers = {}, body }: PlanRequest = {}) =>
    fetch(base + path, {
      method,
      headers: {
        ...headers,
        ...(token && { authorization: `Bearer ${token}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(25_000),
    })
  const textsOf = (answer: unknown) => (answer as { text: string }[]).map(({ text }) => text)
  return {
    ask,
    async texts(asked: PlanRequest = {}) {
      const answer = await ask('GET', '/api/notes?sort=text', asked)
      const { data } = (await answer.json()) as { data: unknown }
      return answer.status === 200 ? textsOf(data) : answer.status
    },
    async graphql(query: string, asked: PlanRequest = {}) {
      const answer = await ask('POST', '/graphql', { ...asked, body: { query } })
      const reported = (await answer.json()) as { data: Record<string, unknown> }
      if (!reported.data) throw new Error(JSON.stringify(reported))
      const { data } = reported
      return { answer, data }
    },
    write: (text: string, asked: PlanRequest = {}) =>
      ask('POST', '/api/notes', { ...asked, body: { data: { text } } }),
  }
}

/** The cookies of an answer as a browser would send them back. */
const cookiesOf = (answer: Response) =>
  answer.headers
    .getSetCookie()
    .filter(cookie => !cookie.includes('Max-Age=0'))
    .map(cookie => cookie.split(';')[0])
    .join('; ')

const positionOf = (answer: Response) => answer.headers.get('x-plinth-position') ?? 'none'
const from = (position: string) => ({ headers: { 'x-plinth-position': position } })

let primary: Cluster
let replica: Cluster
let server: Server
let client: ReturnType<typeof clientOf>

const file = teardownOfFile(test.after.always)

test.before(async () => {
  primary = await startCluster(file)
  replica = await startReplica(file, primary)
  const folder = temporaryFolder()
  file.teardown(folder.remove)
  folder.write('project.yaml', PROJECT)
  const environment = { DATABASE_URL: primary.url, REPLICA_URL: replica.url }
  server = await startServer({ project: folder.path, environment })
  file.teardown(server.stop)
  client = clientOf(server.base)
})

/** It takes the server a moment. */
async function paused(isPaused: boolean): Promise<void> {
  await replica.query(isPaused ? 'SELECT pg_wal_replay_pause()' : 'SELECT pg_wal_replay_resume()')
  const wanted = isPaused ? 'paused' : 'not paused'
  const isSo = async () => (await replica.query('SELECT pg_get_wal_replay_pause_state()'))[0]?.[0] === wanted
  await until(`replay is ${wanted}`, isSo)
}

/** Statements about notes that the replica has run: reads, and proofs that a kept answer is still the same. */
const readsThere = () => replica.log().split(/FROM "notes"|IN \('\*', 'notes'\)/).length

/** True if the replica answers such a read. */
async function isThere(asked: PlanRequest = {}): Promise<boolean> {
  const reads = readsThere()
  await client.texts(asked)
  return readsThere() > reads
}

test.serial('a client reads its own writes; others may see them later', async t => {
  await client.write('one', { token: WRITER })
  await until('the replica has it', async () => (await isThere()) && String(await client.texts()) === 'one')
  await paused(true)
  t.teardown(() => paused(false))
  const written = await client.write('two', { token: WRITER })
  const position = positionOf(written)
  t.regex(position, /^\d+$/)
  t.deepEqual(await client.texts(), ['one'], 'the write is unknown to this client: the replica answers')
  t.deepEqual(await client.texts({ token: READER }), ['one'], 'who cannot write has written nothing')
  t.deepEqual(await client.texts({ token: WRITER }), ['one', 'two'], 'who may write reads the primary')
  t.deepEqual(await client.texts(from(position)), ['one', 'two'])
  t.deepEqual(await client.texts({ token: WRITER, ...from('0') }), ['one'], 'he says that he wrote nothing')
  t.deepEqual(await client.texts(from(`0, ${position}`)), ['one', 'two'], 'the furthest counts')
  for (const nonsense of ['', '-1', 'x', '9'.repeat(30), '0/1A2B'])
    t.deepEqual(await client.texts(from(nonsense)), ['one', 'two'], nonsense)
  t.deepEqual(await client.texts({ headers: { cookie: `a=b; ${cookiesOf(written)}` } }), ['one', 'two'])

  const third = await client.write('three', { headers: { cookie: cookiesOf(written) } })
  t.true(BigInt(positionOf(third)) > BigInt(position))
  t.true(
    third.headers.getSetCookie().some(cookie => cookie.startsWith(`plinth-position-${position}=; Max-Age=0`)),
  )
  const LIST = '{ notes(sort: "text") { data { attributes { text } } } }'
  t.deepEqual((await client.graphql(LIST)).data, { notes: { data: [{ attributes: { text: 'one' } }] } })
  const made = await client.graphql(
    'mutation { createNote(data: { text: "x" }) { data { attributes { text } } } }',
  )
  const after = from(positionOf(made.answer))
  t.deepEqual(await client.texts(after), ['one', 'three', 'two', 'x'])
  const found = await client.ask('GET', '/api/notes?filters[text]=x', after)
  const { data } = (await found.json()) as { data: readonly { documentId: string }[] }
  const gone = await client.ask('DELETE', `/api/notes/${data[0]?.documentId}`, { token: WRITER })
  t.is(gone.status, 204)
  t.deepEqual(await client.texts(from(positionOf(gone))), ['one', 'three', 'two'])

  await paused(false)
  await until('the replica answers the writer, too', () => isThere(from(positionOf(gone))))
  t.deepEqual(await client.texts(from(positionOf(gone))), ['one', 'three', 'two'])
  t.deepEqual((await server.get('/_ready')).body, { status: 'ready', replicas: { well: 1 } })
})

test.serial('a replica that dies or hangs is skipped, and used again later', async t => {
  const isWell = async () => (await ready()) === 'well'
  await until('it is well', isWell)
  const statuses = new Set<number>()
  let isOver = false
  const readers = Array.from({ length: 4 }, async () => {
    while (!isOver) statuses.add((await client.ask('GET', '/api/notes')).status)
  })
  await replica.end('SIGKILL')
  await until('it is away', async () => (await ready()) === 'away')
  await replica.start()
  await until('it is back', isWell)
  replica.signal('SIGSTOP')
  await until('it is away', async () => (await ready()) === 'away')
  replica.signal('SIGCONT')
  await until('it is back', isWell)
  isOver = true
  await Promise.all(readers)
  t.deepEqual([...statuses], [200])
  t.true(await isThere(), 'it answers again')
  t.regex(server.log(), /The replica at 127\.0\.0\.1:\d+ is unavailable; reads go to the primary: /)
  t.regex(server.log(), /The replica at 127\.0\.0\.1:\d+ answers reads again/)
})

const ready = async () => {
  const { body } = await server.get('/_ready')
  return Object.keys((body as { replicas: object }).replicas)[0]
}

test.serial('a replica that lags behind, or belongs to another database, answers nothing', async t => {
  const other = new URL(replica.url)
  other.pathname = '/template1'
  const seen: DatabaseObservation[] = []
  const opened = await openDatabase(
    {
      ...{ ...DATABASE_SETTINGS, url: primary.url, replicaLag: 300 },
      replicas: [replica.url, other.href, primary.url],
    },
    { root: tmpdir(), observe: observation => seen.push(observation) },
  )
  if (!opened.ok) return t.fail()
  const database = opened.value
  t.teardown(() => database.close())
  const isOnReplica = async () => {
    const session = { after: null, onPrimary: false, written: null }
    const read = { text: 'SELECT pg_is_in_recovery()', values: [] }
    const { rows } = await inSession(session, () => database.run(read, { readonly: true }))
    return rows[0]?.[0]
  }
  const states = () => database.replicas?.states().join()
  await until('the first is well', () => states() === 'well,stranger,stranger')
  t.true(await isOnReplica())
  await paused(true)
  t.teardown(() => paused(false))
  await primary.query('CREATE TABLE later (id int)')
  await until('it is behind', () => states()?.startsWith('behind') === true)
  t.false(await isOnReplica())
  await paused(false)
  await until('it has caught up', () => states()?.startsWith('well') === true)
  t.true(await isOnReplica())

  const missing = { text: 'SELECT id FROM only_there', values: [] }
  await paused(true)
  await primary.query('CREATE TABLE only_there AS SELECT 7 AS id')
  const session = { after: null, onPrimary: false, written: null }
  const { rows } = await inSession(session, () => database.run(missing, { readonly: true }))
  t.deepEqual(rows, [[7]], 'a table that has not come there yet is read on the primary')
  const places = seen.flatMap(each => (each.event === 'database.replica' ? [each.message] : []))
  t.true(places.includes('it is no replica (any more)'))
  t.true(places.includes('it is the replica of another database'))
})

test.serial('a server shuts down although a replica hangs', async t => {
  replica.signal('SIGSTOP')
  t.is(await server.stop(), 0)
  replica.signal('SIGCONT')
})
