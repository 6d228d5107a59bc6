import test from 'ava'
import { createConnector } from '../../core/database/connect/open-connection.ts'
import { createPool } from '../../core/database/connect/pool.ts'
import { parsePrimary } from '../../core/database/connect/target-url.ts'
import type { Connection } from '../../core/database/connection.ts'
import { toDatabaseFault } from '../../core/database/database-fault.ts'
import { createWork, SERVER_READ } from '../../core/database/scheduling/scheduled-work.ts'
import { DATABASE_SETTINGS } from '../harness/database-settings.ts'
import { createDatabase, testServer } from '../harness/test-database.ts'

const server = testServer() ?? ''

/** Opens connections only on demand of the test. */
async function openHeldPool(url: string, max: number) {
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
    { ...DATABASE_SETTINGS, pool: { max, idle: 10_000, acquire: 200 } },
  )
  return { pool, open: () => held.shift()?.(), count: () => opened }
}

test('a connection that opens too late for its caller serves the next one', async t => {
  const { pool, open, count } = await openHeldPool(await createDatabase(t, server), 1)
  t.is(toDatabaseFault(await t.throwsAsync(pool.acquire(SERVER_READ)))?.kind, 'busy')
  const next = pool.acquire(SERVER_READ)
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
