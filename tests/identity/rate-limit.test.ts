import { setTimeout as pause } from 'node:timers/promises'
import test from 'ava'
import { openRateLimit } from '../../core/identity/rate-limit.ts'
import { openLoginAttempts } from '../../core/identity/sign-in/login-attempts.ts'
import { migrate } from '../../core/migrate/migrate.ts'
import { systemTables } from '../../core/model/compile-storage.ts'
import { world } from '../access/project.ts'
import { openTestDatabase } from '../harness/test-database.ts'

const { model } = await world('roles: {}')

test('requests of all processes count together, exactly, until the window ends', async t => {
  const database = await openTestDatabase(t)
  await migrate(database, systemTables(model))
  const limits = [1, 2].map(() => openRateLimit({ window: 1500, max: 5 }, database))
  const quotas = await Promise.all(
    Array.from({ length: 8 }, (_, at) => limits[at % 2]?.(['one', 'other', 'one'])),
  )
  t.is(quotas.filter(quota => quota?.allowed).length, 5)
  t.deepEqual(quotas.map(quota => quota?.remaining).sort(), [0, 0, 0, 0, 1, 2, 3, 4])
  const other = await limits[0]?.(['third'])
  t.is(other?.remaining, 4)
  await pause(1700)
  const fresh = await limits[1]?.(['one'])
  t.true(fresh?.allowed && fresh.remaining === 4)
  const { rows } = await database.run({ text: 'SELECT key FROM plinth_rate_limits ORDER BY 1', values: [] })
  t.true(rows.every(([key]) => /^[0-9a-f]{64}$/.test(String(key))))
  t.true(rows.length <= 3)
})

test('a disabled limit runs no statement', async t => {
  const run = () => Promise.reject(new Error('asked'))
  t.is(await openRateLimit(false, { run })(['one']), null)
})

test("callers and accounts are not refused for hours after the database's clock was set back", async t => {
  const database = await openTestDatabase(t)
  await migrate(database, systemTables(model))
  const limit = { window: 60_000, max: 1 }
  const count = openRateLimit(limit, database)
  const attempts = openLoginAttempts(limit, database)
  const origin = { network: '10.0.0.1', documentId: null }
  const isAllowed = async () => [
    (await count(['one']))?.allowed,
    (await attempts.begin('ann@example.org', origin)) === null,
  ]
  t.deepEqual(await isAllowed(), [true, true])
  t.deepEqual(await isAllowed(), [false, false])
  // For the statements it is the same whether the clock went back or the rows went ahead.
  const ahead = "UPDATE plinth_rate_limits SET ends_at = ends_at + interval '3 hours'"
  await database.run({ name: 'set the clock back', text: ahead, values: [] })
  t.deepEqual(await isAllowed(), [true, true])
  t.deepEqual(await isAllowed(), [false, false])
})
