import type { Cell, Transaction } from '../../../core/database/database.ts'
import { quoteIdentifier, quoteText } from '../../../core/sql/identifier.ts'

/** A Strapi database that is read, in one transaction. */
export interface StrapiDatabase {
  readonly transaction: Pick<Transaction, 'run'>
  /** By name, the columns in their order. */
  readonly tables: ReadonlyMap<string, readonly SourceColumn[]>
  /** The schema of all tables. */
  readonly schema: string
  /** The time zone of Strapi's process, by whose clock it wrote times without a zone. */
  readonly timeZone: string
}

export interface SourceColumn {
  readonly name: string
  /** PostgreSQL's word: `character varying`, `timestamp without time zone`. */
  readonly type: string
}

/** What is asked of a table. All values are texts, as PostgreSQL writes them; moments are in ISO 8601, UTC. */
export interface RowQuery {
  readonly table: string
  readonly columns: readonly string[]
  /** Rows whose column holds one of these. */
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

/** Rows of a table that is there; columns that it has not are left out. */
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

/** A number that a column holds; null where it holds none. */
export function numberAt(row: SourceRow, column: string): number | null {
  const text = row.get(column)
  return text === null || text === undefined ? null : Number(text)
}
