import type { Database, Rows, Transaction } from '../../database/database.ts'
import type { Column, ColumnType } from '../../model/storage.ts'
import { qualified } from '../../sql/ddl.ts'
import type { ActualColumn, ActualTable, Catalogue } from './catalogue.ts'
import { parseOwnedParts } from './parse-owned-parts.ts'

/** Runs statements: the database, or one of its transactions. */
export type Runner = Pick<Database, 'run'> | Pick<Transaction, 'run'>

/**
 * Reads the schema's tables with all that the plan compares, and Plinth's own record of what it made: two
 * statements, however many tables. Needs `plinth_tables` (bootstrap.ts).
 */
export async function readCatalogue(runner: Runner, schema: string, manyRows?: number): Promise<Catalogue> {
  const tables = await runner.run({ text: TABLES, values: [schema], name: 'read catalogue' })
  const owned = await runner.run({ text: printOwned(schema), values: [], name: 'read what Plinth made' })
  const trigrams = await readTrigrams(runner)
  const all = textsOf(tables)
  const actual = all.flatMap(([name, table]) =>
    table === null || name === null ? [] : [toTable(name, table)],
  )
  const made = textsOf(owned).flatMap(([name, row]) =>
    name === null || row === null ? [] : [parseOwnedParts(schema, name, row)],
  )
  const others = all.flatMap(([name, table]) => (table === null && name !== null ? [name] : []))
  return {
    schema,
    ...(manyRows !== undefined && { manyRows }),
    tables: new Map(actual.map(table => [table.name, table])),
    otherNames: new Set(others),
    trigrams,
    owned: new Map(made.flatMap(each => ('parts' in each ? [[each.name, each.parts]] : []))),
    damaged: made.flatMap(each => ('damaged' in each ? each.damaged : [])),
  }
}

/** pg_trgm is a trusted extension: who may create schemas in the database may install it. */
const TRIGRAMS = `SELECT
  (SELECT nspname::text FROM pg_extension JOIN pg_namespace AS space ON space.oid = extnamespace WHERE extname = 'pg_trgm'),
  EXISTS (SELECT FROM pg_available_extensions WHERE name = 'pg_trgm'),
  has_database_privilege(current_database(), 'CREATE')`

/** The extension pg_trgm in the database. */
export async function readTrigrams(runner: Runner): Promise<Catalogue['trigrams']> {
  const { rows } = await runner.run({ text: TRIGRAMS, values: [], name: 'read pg_trgm' })
  const [schema, isAvailable, mayCreate] = rows[0] ?? []
  return {
    schema: schema == null ? null : String(schema),
    isAvailable: isAvailable === true,
    mayCreate: mayCreate === true,
  }
}

const textsOf = ({ rows }: Rows): readonly (readonly [string | null, string | null])[] =>
  rows.map(([name, json]) => [name === null ? null : String(name), json == null ? null : String(json)])

/** The statement below builds exactly this shape. */
const toTable = (name: string, json: string): ActualTable => {
  const parts: Omit<ActualTable, 'name'> = JSON.parse(json)
  return { name, ...parts }
}

/** JSON, because older versions of Plinth have no `kinds` and `shape`. */
const printOwned = (schema: string): string =>
  `SELECT name, to_jsonb(made)::text FROM ${qualified(schema, 'plinth_tables')} AS made`

/**
 * Names of attributes of `table`, in the order of the list of their numbers. Aggregated per kind of thing and then
 * joined: one pass over each catalogue, where a subquery per table would look each up by index.
 */
const columnNames = (table: string, numbers: string): string =>
  `(SELECT json_agg(a.attname ORDER BY n.place) FROM unnest(${numbers}) WITH ORDINALITY AS n (number, place)
    LEFT JOIN pg_attribute AS a ON a.attrelid = ${table} AND a.attnum = n.number AND n.number > 0)`

/** PostgreSQL 14 has no such column. */
export const NULLS_EQUAL = `coalesce((to_jsonb(i) ->> 'indnullsnotdistinct')::boolean, false)`

/** `fillers`: tables with a trigger of another maker that runs for each row before its insertion (1, 2, 4). */
const TABLES = `
WITH own AS MATERIALIZED (
  SELECT oid, relname, relkind IN ('r', 'p') AS is_table FROM pg_class
  WHERE relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = $1) AND relkind IN ('r', 'p', 'v', 'm', 'f', 'S')
), fillers AS MATERIALIZED (
  SELECT g.tgrelid FROM pg_trigger AS g JOIN pg_proc AS p ON p.oid = g.tgfoid
  WHERE NOT g.tgisinternal AND g.tgtype & 7 = 7 AND p.proname NOT LIKE 'plinth\\_%'
), columns AS (
  SELECT a.attrelid AS oid, json_agg(json_build_object(
    'name', a.attname, 'nullable', NOT a.attnotnull,
    'type', CASE WHEN y.typtype = 'd' THEN format_type(y.typbasetype, y.typtypmod) ELSE format_type(a.atttypid, a.atttypmod) END,
    'custom', CASE WHEN y.typtype = 'd' THEN format_type(a.atttypid, a.atttypmod)
      WHEN NOT l.collisdeterministic THEN 'COLLATE ' || quote_ident(l.collname) END,
    'identity', a.attidentity = 'd', 'needsValue', a.attnotnull AND a.attidentity = '' AND d.adbin IS NULL AND y.typdefault IS NULL
      AND NOT EXISTS (SELECT FROM fillers WHERE tgrelid = a.attrelid), 'default', CASE WHEN a.attgenerated = '' THEN pg_get_expr(d.adbin, d.adrelid) END
  ) ORDER BY a.attnum) AS list
  FROM own JOIN pg_attribute AS a ON a.attrelid = own.oid AND a.attnum > 0 AND NOT a.attisdropped
  LEFT JOIN pg_attrdef AS d ON d.adrelid = a.attrelid AND d.adnum = a.attnum JOIN pg_type AS y ON y.oid = a.atttypid
  LEFT JOIN pg_collation AS l ON l.oid = a.attcollation
  WHERE own.is_table GROUP BY a.attrelid
), indexes AS (
  SELECT i.indrelid AS oid,
    json_agg(json_build_object(
      'name', c.relname, 'columns', ${columnNames('i.indrelid', 'i.indkey::smallint[]')}, 'unique', i.indisunique,
      'nullsEqual', ${NULLS_EQUAL}, 'valid', i.indisvalid, 'where', pg_get_expr(i.indpred, i.indrelid), 'expressions', pg_get_expr(i.indexprs, i.indrelid),
      'method', (SELECT amname FROM pg_am WHERE oid = c.relam)
    ) ORDER BY c.relname) FILTER (WHERE NOT i.indisprimary) AS list,
    (array_agg(${columnNames('i.indrelid', 'i.indkey::smallint[]')}) FILTER (WHERE i.indisprimary))[1] AS key
  FROM own JOIN pg_index AS i ON i.indrelid = own.oid JOIN pg_class AS c ON c.oid = i.indexrelid
  GROUP BY i.indrelid
), constraints AS (
  SELECT k.conrelid AS oid,
    json_agg(json_build_object(
      'name', k.conname, 'columns', ${columnNames('k.conrelid', 'k.conkey')}, 'valid', k.convalidated,
      'definition', pg_get_constraintdef(k.oid)
    ) ORDER BY k.conname) FILTER (WHERE k.contype = 'c') AS checks,
    json_agg(json_build_object(
      'name', k.conname, 'columns', ${columnNames('k.conrelid', 'k.conkey')}, 'valid', k.convalidated,
      'references', json_build_object('table', f.relname, 'columns', ${columnNames('k.confrelid', 'k.confkey')}),
      'onDelete', k.confdeltype
    ) ORDER BY k.conname) FILTER (WHERE k.contype = 'f') AS keys
  FROM own JOIN pg_constraint AS k ON k.conrelid = own.oid LEFT JOIN pg_class AS f ON f.oid = k.confrelid
  WHERE k.contype IN ('c', 'f') GROUP BY k.conrelid
), triggers AS (
  SELECT g.tgrelid AS oid, json_agg(json_build_object(
    'name', g.tgname, 'enabled', g.tgenabled IN ('O', 'A'), 'bodyDigest', md5(convert_to(p.prosrc, 'UTF8'))
  )) AS list
  FROM own JOIN pg_trigger AS g ON g.tgrelid = own.oid AND NOT g.tgisinternal JOIN pg_proc AS p ON p.oid = g.tgfoid
  GROUP BY g.tgrelid
)
SELECT own.relname, CASE WHEN own.is_table THEN json_build_object(
  'columns', coalesce(columns.list, '[]'), 'primaryKey', coalesce(indexes.key, '[]'),
  'indexes', coalesce(indexes.list, '[]'), 'checks', coalesce(constraints.checks, '[]'),
  'foreignKeys', coalesce(constraints.keys, '[]'), 'triggers', coalesce(triggers.list, '[]')
)::text END
FROM own LEFT JOIN columns USING (oid) LEFT JOIN indexes USING (oid)
LEFT JOIN constraints USING (oid) LEFT JOIN triggers USING (oid)`

/** The type names that PostgreSQL's catalogue uses. */
export const CATALOGUE_TYPES = {
  integer: 'integer',
  bigint: 'bigint',
  'double precision': 'double precision',
  'numeric(10,2)': 'numeric(10,2)',
  boolean: 'boolean',
  'varchar(255)': 'character varying(255)',
  text: 'text',
  jsonb: 'jsonb',
  date: 'date',
  'time(3)': 'time(3) without time zone',
  'timestamptz(3)': 'timestamp(3) with time zone',
  tsvector: 'tsvector',
} as const satisfies Record<ColumnType, string>

/** True if the column has another type, or a domain or collation that changes how values compare or which are valid. */
export const hasOtherType = ({ type }: Column, actual: ActualColumn): boolean =>
  actual.type !== CATALOGUE_TYPES[type] || actual.custom !== null
