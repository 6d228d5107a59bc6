import test, { type ExecutionContext } from 'ava'
import { DatabaseFailure } from '../../core/database/database-fault.ts'
import { guardStatements } from '../../core/database/guard-statements.ts'
import { migrate } from '../../core/database/migrate.ts'
import type { Stage } from '../../core/database/migration-terms.ts'
import { openDatabase } from '../../core/database/open-database.ts'
import { hashSchema } from '../../core/database/schema-hash.ts'
import { until } from '../harness/until.ts'
import { storageOf } from '../model/compiled.ts'
import { createDatabase, openTestDatabase, testServer } from '../support/database.ts'
import { DATABASE_SETTINGS } from '../support/database-settings.ts'

// A process whose tables another version of the project changed fails, whatever it asks, from that moment on.

const note = (attributes: string, more = '') =>
  `contentTypes:\n  note: { ${more}attributes: { ${attributes} } }\n  tag: { attributes: { name: string } }\n`

const FIRST = note('title: string')
const WITH_DRAFTS = note('title: string', 'draftAndPublish: true, ')
const GROWN = note('title: string, size: integer')
const REQUIRED = note('title: string, size: { type: integer, required: true, backfill: 1 }')

async function place(t: ExecutionContext) {
  const bare = await openTestDatabase(t)
  const bring = async (yaml: string, stage: Stage = 'start') => {
    const { tables } = await storageOf(yaml)
    const done = await migrate(bare, tables, { stage })
    if (!done.ok) throw new Error(done.reasons.map(({ message }) => message).join('\n'))
    return guardStatements(bare, hashSchema(bare.schema, tables, []))
  }
  return {
    bare,
    bring,
    count: async (table: string) =>
      (await bare.run({ text: `SELECT count(*) FROM ${table}`, values: [] })).rows[0]?.[0],
  }
}

const READ = { text: 'SELECT count(*) FROM tags', values: [] }
const FIND = { text: 'SELECT id FROM tags', values: [] }
const insert = (documentId: string) => ({
  text: `INSERT INTO tags (document_id, created_at, updated_at, published_at) VALUES ($1, now(), now(), now())`,
  values: [documentId],
})

const outdated = (t: ExecutionContext, work: Promise<unknown>, message?: string) =>
  t.throwsAsync(
    work,
    { instanceOf: DatabaseFailure, message: 'the tables were changed for another version of the project' },
    message,
  )

for (const [name, next] of [
  ['drafts are enabled', WITH_DRAFTS],
  ['an attribute is required', REQUIRED],
] as const)
  test(`where ${name}, nothing that an older version asks is answered or written, in other tables neither`, async t => {
    const { bring, count } = await place(t)
    const older = await bring(FIRST)
    await older.run(insert('one'))
    const newer = await bring(next)
    await outdated(t, older.run(READ, { readonly: true }), 'a read')
    await outdated(
      t,
      older.run({ ...FIND, text: `${FIND.text} WHERE id < 0` }, { readonly: true }),
      'an empty read',
    )
    await outdated(t, older.run(insert('two')), 'a write')
    await outdated(
      t,
      older.transaction(async transaction => transaction.send(insert('three'))),
      'a transaction of one round trip',
    )
    await outdated(
      t,
      older.transaction(async transaction => {
        await transaction.run(insert('four'))
        await transaction.run(READ)
      }),
      'a transaction',
    )
    await outdated(
      t,
      older.transaction(
        async transaction => {
          await transaction.run(FIND)
          throw new TypeError('not found')
        },
        { isolation: 'repeatable read' },
      ),
      'what follows from reading tables of the newer version',
    )
    t.is(await count('tags'), 1)
    t.deepEqual((await newer.run(READ, { readonly: true })).rows, [[1]])
  })

for (const [name, next, stage] of [
  ['a start only adds to the tables', GROWN, 'start'],
  ['--expand leaves the rest for later', REQUIRED, 'expand'],
] as const)
  test(`where ${name}, an older version goes on`, async t => {
    const { bring, count } = await place(t)
    const older = await bring(FIRST)
    const newer = await bring(next, stage)
    for (const each of [older, newer]) {
      await each.run(insert(`d${Math.random()}`))
      t.is((await each.run(FIND, { readonly: true })).rows.length > 0, true)
    }
    t.is(await count('tags'), 2)
    const rest = await bring(next, 'all')
    t.is((await rest.run(FIND, { readonly: true })).rows.length, 2)
    if (stage === 'expand') await outdated(t, older.run(FIND, { readonly: true }))
    else t.is((await older.run(FIND, { readonly: true })).rows.length, 2)
  })

test('a generation that was removed by hand is opened again by the next start', async t => {
  const { bare, bring } = await place(t)
  const own = await bring(FIRST)
  await bare.run({ text: 'DELETE FROM plinth_generations', values: [] })
  await outdated(t, own.run(READ, { readonly: true }))
  await bring(FIRST)
  t.deepEqual((await own.run(READ, { readonly: true })).rows, [[0]])
})

const server = testServer()
const onServer = server ? test : test.skip

/** An older process with connections of its own. */
async function olderProcess(t: ExecutionContext) {
  const url = await createDatabase(t, server ?? '')
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
    const found = `SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query ILIKE $1`
    return (await migrating.run({ text: found, values: [`%${text}%`] })).rows.length > 0
  }
  return { migrating, older, bring, waits }
}

onServer('a transaction that read before a migration and writes after it is not committed', async t => {
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

onServer('a migration waits for a transaction that wrote before it', async t => {
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

onServer('a read that waits for a migration is not answered after it', async t => {
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
