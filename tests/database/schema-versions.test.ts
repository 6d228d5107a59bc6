import test from 'ava'
import { schemaCase } from './schema-case.ts'

const TAG =
  'contentTypes: { tag: { attributes: { name: { type: string } } }, note: { attributes: { name: { type: string } } } }'

const INSERT =
  'INSERT INTO tags (document_id, created_at, updated_at, published_at) VALUES ($1, now(), now(), now())'

/** By how much a version grows is left to chance; here every move counts as one. */
const COUNTING = `DO $$ BEGIN
  EXECUTE (SELECT string_agg(replace(pg_get_functiondef(oid), 'random() *', '0 *'), ';') FROM pg_proc
    WHERE proname = 'plinth_move_version' OR starts_with(proname, 'plinth_version_'));
END $$`

async function withTags(t: Parameters<typeof schemaCase>[0]) {
  const one = await schemaCase(t)
  await one.started(TAG)
  await one.sql(COUNTING)
  const versionOf = async (table: string) => {
    const [row] = await one.sql(
      'SELECT coalesce(sum(version), 0)::integer FROM plinth_versions WHERE table_name = $1',
      table,
    )
    return Number(row?.[0])
  }
  return { ...one, versionOf }
}

test.serial('every kind of write increments the version of its table, and of no other', async t => {
  const { sql, versionOf } = await withTags(t)
  await sql(INSERT, 'a')
  t.is(await versionOf('tags'), 1)
  await sql(`UPDATE tags SET name = 'x'`)
  t.is(await versionOf('tags'), 2)
  await sql('DELETE FROM tags')
  t.is(await versionOf('tags'), 3)
  await sql('TRUNCATE tags')
  t.is(await versionOf('tags'), 4)
  t.is(await versionOf('notes'), 0)
})

test.serial('a write that is rolled back increments no version', async t => {
  const { database, sql, versionOf } = await withTags(t)
  await sql(INSERT, 'a')
  const cancelled = database.transaction(async transaction => {
    await transaction.run({ text: INSERT, values: ['b'] })
    throw new Error('cancelled')
  })
  await t.throwsAsync(cancelled, { message: 'cancelled' })
  t.is(await versionOf('tags'), 1)
})

test.serial('a write with another search path increments the version too', async t => {
  const { database, versionOf } = await withTags(t)
  await database.transaction(async transaction => {
    await transaction.run({ text: 'SET LOCAL search_path TO pg_catalog', values: [] })
    await transaction.run({ text: INSERT.replace('tags', 'public.tags'), values: ['a'] })
  })
  t.is(await versionOf('tags'), 1)
})

test.serial('the version of a renamed table keeps increasing', async t => {
  const { sql, started, versionOf } = await withTags(t)
  await sql(INSERT, 'a')
  await started(TAG.replace('{ tag: {', '{ label: { renamedFrom: tag,'))
  const before = await versionOf('labels')
  t.true(before > 1)
  await sql(`UPDATE labels SET name = 'x'`)
  t.true((await versionOf('labels')) > before)
})

test.serial('a migration increments the version that all tables share', async t => {
  const { started, versionOf } = await withTags(t)
  const before = await versionOf('*')
  await started(TAG.replace('name: { type: string }', 'name: { type: text }'))
  t.true((await versionOf('*')) > before)
})

test.serial(
  'writers of several tables in any order never block one another, and no increment is lost',
  async t => {
    const { database, sql, versionOf } = await withTags(t)
    const writers = Array.from({ length: 8 }, (_, writer) => async () => {
      for (let round = 0; round < 10; round++) {
        const tables = (writer + round) % 2 === 0 ? ['tags', 'notes'] : ['notes', 'tags']
        await database.transaction(async transaction => {
          for (const table of tables) {
            await transaction.run({ text: INSERT.replace('tags', table), values: [`${writer}-${round}`] })
          }
        })
      }
    })
    await Promise.all(writers.map(write => write()))
    t.deepEqual([await versionOf('tags'), await versionOf('notes')], [80, 80])
    t.deepEqual(await sql('SELECT count(*) FROM tags'), [[80]])
  },
)
