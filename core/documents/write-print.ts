import type { ColumnType, Storage } from '../model/storage.ts'
import { quoteIdentifier as name } from '../sql/identifier.ts'
import type { Statement } from '../sql/statement.ts'
import type { Stored } from './written.ts'

/** The types of a table's columns, in their order. */
export type TableColumns = ReadonlyMap<string, ColumnType>

export function columnsOf(storage: Storage, table: string): TableColumns {
  const found = tablesOf(storage).get(table)
  if (!found) throw new TypeError(`no table ${table}`)
  return found
}

const known = new WeakMap<Storage, ReadonlyMap<string, TableColumns>>()

function tablesOf(storage: Storage): ReadonlyMap<string, TableColumns> {
  const before = known.get(storage)
  if (before) return before
  const tables = new Map(
    storage.tables.map(({ name, columns }) => [
      name,
      new Map(columns.map(column => [column.name, column.type])),
    ]),
  )
  known.set(storage, tables)
  return tables
}

/** A list of one column's values, as one parameter. A cast to varchar(255) would cut in silence. */
export const listType = (type: ColumnType): string => (type === 'varchar(255)' ? 'text[]' : `${type}[]`)

export interface Tuples {
  readonly table: string
  readonly columns: readonly string[]
  readonly rows: readonly (readonly Stored[])[]
}

/** One parameter a column, however many rows: the text depends on the columns alone. */
function unnest({ columns, rows }: Omit<Tuples, 'table'>, types: TableColumns, before = 0) {
  const lists = columns.map((column, index) => {
    const type = types.get(column)
    if (type === undefined) throw new TypeError(`no column ${column}`)
    return `$${before + index + 1}::${listType(type)}`
  })
  return {
    text: `unnest(${lists.join(', ')})`,
    values: columns.map((_, index) => rows.map(row => row[index] ?? null)),
  }
}

const among = (columns: readonly string[], list: string, alias = ''): string =>
  `(${columns.map(column => `${alias}${name(column)}`).join(', ')}) IN (SELECT * FROM ${list})`

/** Rows that hold one of the tuples, with these columns in the stored form. */
export function printSelect(
  match: Tuples,
  wanted: readonly string[],
  types: TableColumns,
  locking = false,
): Statement {
  const { text, values } = unnest(match, types)
  const columns = wanted.map(column => storedForm(column, types.get(column)))
  return {
    name: `read ${match.table} to write`,
    text: `SELECT ${columns.join(', ')} FROM ${name(match.table)} WHERE ${among(match.columns, text)}${locking ? ' FOR UPDATE' : ''}`,
    values,
  }
}

function storedForm(column: string, type: ColumnType | undefined): string {
  if (type === 'timestamptz(3)')
    return `to_char(${name(column)} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`
  return type === 'bigint' ? `${name(column)}::text` : name(column)
}

/** Into several tables at once: PostgreSQL asks whether what they refer to is there when all are done. */
export function printInserts(tables: readonly Tuples[], typesOf: (table: string) => TableColumns): Statement {
  const values: unknown[] = []
  const inserts = tables.map(rows => {
    const list = unnest(rows, typesOf(rows.table), values.length)
    values.push(...list.values)
    return `INSERT INTO ${name(rows.table)} (${rows.columns.map(name).join(', ')}) SELECT * FROM ${list.text}`
  })
  const others = inserts.slice(0, -1).map((text, index) => `i${index} AS (${text})`)
  const last = inserts.at(-1) ?? ''
  return {
    name: `insert into ${tables.map(({ table }) => table).join(', ')}`,
    text: others.length === 0 ? last : `WITH ${others.join(', ')} ${last}`,
    values,
  }
}

/** The first columns of each row are its key, the rest what is set. */
export function printUpdate(rows: Tuples, keys: number, types: TableColumns): Statement {
  const { text, values } = unnest(rows, types)
  const sets = rows.columns.slice(keys).map(column => `${name(column)} = v.${name(column)}`)
  const where = rows.columns.slice(0, keys).map(column => `t.${name(column)} = v.${name(column)}`)
  const row = rows.columns.map(name).join(', ')
  return {
    name: `update ${rows.table}`,
    text: `UPDATE ${name(rows.table)} AS t SET ${sets.join(', ')} FROM ${text} AS v (${row}) WHERE ${where.join(' AND ')}`,
    values,
  }
}

export function printDelete(match: Tuples, types: TableColumns): Statement {
  const { text, values } = unnest(match, types)
  return {
    name: `delete from ${match.table}`,
    text: `DELETE FROM ${name(match.table)} WHERE ${among(match.columns, text)}`,
    values,
  }
}

/** Empties columns of the rows that hold one of the tuples. */
export function printRelease(match: Tuples, emptied: readonly string[], types: TableColumns): Statement {
  const { text, values } = unnest(match, types)
  const sets = emptied.map(column => `${name(column)} = NULL`)
  return {
    name: `release links of ${match.table}`,
    text: `UPDATE ${name(match.table)} SET ${sets.join(', ')} WHERE ${among(match.columns, text)}`,
    values,
  }
}

/** Takes ids from the sequences of several tables: a row (table, id) each, ascending within a table. */
export function printAllocate(schema: string, counts: ReadonlyMap<string, number>): Statement {
  const tables = [...counts.keys()]
  return {
    name: 'take ids',
    text:
      'SELECT w.place, nextval(pg_get_serial_sequence(w.relation, $3)) ' +
      'FROM unnest($1::text[], $2::integer[]) WITH ORDINALITY AS w (relation, wanted, place), generate_series(1, w.wanted)',
    values: [
      tables.map(table => `${name(schema)}.${name(table)}`),
      tables.map(table => counts.get(table) ?? 0),
      'id',
    ],
  }
}
