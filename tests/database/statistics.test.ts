import { setTimeout as pause } from 'node:timers/promises'
import test, { type ExecutionContext } from 'ava'
import type { Database } from '../../core/database/database.ts'
import { keepStatistics } from '../../core/database/keep-statistics.ts'
import { openTestDatabase } from '../harness/test-database.ts'
import { until } from '../harness/until.ts'

const COUNT = 5_000

const run = async (database: Database, text: string) => (await database.run({ text, values: [] })).rows

/** A table that PostgreSQL analyses on demand only. */
const createPlates = (database: Database) =>
  run(database, 'CREATE TABLE plates (id integer, name text) WITH (autovacuum_enabled = off)')

const fill = (count: number) =>
  `INSERT INTO plates SELECT n, 'plate ' || n FROM generate_series(1, ${count}) n`

/** Rows that PostgreSQL expects; -1: no statistics. */
const expectedRows = async (database: Database) =>
  Number((await run(database, `SELECT reltuples FROM pg_class WHERE relname = 'plates'`))[0]?.[0])

const untilExpected = (database: Database, count: number) =>
  until(`${count} rows are expected`, async () => (await expectedRows(database)) === count)

async function openKept(t: ExecutionContext) {
  const database = await openTestDatabase(t)
  const failures: string[] = []
  const kept = keepStatistics(database, {
    tables: ['plates'],
    delay: 10,
    failed: message => failures.push(message),
  })
  t.teardown(() => kept.close())
  const write = (text: string) => kept.database.transaction(({ run }) => run({ text, values: [] }))
  return { database, kept, failures, write }
}

test('a start analyses tables that a script has filled', async t => {
  const { database, kept, failures } = await openKept(t)
  await createPlates(database)
  await run(database, fill(COUNT))
  t.is(await expectedRows(database), -1)
  kept.start()
  await untilExpected(database, COUNT)
  t.deepEqual(failures, [])
})

test('tables that grow to more than twice their size are analysed after the writes', async t => {
  const { database, kept, failures, write } = await openKept(t)
  await createPlates(database)
  await run(database, fill(COUNT))
  kept.start()
  await untilExpected(database, COUNT)
  // No analysis runs meanwhile: it would count the pages of these rows, and not the rows.
  await write(fill(2 * COUNT))
  await untilExpected(database, 3 * COUNT)
  t.deepEqual(failures, [])
})

test('a table that was analysed while it was empty is analysed when it is filled again', async t => {
  const { database, kept, write } = await openKept(t)
  await createPlates(database)
  await run(database, fill(COUNT))
  await run(database, 'DELETE FROM plates')
  await run(database, 'ANALYZE plates')
  t.is(await expectedRows(database), 0)
  kept.start()
  // PostgreSQL counts changes with a delay of seconds: the next write finds them.
  while ((await expectedRows(database)) === 0) await write(fill(COUNT))
  t.true((await expectedRows(database)) >= COUNT)
})

test('small changes and small tables are left to autovacuum', async t => {
  const { database, kept, write } = await openKept(t)
  await createPlates(database)
  await run(database, fill(COUNT))
  // Otherwise the session may count these changes after the analysis.
  await run(database, 'SELECT pg_stat_force_next_flush()')
  await run(database, 'ANALYZE plates')
  kept.start()
  await write(fill(COUNT / 10))
  await run(database, 'CREATE TABLE cups (id integer) WITH (autovacuum_enabled = off)')
  await write('INSERT INTO cups VALUES (1)')
  await pause(200)
  t.is(await expectedRows(database), COUNT)
})

test('nothing is analysed before the start and after the end; a failure is reported', async t => {
  const { database, kept, failures, write } = await openKept(t)
  await createPlates(database)
  await write(fill(COUNT))
  await pause(100)
  t.is(await expectedRows(database), -1)
  kept.start()
  await kept.close()
  await write(fill(COUNT))
  await pause(100)
  t.is(await expectedRows(database), -1)
  await database.close()
  kept.start()
  await until('a failure is reported', () => failures.length > 0)
  t.regex(failures.join(), /./)
})

test('a write during an analysis is followed by another one', async t => {
  const database = await openTestDatabase(t)
  let open = () => {}
  const gate = new Promise<void>(resolve => {
    open = resolve
  })
  let analyses = 0
  const held: Database = {
    ...database,
    async run(statement, options) {
      if (++analyses === 1) await gate
      return database.run(statement, options)
    },
  }
  const kept = keepStatistics(held, { tables: [], delay: 1, failed: message => t.fail(message) })
  t.teardown(() => kept.close())
  kept.start()
  await until('an analysis runs', () => analyses === 1)
  await kept.database.transaction(({ run }) => run({ text: 'SELECT 1', values: [] }))
  open()
  await until('another one follows', () => analyses === 2)
  t.pass()
})
