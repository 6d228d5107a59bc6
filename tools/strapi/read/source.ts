import { groupBy } from '../../../core/base/plain-data.ts'

/** A Strapi database, read in one snapshot. */
export interface StrapiDatabase {
  /** The columns of each table, in order. */
  readonly tables: ReadonlyMap<string, readonly SourceColumn[]>
  /** Reads rows of a table; empty if it does not exist. Missing columns are left out. */
  read(query: RowQuery): Promise<readonly SourceRow[]>
  /** What of the source is not read, a sentence each. */
  readonly losses?: readonly string[]
  /** The number of rows by the uid of their content-type, in an archive. */
  readonly counts?: ReadonlyMap<string, number>
}

/** The tables of rows `table, column, type`, in the order of the columns. */
export const groupColumns = (rows: Iterable<readonly unknown[]>): StrapiDatabase['tables'] =>
  new Map(
    [...groupBy(rows, ([table]) => String(table))].map(([table, columns]) => [
      table,
      columns.map(([, name, type]) => ({ name: String(name), type: String(type) })),
    ]),
  )

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

/** Reads rows whose columns are known to exist; cells in the order of the columns. */
export type ReadColumns = (
  query: Omit<RowQuery, 'columns'> & { readonly columns: readonly SourceColumn[] },
) => Promise<readonly (readonly (string | null)[])[]>

/** A database from its tables and a function that reads existing columns. */
export const openTables = (tables: StrapiDatabase['tables'], readColumns: ReadColumns): StrapiDatabase => ({
  tables,
  async read(query) {
    const existing = tables.get(query.table)
    if (existing === undefined || query.among?.values.length === 0) return []
    const columns = query.columns.flatMap(name => existing.find(column => column.name === name) ?? [])
    const rows = await readColumns({ ...query, columns })
    return rows.map(cells => new Map(columns.map(({ name }, index) => [name, cells[index] ?? null])))
  },
})

/** A column's value as a number; null if it is not one. */
export function numberAt(row: SourceRow, column: string): number | null {
  const text = row.get(column)
  const number = text === null || text === undefined || text === '' ? Number.NaN : Number(text)
  return Number.isNaN(number) ? null : number
}
