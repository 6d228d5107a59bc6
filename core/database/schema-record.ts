import type { Table } from '../model/storage.ts'
import type { Site } from './run-plain.ts'
import type { Catalogue } from './schema-catalogue.ts'
import type { Runner } from './schema-catalogue-read.ts'
import { printFingerprint } from './schema-fingerprint.ts'
import type { SchemaPlan } from './schema-plan.ts'
import { qualified } from './schema-print.ts'

/**
 * Whether the last migration left the schema as this hash wants it, and nobody has changed it since: a look-up
 * and one pass over the catalogues inside PostgreSQL, in place of reading and comparing everything.
 */
export async function isRecorded(runner: Runner, schema: string, hash: string): Promise<boolean> {
  const migrations = qualified(schema, 'plinth_migrations')
  const there = await runner.run({ text: HAS_MIGRATIONS, values: [schema] })
  if (there.rows[0]?.[0] !== true) return false
  const last = `(SELECT hash, fingerprint FROM ${migrations} ORDER BY id DESC LIMIT 1) AS last`
  const text = `SELECT last.hash = $1 AND last.fingerprint = (${printFingerprint(schema)}) FROM ${last}`
  const { rows } = await runner.run({ text, values: [hash], name: 'compare schema' })
  return rows[0]?.[0] === true
}

/**
 * Not to_regclass: it may answer from the session's cache, which waiting for the migration lock does not renew,
 * that there still is no such table.
 */
const HAS_MIGRATIONS = `SELECT count(*) > 0 FROM pg_class JOIN pg_namespace AS space ON space.oid = relnamespace
  WHERE nspname = $1 AND relname = 'plinth_migrations'`

/** What `plinth_migrations` is told. */
export interface Deed {
  readonly product: string
  readonly hash: string
  readonly steps: readonly string[]
}

export async function record(
  { database: { schema }, transaction }: Site,
  { product, hash, steps }: Deed,
): Promise<void> {
  const text = `INSERT INTO ${qualified(schema, 'plinth_migrations')} (product, hash, fingerprint, steps)
    SELECT $1, $2, (${printFingerprint(schema)}), $3::jsonb`
  await transaction.run({ text, values: [product, hash, JSON.stringify(steps)], name: 'record migration' })
}

/** Brings `plinth_tables` up to what the tables are after the plan. */
export async function recordTables(
  { database: { schema }, transaction }: Site,
  tables: readonly Table[],
  { renamedTables, left }: SchemaPlan,
  { tables: actual }: Catalogue,
): Promise<void> {
  const ledger = qualified(schema, 'plinth_tables')
  const gone = [...renamedTables.keys()]
  await transaction.run({
    text: `DELETE FROM ${ledger} WHERE name = ANY ($1::text[]) OR NOT name = ANY ($2::text[])`,
    values: [gone, [...actual.keys(), ...tables.map(table => table.name)]],
  })
  const abandoned = (table: string) =>
    left.flatMap(one => (one.table === table && one.column !== null ? [one.column] : []))
  await transaction.run({
    text: `INSERT INTO ${ledger} SELECT * FROM jsonb_populate_recordset(NULL::${ledger}, $1::jsonb)
      ON CONFLICT (name) DO UPDATE SET serves = excluded.serves, columns = excluded.columns,
      indexes = excluded.indexes, constraints = excluded.constraints`,
    values: [JSON.stringify(tables.map(table => toRow(table, abandoned(table.name))))],
  })
}

const toRow = (table: Table, abandoned: readonly string[]): object => ({
  name: table.name,
  serves: table.serves,
  columns: [...table.columns.map(column => column.name), ...abandoned],
  indexes: table.indexes.map(index => index.name),
  constraints: [...table.checks, ...table.foreignKeys].map(constraint => constraint.name),
})
