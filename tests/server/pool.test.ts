import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import test, { type ExecutionContext } from 'ava'
import { createConnector } from '../../core/database/connect/open-connection.ts'
import { type ConnectionPool, createPool } from '../../core/database/connect/pool.ts'
import { parsePrimary } from '../../core/database/connect/target-url.ts'
import type { Connection } from '../../core/database/connection.ts'
import { toDatabaseFault } from '../../core/database/database-fault.ts'
import { openDatabase } from '../../core/database/open-database.ts'
import { createWork, SERVER_READ } from '../../core/database/scheduling/scheduled-work.ts'
import { DATABASE_SETTINGS } from '../harness/database-settings.ts'
import { createDatabase, testServer } from '../harness/test-database.ts'
import { until } from '../harness/until.ts'
import { query } from './cluster.ts'

const server = testServer() ?? ''

/** Opens connections only on demand of the test. */
async function openHeldPool(url: string, max: number, acquire = 200) {
  const session = { ...DATABASE_SETTINGS, statementPrefix: () => 'p', mayBePooled: true }
  const connect = createConnector({ target: await parsePrimary(url), session, observe: () => {} })
  const held: (() => void)[] = []
  let opened = 0
  const pool = createPool(
    async (): Promise<Connection> => {
      opened++
      await new Promise<void>(resolve => held.push(resolve))
      return connect()
    },
    { ...DATABASE_SETTINGS, pool: { max, idle: 10_000, acquire } },
  )
  return { pool, open: () => held.shift()?.(), count: () => opened }
}

/** A connection, which on busy cores may open too late for several callers. */
async function acquireAtLast(pool: ConnectionPool): Promise<Connection> {
  for (;;) {
    const connection = await pool.acquire(SERVER_READ).catch((error: unknown) => {
      if (toDatabaseFault(error)?.kind !== 'busy') throw error
    })
    if (connection) return connection
  }
}

test.serial(
  'the time in which other work blocks the event loop is none in which a server does not answer',
  async t => {
    const url = await createDatabase(t, server)
    const session = { ...DATABASE_SETTINGS, statementPrefix: () => 'p', mayBePooled: true }
    const open = async (to: string) =>
      createConnector({ target: await parsePrimary(to), session, observe: () => {}, timeout: 500 })()
    const block = async () => {
      await new Promise(resolve => setTimeout(resolve, 1))
      const began = performance.now()
      while (performance.now() - began < 700);
    }
    const opening = open(url)
    await block()
    const connection = await opening
    t.deepEqual((await connection.query('SELECT 1 AS one')).rows, [{ one: 1 }])
    await connection.end()

    const connect = createConnector({ target: await parsePrimary(url), session, observe: () => {} })
    const pool = createPool(connect, { ...DATABASE_SETTINGS, pool: { max: 1, idle: 10_000, acquire: 500 } })
    const acquired = pool.acquire(SERVER_READ)
    await block()
    pool.release(await acquired)
    await pool.close()

    const silent = createServer(() => {}).listen(0, '127.0.0.1')
    t.teardown(() => silent.close())
    await once(silent, 'listening')
    const { port } = silent.address() as AddressInfo
    await t.throwsAsync(open(`postgres://any@127.0.0.1:${port}/any`), {
      message: /timeout expired|terminated/,
    })
  },
)

test('a connection that opens too late for its caller serves the next one', async t => {
  const { pool, open, count } = await openHeldPool(await createDatabase(t, server), 1)
  t.is(toDatabaseFault(await t.throwsAsync(pool.acquire(SERVER_READ)))?.kind, 'busy')
  const next = acquireAtLast(pool)
  open()
  const connection = await next
  t.is(count(), 1, 'the pool never opens more than its maximum')
  pool.release(connection)
  t.is(pool.take(SERVER_READ), connection)
  pool.release(connection)
  await pool.close()
})

test('a connection that opens too late for anyone is kept', async t => {
  const { pool, open, count } = await openHeldPool(await createDatabase(t, server), 1)
  await t.throwsAsync(pool.acquire(SERVER_READ))
  open()
  for (let wait = 0; pool.state.idle === 0 && wait < 100; wait++)
    await new Promise(resolve => setTimeout(resolve, 20))
  const connection = pool.take(createWork('write'))
  t.truthy(connection)
  t.is(count(), 1)
  if (connection) pool.release(connection)
  await pool.close()
  t.like(pool.state, { busy: 0, idle: 0 })
  t.is(toDatabaseFault(await t.throwsAsync(pool.acquire(SERVER_READ)))?.kind, 'unavailable')
})

interface LimitedPool {
  readonly room: number
  /** Milliseconds. */
  readonly acquire?: number
}

/** The address of a new database, for a role that may open `room` connections. */
async function createLimited(t: ExecutionContext, room: number): Promise<string> {
  const url = new URL(await createDatabase(t, server))
  const role = `limited_${randomBytes(6).toString('hex')}`
  await query(server, `CREATE ROLE ${role} LOGIN CONNECTION LIMIT ${room}`)
  t.teardown(() => query(server, `DROP ROLE ${role}`))
  url.username = role
  return url.href
}

/** A pool of five connections, of which the server accepts `room`. */
async function openLimitedPool(t: ExecutionContext, { room, acquire = 60_000 }: LimitedPool) {
  const url = await createLimited(t, room)
  const session = { ...DATABASE_SETTINGS, statementPrefix: () => 'p', mayBePooled: true }
  const connect = createConnector({ target: await parsePrimary(url), session, observe: () => {} })
  const settings = { ...DATABASE_SETTINGS, pool: { max: 5, idle: 10_000, acquire } }
  const pool = createPool(connect, settings)
  t.teardown(() => pool.close())
  return pool
}

test('work that a full server refuses a connection waits for one that is in use', async t => {
  const pool = await openLimitedPool(t, { room: 2 })
  const first = await pool.acquire(SERVER_READ)
  const second = await pool.acquire(SERVER_READ)
  // Whichever is refused first is served first.
  const served = [1, 2].map(async () => {
    const connection = await pool.acquire(SERVER_READ)
    pool.release(connection)
    return connection === first
  })
  pool.release(first)
  t.deepEqual(await Promise.all(served), [true, true])
  pool.release(second)
  t.like(pool.state, { busy: 0, idle: 2, waiting: 0 })
})

test('work that a full server refuses takes a connection that was returned while the server answered', async t => {
  const { pool, open, count } = await openHeldPool(await createLimited(t, 1), 2, 60_000)
  t.teardown(() => pool.close())
  const acquired = pool.acquire(SERVER_READ)
  await until('the pool connects', () => count() === 1)
  open()
  const first = await acquired
  const waiting = pool.acquire(SERVER_READ)
  await until('the pool connects again', () => count() === 2)
  pool.release(first)
  open()
  t.is(await waiting, first)
  pool.release(first)
  t.like(pool.state, { busy: 0, idle: 1, waiting: 0 })
})

test('work that waits at a full server opens a connection when another one has ended', async t => {
  const pool = await openLimitedPool(t, { room: 1 })
  const first = await pool.acquire(SERVER_READ)
  const waiting = pool.acquire(SERVER_READ)
  pool.discard(first)
  const second = await waiting
  t.not(second, first)
  pool.release(second)
  t.like(pool.state, { busy: 0, idle: 1, waiting: 0 })
})

test('work at a server that stays full fails when it has waited for `acquire`', async t => {
  const pool = await openLimitedPool(t, { room: 0, acquire: 600 })
  const error = await t.throwsAsync(pool.acquire(SERVER_READ))
  t.is(toDatabaseFault(error)?.kind, 'unavailable')
  t.regex(String(error?.message), /too many connections for role/)
})

test('a session that a full server refuses a connection gets one of the pool, unless that has only one', async t => {
  const open = async (room: number) => {
    const settings = { ...DATABASE_SETTINGS, url: await createLimited(t, room) }
    const opened = await openDatabase(settings, { root: '.', observe: () => {} })
    if (!opened.ok) throw new Error(opened.reasons.map(({ message }) => message).join())
    t.teardown(() => opened.value.close())
    return opened.value
  }
  const sleep = { text: 'SELECT pg_sleep(0.2)', values: [] }
  const one = { text: 'SELECT 1', values: [] }
  const database = await open(3)
  await Promise.all([1, 2, 3].map(() => database.run(sleep)))
  t.is(database.connections().idle, 3)
  const session = await database.openSession()
  t.deepEqual((await session.run(one)).rows, [[1]])
  t.like(database.connections(), { busy: 0, idle: 2 })
  await Promise.all([1, 2, 3, 4].map(() => database.run(sleep)))
  t.like(database.connections(), { busy: 0, idle: 2 })
  await session.close()

  const small = await open(1)
  await t.throwsAsync(small.openSession(), { message: /too many connections for role/ })
  t.deepEqual((await small.run(one)).rows, [[1]])
})
