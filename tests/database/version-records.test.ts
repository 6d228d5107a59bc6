import { createHash } from 'node:crypto'
import test, { type ExecutionContext } from 'ava'
import { changeLayout, versionTriggerNames } from '../../core/sql/version-ddl.ts'
import { storageOf } from '../model/compiled.ts'
import { forget, schemaCase } from './schema-case.ts'

// What the triggers of a table record of each kind of write (core/sql/version-ddl.ts).

const NOTE = `contentTypes:
  note:
    attributes:
      title: string
      weight: float
      meta: json
`

async function withNotes(t: ExecutionContext) {
  const one = await schemaCase(t)
  await one.started(NOTE)
  const table = await notesOf(NOTE)
  const bits = [...(changeLayout(table)?.bits ?? [])]
  const namesOf = (mask: string): string =>
    bits.flatMap(([name, bit]) => ((BigInt(mask) & bit) === 0n ? [] : [name])).join('+')
  const records = async (): Promise<readonly string[]> => {
    const rows = await one.sql("SELECT coalesce(changes, '') FROM plinth_versions WHERE table_name = 'notes'")
    return rows.flatMap(([changes]) => String(changes).split(';').slice(1))
  }
  /** Runs a statement and returns what it recorded, with the names of changed columns. */
  const recorded = async (text: string, ...values: readonly unknown[]): Promise<string | null> => {
    const before = await records()
    await one.sql(text, ...values)
    const after = await records()
    if (after.length === before.length) return null
    const [, , items = ''] = after.at(-1)?.split(':') ?? []
    return items.replaceAll(/u(\d+)\.(\d+)/g, (_, id: string, mask: string) => `u${id} ${namesOf(mask)}`)
  }
  return { ...one, recorded, records }
}

async function notesOf(yaml: string) {
  const table = (await storageOf(yaml)).tables.find(({ name }) => name === 'notes')
  if (!table) throw new Error('no table of notes')
  return table
}

const insert = (from: number, to: number): string =>
  `INSERT INTO notes (id, document_id, title, weight, meta, created_at, updated_at)
  SELECT n, 'doc-' || n, 'a', 0, '{"n": 1}', now(), now() FROM generate_series(${from}, ${to}) AS n`

const digest = (documentId: string): string => createHash('md5').update(documentId).digest('hex').slice(0, 8)

test.serial('inserts and deletions are recorded with their rows', async t => {
  const { recorded } = await withNotes(t)
  t.is(await recorded(insert(1, 2)), `i1.${digest('doc-1')},i2.${digest('doc-2')}`)
  t.is(await recorded('DELETE FROM notes WHERE id = 2'), 'd2')
  t.is(await recorded('DELETE FROM notes WHERE id = 2'), null, 'no row')
})

test.serial('updates are recorded with the columns whose values differ in any byte', async t => {
  const { recorded } = await withNotes(t)
  await recorded(insert(1, 8))
  for (const [set, columns] of [
    [`title = 'b'`, 'title'],
    [`title = 'b'`, ''],
    [`title = NULL, document_id = 'x'`, 'document_id+title'],
    [`weight = '-0'`, 'weight'],
    [`weight = '-0'`, ''],
    [`meta = '{"n": 1.0}'`, 'meta'],
    [`meta = NULL`, 'meta'],
    [`updated_at = updated_at + interval '1 second'`, 'updated_at'],
  ])
    t.is(await recorded(`UPDATE notes SET ${set} WHERE id = 1`), `u1 ${columns}`, set)
  t.is(await recorded('UPDATE notes SET title = title WHERE id > 5'), 'u6 ,u7 ,u8 ')
  t.is(await recorded(`UPDATE notes SET title = id::text WHERE id > 6`), 'u7 title,u8 title')
  t.is(await recorded(`UPDATE notes SET title = 'c' WHERE false`), null)
})

test.serial('statements whose rows are not recorded one by one may have changed any', async t => {
  const { recorded } = await withNotes(t)
  t.is(await recorded(insert(1, 9)), '*')
  t.is(await recorded(`UPDATE notes SET title = 'b'`), '*')
  t.is(await recorded('UPDATE notes SET id = 20 WHERE id = 1'), '*', 'a row with another id')
  t.is(await recorded('UPDATE notes SET id = id + 20 WHERE id IN (2, 3)'), '*')
  t.is(await recorded('DELETE FROM notes'), '*')
  t.is(await recorded('TRUNCATE notes'), '*')
})

test.serial('an upsert is recorded as both of its writes', async t => {
  const { sql, recorded, records } = await withNotes(t)
  await recorded(insert(1, 1))
  await sql(`${insert(1, 2)} ON CONFLICT (id) DO UPDATE SET title = 'b'`)
  const [first = '', second = ''] = (await records()).slice(-2).sort()
  t.regex(`${first} ${second}`, /:i2\./)
  t.regex(`${first} ${second}`, /:u1\./)
})

test.serial('a column that was dropped by hand does not make writes fail', async t => {
  const { sql, recorded } = await withNotes(t)
  await sql(insert(1, 9))
  await sql('ALTER TABLE notes DROP COLUMN meta')
  t.is(await recorded(`UPDATE notes SET title = 'b' WHERE id = 1`), '*')
  t.is(await recorded(`UPDATE notes SET title = 'b' WHERE id IN (2, 3)`), '*')
})

test.serial('records keep the version of the table and are bounded', async t => {
  const { sql, records } = await withNotes(t)
  await sql(insert(1, 1))
  for (let number = 0; number < 100; number++)
    await sql('UPDATE notes SET title = $1 WHERE id = 1', String(number))
  const found = await records()
  t.true(found.length > 10 && found.length < 101, `${found.length} records`)
  const [size] = await sql("SELECT max(length(changes)) FROM plinth_versions WHERE table_name = 'notes'")
  t.true(Number(size?.[0]) < 2000)
})

test.serial('triggers of other columns are replaced, and an older database gets them', async t => {
  const one = await schemaCase(t)
  await one.started(NOTE)
  const triggers = async () => {
    const found = await one.sql(
      "SELECT tgname FROM pg_trigger WHERE tgrelid = 'notes'::regclass AND starts_with(tgname, 'plinth_version') ORDER BY 1",
    )
    return found.map(([name]) => String(name))
  }
  const wanted = async (yaml: string) => versionTriggerNames(await notesOf(yaml)).toSorted()
  const before = await triggers()
  t.deepEqual(before, await wanted(NOTE))
  const more = `${NOTE}      more: string\n`
  t.deepEqual(await one.started(more), ['add column "more" to "notes" (`more` of content-type `note`)'])
  t.deepEqual(await triggers(), await wanted(more))
  t.true((await triggers()).every(name => !before.includes(name)))
  t.deepEqual(
    await one.sql('SELECT count(*) FROM pg_proc WHERE proname = $1', before[0]?.replace(/_[a-z]+$/, '')),
    [[0]],
  )
  for (const name of await triggers()) await one.sql(`DROP TRIGGER ${name} ON notes`)
  await one.sql(
    'CREATE TRIGGER plinth_version AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON notes FOR EACH STATEMENT EXECUTE FUNCTION plinth_move_version()',
  )
  await forget(one)
  t.deepEqual(await one.started(more), ['let writes to "notes" record what they change'])
  t.deepEqual(await triggers(), await wanted(more))
})
