import type { Cell, Transaction } from '../../../core/database/database.ts'
import { quoteIdentifier, quoteText } from '../../../core/sql/identifier.ts'

/** A Strapi database, read in one transaction. */
export interface StrapiDatabase {
  readonly transaction: Pick<Transaction, 'run'>
  /** The columns of each table, in order. */
  readonly tables: ReadonlyMap<string, readonly SourceColumn[]>
  /** The schema of the tables. */
  readonly schema: string
  /** The time zone of Strapi's process, in which it stored times without a zone. */
  readonly timeZone: string
}

export interface SourceColumn {
  readonly name: string
  /** The PostgreSQL type: `character varying`, `timestamp without time zone`. */
  readonly type: string
}

/** A query of a table. Values are PostgreSQL's texts; timestamps are in ISO 8601, UTC. */
export interface RowQuery {
  readonly table: string
  readonly columns: readonly string[]
  /** Only rows whose column has one of these values. */
  readonly among?: { readonly column: string; readonly values: readonly (number | string)[] }
  readonly orderBy?: readonly string[]
}

export type SourceRow = ReadonlyMap<string, string | null>

/** The tables of a schema. */
export async function readTables(
  transaction: StrapiDatabase['transaction'],
  schema: string,
): Promise<StrapiDatabase['tables']> {
  const { rows } = await transaction.run({
    text: `SELECT table_name, column_name, data_type FROM information_schema.columns
      WHERE table_schema = $1 ORDER BY table_name, ordinal_position`,
    values: [schema],
    name: 'read the tables of Strapi',
  })
  const tables = new Map<string, SourceColumn[]>()
  for (const [table, name, type] of rows) {
    const columns = tables.get(String(table)) ?? []
    columns.push({ name: String(name), type: String(type) })
    tables.set(String(table), columns)
  }
  return tables
}

/** Reads rows of a table; empty if it does not exist. Missing columns are left out. */
export async function ask(
  source: StrapiDatabase,
  { table, columns, among, orderBy = [] }: RowQuery,
): Promise<readonly SourceRow[]> {
  const there = source.tables.get(table)
  if (there === undefined || among?.values.length === 0) return []
  const found = columns.flatMap(name => there.find(column => column.name === name) ?? [])
  const { rows } = await source.transaction.run({
    text: [
      `SELECT ${found.map(column => expressionOf(column, source.timeZone)).join(', ')}`,
      `FROM ${quoteIdentifier(source.schema)}.${quoteIdentifier(table)}`,
      ...(among ? [`WHERE ${quoteIdentifier(among.column)} = ANY($1)`] : []),
      ...(orderBy.length > 0 ? [`ORDER BY ${orderBy.map(quoteIdentifier).join(', ')}`] : []),
    ].join(' '),
    values: among ? [among.values] : [],
    name: `read ${table} of Strapi`,
  })
  return rows.map(cells => new Map(found.map(({ name }, index) => [name, toText(cells[index])])))
}

const toText = (cell: Cell | undefined): string | null =>
  cell === null || cell === undefined ? null : String(cell)

function expressionOf({ name, type }: SourceColumn, zone: string): string {
  const column = quoteIdentifier(name)
  if (type === 'timestamp without time zone') return momentOf(`(${column} AT TIME ZONE ${quoteText(zone)})`)
  return type === 'timestamp with time zone' ? momentOf(column) : `${column}::text`
}

const momentOf = (moment: string): string =>
  `to_char(${moment} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`

/** A column's value as a number; null if it is not one. */
export function numberAt(row: SourceRow, column: string): number | null {
  const text = row.get(column)
  return text === null || text === undefined ? null : Number(text)
}
