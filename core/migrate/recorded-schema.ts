import type { Database } from '../database/database.ts'
import { updateGenerations } from '../database/generations/generations.ts'
import type { DdlContext } from '../database/run-ddl.ts'
import type { Table } from '../model/storage.ts'
import { qualified, quoteConstant } from '../sql/ddl.ts'
import type { Stage } from './migration-options.ts'
import type { SchemaPlan } from './plan-steps.ts'
import type { Leftover } from './schema/finding.ts'
import { columnKindOf } from './schema/parse-owned-parts.ts'
import { NULLS_EQUAL, type Runner } from './schema/read-catalogue.ts'

/**
 * True if the last migration produced the schema of this hash and the schema is unchanged since. It costs a look-up and one
 * pass over the catalogues inside PostgreSQL, instead of reading and comparing everything.
 */
export async function isRecorded(
  runner: Runner,
  schema: string,
  { hash, stage }: { readonly hash: string; readonly stage: Stage },
): Promise<boolean> {
  if (!(await hasTables(runner, schema, ['plinth_migrations', 'plinth_generations', 'plinth_tables'])))
    return false
  const same = `last.fingerprint = (${printFingerprint(schema)})`
  const open = `EXISTS (SELECT FROM ${qualified(schema, 'plinth_generations')} WHERE hash = $1)`
  const text = `SELECT ${SERVES[stage]} AND ${open} AND ${same} FROM ${printLast(schema)}`
  const { rows } = await runner.run({ text, values: [hash], name: 'compare schema' })
  return rows[0]?.[0] === true
}

/** Read as JSON, because the record of an older Plinth lacks the column. */
const printLast = (schema: string): string =>
  `(SELECT hash, fingerprint, to_jsonb(m) -> 'also' AS also FROM ${qualified(schema, 'plinth_migrations')} AS m
    ORDER BY id DESC LIMIT 1) AS last`

/** True if the last run already did all steps of the stage. `also`: hash of another version that may serve; null: none. */
const SERVES: Readonly<Record<Stage, string>> = {
  start: `(last.hash = $1 OR coalesce(last.also @> to_jsonb($1::text), false))`,
  expand: 'last.hash = $1',
  all: `(last.hash = $1 AND coalesce(last.also, 'null') = 'null')`,
}

/** True if the schema was ever migrated. */
export const hasRecord = (runner: Runner, schema: string): Promise<boolean> =>
  hasTable(runner, schema, 'plinth_migrations')

export const hasTable = (runner: Runner, schema: string, table: string): Promise<boolean> =>
  hasTables(runner, schema, [table])

async function hasTables(runner: Runner, schema: string, names: readonly string[]): Promise<boolean> {
  const { rows } = await runner.run({ text: HAS_TABLES, values: [schema, names] })
  return rows[0]?.[0] === true
}

/** Not to_regclass: it may use the session's cache, which does not show a table created while we waited for the lock. */
const HAS_TABLES = `SELECT count(*) = cardinality($2::name[]) FROM pg_class
  JOIN pg_namespace AS space ON space.oid = relnamespace WHERE nspname = $1 AND relname = ANY ($2::name[])`

/** A row of `plinth_migrations`. */
export interface MigrationRecord {
  readonly product: string
  readonly hash: string
  readonly steps: readonly string[]
  /** Some steps are deferred until the previous version has ended. */
  readonly isOpen: boolean
  /** True if processes of previous versions may continue. */
  readonly keepsOthers: boolean
}

export async function recordMigration(
  site: DdlContext,
  { product, hash, steps, isOpen, keepsOthers }: MigrationRecord,
): Promise<void> {
  const { database, transaction } = site
  const { schema } = database
  const migrations = qualified(schema, 'plinth_migrations')
  const before = `SELECT coalesce(also, '[]') || to_jsonb(hash) FROM ${migrations} ORDER BY id DESC LIMIT 1`
  const also = isOpen ? `coalesce((${before}), '[]')` : 'NULL'
  const text = `INSERT INTO ${migrations} (product, hash, fingerprint, steps, also)
    SELECT $1, $2, (${printFingerprint(schema)}), $3::jsonb, ${also}`
  await transaction.run({
    text,
    values: [product, hash, JSON.stringify(steps)],
    name: `record migration${isOpen ? ' in part' : ''}`,
  })
  await updateGenerations(site, { hash, isCompatible: keepsOthers })
}

/** The result of a plan. */
export interface PlanOutcome extends Pick<SchemaPlan, 'renamedTables'> {
  readonly left: readonly Leftover[]
  readonly dropped: readonly Leftover[]
  /** Some steps are deferred, so the roles of the rows are unchanged. */
  readonly isOpen: boolean
}

/** Updates `plinth_tables` after the plan. */
export async function recordTables(
  { database: { schema }, transaction }: DdlContext,
  tables: readonly Table[],
  { renamedTables, left, dropped, isOpen }: PlanOutcome,
): Promise<void> {
  const ledger = qualified(schema, 'plinth_tables')
  const droppedTables = dropped.flatMap(({ table, column }) => (column === null ? [table] : []))
  const gone = [...renamedTables.keys(), ...droppedTables]
  // A table of that name that another program creates is not Plinth's.
  const isThere = `EXISTS (SELECT FROM pg_class WHERE relnamespace = ${printSpace(schema)} AND relname = ledger.name)`
  await transaction.run({
    text: `DELETE FROM ${ledger} AS ledger WHERE name = ANY ($1::text[]) OR NOT ${isThere}`,
    values: [gone],
  })
  const abandoned = (table: string) =>
    left.flatMap(one => (one.table === table && one.column !== null ? [one.column] : []))
  await transaction.run({
    text: `INSERT INTO ${ledger} AS made SELECT * FROM jsonb_populate_recordset(NULL::${ledger}, $1::jsonb)
      ON CONFLICT (name) DO UPDATE SET serves = excluded.serves, columns = ${isOpen ? ALL_COLUMNS : 'excluded.columns'},
      indexes = excluded.indexes, constraints = excluded.constraints,
      ${isOpen ? MEANT : MEANS}`,
    values: [JSON.stringify(tables.map(table => toTableRecord(table, abandoned(table.name))))],
  })
}

/** Columns that a deferred step drops are still Plinth's. */
const ALL_COLUMNS = `(SELECT jsonb_agg(DISTINCT each.name) FROM jsonb_array_elements(made.columns || excluded.columns) AS each (name))`

const MEANS = 'kinds = excluded.kinds, shape = excluded.shape'
const MEANT = 'kinds = excluded.kinds || made.kinds, shape = coalesce(made.shape, excluded.shape)'

/** The table's row in `plinth_tables`. `abandoned`: columns that the model no longer has. */
export const toTableRecord = (table: Table, abandoned: readonly string[]): object => ({
  name: table.name,
  serves: table.serves,
  columns: [...table.columns.map(column => column.name), ...abandoned],
  indexes: table.indexes.map(index => index.name),
  constraints: [...table.checks, ...table.foreignKeys].map(constraint => constraint.name),
  kinds: Object.fromEntries(
    table.columns.flatMap(column => {
      const kind = columnKindOf(column)
      return kind === null ? [] : [[column.name, kind]]
    }),
  ),
  shape: table.shape,
})

/** An executed migration. */
export interface PastMigration {
  readonly id: number
  /** ISO 8601, UTC. */
  readonly appliedAt: string
  /** The version of Plinth that executed it. */
  readonly product: string
  readonly steps: readonly string[]
}

/** The executed migrations, the latest first. */
export async function readHistory(database: Database): Promise<readonly PastMigration[]> {
  const { schema } = database
  if (!(await hasRecord(database, schema))) return []
  // Steps that were changed by hand are shown as they are. A version whose tables existed already is recorded without steps, for the next start.
  const text = `SELECT coalesce(json_agg(json_build_object('id', id, 'appliedAt', to_char(applied_at AT TIME ZONE 'UTC',
    'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'), 'product', product, 'steps',
    CASE WHEN jsonb_typeof(steps) = 'array' THEN steps ELSE jsonb_build_array(steps) END) ORDER BY id DESC), '[]')::text
    FROM ${qualified(schema, 'plinth_migrations')} WHERE steps <> '[]'`
  const { rows } = await database.run({ text, values: [], name: 'read migrations' })
  return JSON.parse(String(rows[0]?.[0]))
}

/**
 * SQL for a fingerprint of Plinth's tables: columns (names, types, nullability, defaults), indexes, constraints, triggers and
 * functions. Only a sum of hashes leaves the database. Not covered: tables that Plinth did not create, privileges, comments,
 * storage options and the rows of its own tables.
 */
export function printFingerprint(schema: string): string {
  const space = printSpace(schema)
  const own = `SELECT c.oid, c.relname FROM pg_class AS c WHERE c.relnamespace = ${space} AND c.relkind IN ('r', 'p')
    AND ${printIsOwn(schema, 'c.relname')}`
  return `WITH own AS MATERIALIZED (${own}), parts AS (${[COLUMNS, INDEXES, CONSTRAINTS, TRIGGERS, functions(space)].join(' UNION ALL ')})
    SELECT count(*) || ':' || coalesce(sum(hashtextextended(part, 0)), 0) FROM parts`
}

/** SQL for the oid of a schema. */
export const printSpace = (schema: string): string =>
  `(SELECT oid FROM pg_namespace WHERE nspname = ${quoteConstant(schema)})`

/** SQL that is true for the names of tables that Plinth created. */
export const printIsOwn = (schema: string, name: string): string =>
  `(${name} IN (SELECT name::name FROM ${qualified(schema, 'plinth_tables')}) OR ${name} LIKE 'plinth\\_%')`

const COLUMNS = `SELECT concat_ws(' ', 'column', own.relname, a.attname, a.atttypid, a.atttypmod, a.attcollation, a.attnotnull,
  a.attidentity, a.attgenerated, d.adbin) AS part
  FROM own JOIN pg_attribute AS a ON a.attrelid = own.oid AND a.attnum > 0 AND NOT a.attisdropped
  LEFT JOIN pg_attrdef AS d ON d.adrelid = a.attrelid AND d.adnum = a.attnum`

const INDEXES = `SELECT concat_ws(' ', 'index', own.relname, c.relname, i.indkey, i.indisunique, ${NULLS_EQUAL}, i.indisvalid, i.indpred)
  FROM own JOIN pg_index AS i ON i.indrelid = own.oid JOIN pg_class AS c ON c.oid = i.indexrelid`

const CONSTRAINTS = `SELECT concat_ws(' ', 'constraint', own.relname, k.conname, k.contype, k.conkey, k.confrelid, k.confkey,
  k.confdeltype, k.convalidated, k.conbin) FROM own JOIN pg_constraint AS k ON k.conrelid = own.oid`

const TRIGGERS = `SELECT concat_ws(' ', 'trigger', own.relname, g.tgname, g.tgenabled, g.tgtype, g.tgfoid)
  FROM own JOIN pg_trigger AS g ON g.tgrelid = own.oid AND NOT g.tgisinternal`

const functions = (
  space: string,
): string => `SELECT concat_ws(' ', 'function', p.proname, p.prosrc, p.prosqlbody)
  FROM pg_proc AS p WHERE p.pronamespace = ${space} AND p.proname LIKE 'plinth\\_%'`
