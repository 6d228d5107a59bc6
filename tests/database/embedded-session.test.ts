import { execFile } from 'node:child_process'
import { tmpdir } from 'node:os'
import { promisify } from 'node:util'
import test, { type ExecutionContext } from 'ava'
import type { Database } from '../../core/database/database.ts'
import { toDatabaseFault } from '../../core/database/database-fault.ts'
import { openDatabase } from '../../core/database/open-database.ts'
import { DATABASE_SETTINGS } from '../harness/database-settings.ts'
import { snapshot } from '../harness/embedded-files.ts'
import { program } from '../harness/program.ts'

async function openEmbedded(t: ExecutionContext): Promise<Database> {
  const embedded = { dataDir: 'memory://', snapshot: await snapshot() }
  const settings = { ...DATABASE_SETTINGS, statementTimeout: 500 }
  const opened = await openDatabase(settings, { root: tmpdir(), observe: () => {}, embedded })
  if (!opened.ok) throw new Error(opened.reasons[0]?.message)
  t.teardown(() => opened.value.close())
  return opened.value
}

test('waiting inside a transaction for other database work is an error, and the database keeps working', async t => {
  const database = await openEmbedded(t)
  await database.run({ text: 'CREATE TABLE plate (id int)', values: [] })
  const insert = { text: 'INSERT INTO plate VALUES (1)', values: [] }
  const stuck = database.transaction(async transaction => {
    await transaction.run(insert)
    await database.run(insert)
  })
  t.regex(toDatabaseFault(await t.throwsAsync(stuck))?.kind ?? '', /timeout|unavailable/)
  t.deepEqual((await database.run({ text: 'SELECT count(*) FROM plate', values: [] })).rows, [[0]])
})

test('a transaction whose connection closes is rolled back, and others continue', async t => {
  const database = await openEmbedded(t)
  await database.run({ text: 'CREATE TABLE plate (id int)', values: [] })
  const others: Promise<unknown>[] = []
  const session = await database.openSession()
  await session.run({ text: 'BEGIN', values: [] })
  await session.run({ text: 'INSERT INTO plate VALUES (1)', values: [] })
  others.push(database.run({ text: 'INSERT INTO plate VALUES (2)', values: [] }))
  await session.close()
  const lost = session.run({ text: 'INSERT INTO plate VALUES (3)', values: [] })
  t.is(toDatabaseFault(await t.throwsAsync(lost))?.kind, 'unavailable')
  await Promise.all(others)
  t.deepEqual((await database.run({ text: 'SELECT id FROM plate', values: [] })).rows, [[2]])
})

test('a closed in-memory database leaves no timer that would keep the process from ending', async t => {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    program('tests/database/fixtures/open-and-close.ts'),
  )
  t.is(stdout, '[]')
})

test('a session that PostgreSQL ends within a message fails its clients, blocks nothing, and starts again', async t => {
  const { stdout } = await promisify(execFile)(
    process.execPath,
    program('tests/database/fixtures/ended-session.ts'),
    { timeout: 60_000, killSignal: 'SIGKILL' },
  )
  const { ended, ...others } = JSON.parse(stdout)
  t.regex(ended, /the embedded database stopped: terminating connection due to idle-in-transaction timeout/)
  // A new start of the database for each transaction that is left open would end the work of all others.
  t.deepEqual(others, { ownTimeout: [['0']], next: [[1]], timers: [] })
})
