import test, { type ExecutionContext } from 'ava'
import pg from 'pg'
import { openDatabase } from '../../core/database/open-database.ts'
import type { CustomMigration } from '../../core/migrate/custom-migrations/custom-migration.ts'
import { migrate } from '../../core/migrate/migrate.ts'
import type { RunMigrationOptions } from '../../core/migrate/migration-options.ts'
import { DATABASE_SETTINGS } from '../harness/database-settings.ts'
import { administer, createDatabase, testServer } from '../harness/test-database.ts'
import { until } from '../harness/until.ts'
import { storageOf } from '../model/compiled.ts'

// A migration during concurrent writes: neither ends the other.

const PROJECT = `contentTypes:
  author: { attributes: { name: string } }
  book: { attributes: { title: string } }
`
const GROWN = PROJECT.replaceAll('string', 'string, size: { type: integer, required: true, backfill: 1 }')
const UNIQUE = PROJECT.replace('name: string', 'name: { type: string, unique: true }')

/** However busy the machine is. */
const PATIENT = { turn: 30_000, lock: 30_000, statement: 30_000 }

const LOG: CustomMigration = {
  name: '1.before.sql',
  moment: 'before',
  checksum: '1',
  load: async () => ({ kind: 'sql', text: `INSERT INTO log VALUES ('before')`, newDatabases: false }),
}

/** A database of this project with a row in each table, and a client that writes to it. */
async function place(t: ExecutionContext, deadlockTimeout = '1s') {
  const url = await createDatabase(t, testServer() ?? '')
  const name = new URL(url).pathname.slice(1)
  await administer(url, `ALTER DATABASE ${name} SET deadlock_timeout = '${deadlockTimeout}'`)
  const opened = await openDatabase({ ...DATABASE_SETTINGS, url }, { root: '.', observe: () => {} })
  if (!opened.ok) throw new Error(opened.reasons.map(({ message }) => message).join('\n'))
  const database = opened.value
  t.teardown(() => database.close())
  t.true((await migrate(database, (await storageOf(PROJECT)).tables)).ok)
  const connect = async () => {
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    t.teardown(() => client.end())
    // Nothing is waited for without end.
    await client.query(`SET statement_timeout = '20s'`)
    return client
  }
  const writer = await connect()
  await writer.query(`CREATE TABLE log (line text)`)
  await writer.query(insert('authors'))
  await writer.query(insert('books'))
  const onlooker = await connect()
  return {
    writer,
    connect,
    bring: async (yaml: string, options: RunMigrationOptions = {}) => {
      const done = await migrate(database, (await storageOf(yaml)).tables, { limits: PATIENT, ...options })
      return done.ok ? [] : done.reasons.map(({ message }) => message)
    },
    /** Until the migration waits for this table. */
    waitsFor: (table: string) =>
      until(`the migration waits for ${table}`, async () => {
        const { rows } = await onlooker.query(
          `SELECT FROM pg_locks WHERE relation = $1::regclass AND NOT granted`,
          [table],
        )
        return rows.length > 0
      }),
    rows: async (text: string) => (await onlooker.query({ text, rowMode: 'array' })).rows,
  }
}

const insert = (table: string) =>
  `INSERT INTO ${table} (document_id, created_at, updated_at, published_at) VALUES ('a', now(), now(), now())`

for (const files of [[], [LOG]])
  test(`a migration and a writer that locks tables in another order do not deadlock${files.length > 0 ? ', and custom migrations run once' : ''}`, async t => {
    const { writer, bring, waitsFor, rows } = await place(t)
    await writer.query('BEGIN')
    await writer.query(`UPDATE books SET title = 'mine'`)
    const grown = bring(GROWN, { files })
    await waitsFor('books')
    // The migration has the one that comes first, and waits for the other.
    await writer.query(`UPDATE authors SET name = 'mine'`)
    await writer.query('COMMIT')
    t.deepEqual(await grown, [])
    t.deepEqual(await rows('SELECT name, authors.size, title, books.size FROM authors, books'), [
      ['mine', 1, 'mine', 1],
    ])
    t.deepEqual(await rows('SELECT line FROM log'), files.length > 0 ? [['before']] : [])
  })

test('writers are not blocked by a migration that waits for a vacuum', async t => {
  const { writer, connect, bring, waitsFor } = await place(t)
  const vacuum = await connect()
  await vacuum.query('BEGIN')
  await vacuum.query('LOCK TABLE books IN SHARE UPDATE EXCLUSIVE MODE')
  const grown = bring(GROWN)
  await waitsFor('books')
  await writer.query(`SET lock_timeout = '300ms'`)
  await t.notThrowsAsync(writer.query(`UPDATE books SET title = 'mine'`))
  await vacuum.query('COMMIT')
  t.deepEqual(await grown, [])
})

test('a concurrent index build that lost a deadlock is repeated', async t => {
  // For so long the index waits before it looks, and the writer for longer: so it is the victim.
  const { writer, bring, rows } = await place(t, '3s')
  await writer.query(`SET deadlock_timeout = '15s'`)
  await writer.query(`INSERT INTO authors (document_id, created_at, updated_at, published_at)
    SELECT n, now(), now(), now() FROM generate_series(1, 3) AS n`)
  await writer.query('BEGIN')
  await writer.query(`UPDATE authors SET name = document_id`)
  const making = async () =>
    (
      await rows(
        `SELECT FROM pg_stat_activity
          WHERE datname = current_database() AND query LIKE 'CREATE UNIQUE INDEX C%' AND wait_event_type = 'Lock'`,
      )
    ).length > 0
  const made = bring(UNIQUE, { allowing: 'slow', manyRows: 2 })
  await until('the index waits for earlier writers', making)
  await writer.query('LOCK TABLE authors IN SHARE UPDATE EXCLUSIVE MODE')
  await writer.query('COMMIT')
  t.deepEqual(await made, [])
  t.deepEqual(
    await rows(`SELECT indisvalid FROM pg_index WHERE indexrelid = 'authors__name__unique'::regclass`),
    [[true]],
  )
})
