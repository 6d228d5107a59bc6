import test from 'ava'
import { migrate } from '../../core/migrate/migrate.ts'
import { type MigrationPlan, planMigration } from '../../core/migrate/plan-migration.ts'
import { RISKS } from '../../core/migrate/schema/finding.ts'
import { storageOf } from '../model/compiled.ts'
import { type ChangeRow, readChanges } from './changes-page.ts'
import { type SchemaCase, schemaCase } from './schema-case.ts'

const changes = readChanges()

/** A content-type for each change, with the attribute as it is before or after; `key` names it. */
const project = (declared: (change: ChangeRow) => string | null) => {
  const types = changes.map((change, index) => {
    const attribute = declared(change)
    return `  t${index}: { attributes: { title: string${attribute === null ? '' : `, value: ${attribute}`} } }`
  })
  return `contentTypes:\n${types.join('\n')}\n`
}

const tableOf = (change: ChangeRow) => `t${changes.indexOf(change)}s`

async function fill({ sql }: SchemaCase, change: ChangeRow): Promise<void> {
  const table = tableOf(change)
  const [column, value] = change.before === null ? ['title', 'title'] : ['title, value', 'title, r.value']
  const rows = change.values.map((one, index) => ({ title: String(index), value: one }))
  await sql(
    `INSERT INTO ${table} (document_id, created_at, updated_at, published_at, ${column})
     SELECT title, now(), now(), now(), ${value} FROM jsonb_populate_recordset(NULL::${table}, $1::jsonb) AS r`,
    JSON.stringify(rows),
  )
}

/** The values as the column's type has them, in the order in which they were written. */
async function valuesIn({ sql }: SchemaCase, change: ChangeRow): Promise<unknown> {
  const [row] = await sql(
    `SELECT coalesce(json_agg(value ORDER BY title::integer), '[]')::text FROM ${tableOf(change)}`,
  )
  return JSON.parse(String(row?.[0]))
}

async function likeValues({ sql }: SchemaCase, change: ChangeRow, values: readonly unknown[]) {
  const rows = JSON.stringify(values.map(value => ({ value })))
  const [row] = await sql(
    `SELECT coalesce(json_agg(value), '[]')::text FROM jsonb_populate_recordset(NULL::${tableOf(change)}, $1::jsonb)`,
    rows,
  )
  return JSON.parse(String(row?.[0]))
}

function classOf({ steps, refusals }: MigrationPlan, change: ChangeRow): string {
  const table = tableOf(change)
  const against = refusals.filter(one => one.table === table).map(({ code }) => code)
  if (against.length > 0) return `refused: ${[...new Set(against)].join()}`
  const own = steps.filter(({ statements }) => statements.some(text => text.includes(`"${table}"`)))
  return RISKS.findLast(weight => own.some(step => step.weight === weight)) ?? 'safe'
}

const shown = (change: ChangeRow): string =>
  `docs/migrations.md:${change.line}: ${change.before} -> ${change.after}`

test('each attribute change in docs/migrations.md has the described effect on filled tables', async t => {
  const one = await schemaCase(t)
  t.true(changes.length >= 90, `${changes.length} rows`)
  await one.started(project(({ before }) => before))
  for (const change of changes) await fill(one, change)
  const { tables } = await storageOf(project(({ after }) => after))
  const plan = await planMigration(one.database, tables)
  const large = await planMigration(one.database, tables, { manyRows: 0 })
  for (const change of changes) {
    const expected = change.code === null ? change.class : `${change.class}: ${change.code}`
    t.is(classOf(plan, change), expected, shown(change))
    if (change.code === null) t.is(classOf(large, change), change.large, `${shown(change)}, large`)
  }
  // One refusal refuses the whole plan, and leaves everything unchanged.
  t.false((await migrate(one.database, tables, { allowing: 'destructive' })).ok)
  for (const change of changes.filter(({ before }) => before !== null))
    t.deepEqual(await valuesIn(one, change), await likeValues(one, change, change.values), shown(change))

  const possible = await storageOf(project(({ code, before, after }) => (code === null ? after : before)))
  const done = await migrate(one.database, possible.tables, { allowing: 'destructive' })
  t.deepEqual(done.ok ? [] : done.reasons, [])
  for (const change of changes.filter(({ code, after }) => code === null && after !== null)) {
    const expected = await likeValues(one, change, change.outcome ?? [])
    t.deepEqual(await valuesIn(one, change), expected, shown(change))
  }
  const again = await planMigration(one.database, possible.tables)
  t.deepEqual([again.steps, again.refusals, again.left], [[], [], []])
})
