import test, { type ExecutionContext } from 'ava'
import { DatabaseFailure } from '../../core/database/database-fault.ts'
import { guardStatements } from '../../core/database/generations/generations.ts'
import { openDatabase } from '../../core/database/open-database.ts'
import { migrate } from '../../core/migrate/migrate.ts'
import { hashSchema } from '../../core/migrate/schema-hash.ts'
import { FIRST, insert, outdated, READ, WITH_DRAFTS } from '../database/generation-case.ts'
import { DATABASE_SETTINGS } from '../harness/database-settings.ts'
import { createDatabase, testServer } from '../harness/test-database.ts'
import { until } from '../harness/until.ts'
import { storageOf } from '../model/compiled.ts'

// The same where transactions of both versions wait for each other: several connections are needed.

/** An older process with connections of its own. */
async function olderProcess(t: ExecutionContext) {
  const url = await createDatabase(t, testServer() ?? '')
  const open = async () => {
    const opened = await openDatabase({ ...DATABASE_SETTINGS, url }, { root: '.', observe: () => {} })
    if (!opened.ok) throw new Error(opened.reasons.map(({ message }) => message).join('\n'))
    t.teardown(() => opened.value.close())
    return opened.value
  }
  const [migrating, serving] = [await open(), await open()]
  const bring = async (yaml: string) => {
    const { tables } = await storageOf(yaml)
    const done = await migrate(migrating, tables)
    if (!done.ok) throw new Error(done.reasons.map(({ message }) => message).join('\n'))
    return hashSchema(migrating.schema, tables, [])
  }
  const older = guardStatements(serving, await bring(FIRST))
  const waits = async (text: string) => {
    const found = `SELECT FROM pg_stat_activity
      WHERE datname = current_database() AND wait_event_type = 'Lock' AND query ILIKE $1`
    return (await migrating.run({ text: found, values: [`%${text}%`] })).rows.length > 0
  }
  return { migrating, older, bring, waits }
}

test('a transaction that read before a migration and writes after it is not committed', async t => {
  const { migrating, older, bring } = await olderProcess(t)
  await outdated(
    t,
    older.transaction(async transaction => {
      await transaction.run({ text: 'SELECT 1', values: [] })
      await bring(WITH_DRAFTS)
      await transaction.run(insert('late'))
    }),
  )
  t.is((await migrating.run(READ)).rows[0]?.[0], 0)
})

test('a migration waits for a transaction that wrote before it', async t => {
  const { migrating, older, bring, waits } = await olderProcess(t)
  let migrated: Promise<unknown> = Promise.resolve()
  await older.transaction(async transaction => {
    await transaction.run(insert('early'))
    migrated = bring(WITH_DRAFTS)
    await until('the migration waits', () => waits('LOCK TABLE'))
  })
  await migrated
  t.is((await migrating.run(READ)).rows[0]?.[0], 1)
  await outdated(t, older.run(insert('late')))
})

test('a read that waits for a migration is not answered after it', async t => {
  const { migrating, older, bring, waits } = await olderProcess(t)
  const blocking = await migrating.transaction(async transaction => {
    // The migration has its locks by then, and waits for this one with the last of its statements.
    await transaction.run({ text: 'LOCK TABLE plinth_generations IN SHARE MODE', values: [] })
    const migrated = bring(WITH_DRAFTS)
    await until('the migration waits', () => waits('DELETE FROM "public"."plinth_generations"'))
    const read = older.run({ text: 'SELECT count(*) FROM notes', values: [] }, { readonly: true })
    const seen = read.catch((error: unknown) => error)
    await until('the read waits', () => waits('FROM notes'))
    return { migrated, seen }
  })
  await blocking.migrated
  t.true((await blocking.seen) instanceof DatabaseFailure)
  t.is(((await blocking.seen) as DatabaseFailure).fault.kind, 'outdated')
})
