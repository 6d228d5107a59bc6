import test, { type ExecutionContext } from 'ava'
import { guardStatements } from '../../core/database/generations/generations.ts'
import { migrate } from '../../core/migrate/migrate.ts'
import type { Stage } from '../../core/migrate/migration-options.ts'
import { hashSchema } from '../../core/migrate/schema-hash.ts'
import { openTestDatabase } from '../harness/test-database.ts'
import { storageOf } from '../model/compiled.ts'
import { FIND, FIRST, GROWN, insert, outdated, READ, REQUIRED, WITH_DRAFTS } from './generation-case.ts'

// A process whose tables another version of the project changed fails, whatever it asks, from that moment on.

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

for (const [name, next] of [
  ['drafts are enabled', WITH_DRAFTS],
  ['an attribute is required', REQUIRED],
] as const)
  test(`after ${name}, no request of an older version is answered or written, on other tables neither`, async t => {
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
  test(`after ${name}, an older version keeps serving`, async t => {
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

test('a generation that was deleted by hand is created again by the next start', async t => {
  const { bare, bring } = await place(t)
  const own = await bring(FIRST)
  await bare.run({ text: 'DELETE FROM plinth_generations', values: [] })
  await outdated(t, own.run(READ, { readonly: true }))
  await bring(FIRST)
  t.deepEqual((await own.run(READ, { readonly: true })).rows, [[0]])
})
