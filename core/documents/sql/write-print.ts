import { memoize } from '../../base/memo.ts'
import { type ColumnType, type Storage, writtenColumns } from '../../model/storage.ts'
import { quoteIdentifier as name } from '../../sql/identifier.ts'
import type { Statement } from '../../sql/statement.ts'
import type { DesiredCell } from '../desired-state.ts'
import { filter, inValuesOf } from './look-ups.ts'

/** The types of a table's columns, in their order. */
export type TableColumns = ReadonlyMap<string, ColumnType>

export const columnsOf = (storage: Storage, table: string): TableColumns =>
  printedTable(storage, table).columns

/** A table as statements need it. */
export interface PrintedTable {
  readonly name: string
  readonly columns: TableColumns
  /** Position in the order of creation: owners come before their links. */
  readonly place: number
}

export function printedTable(storage: Storage, table: string): PrintedTable {
  const found = tablesOf(storage).get(table)
  if (!found) throw new TypeError(`no table ${table}`)
  return found
}

const tablesOf = memoize(
  (storage: Storage): ReadonlyMap<string, PrintedTable> =>
    new Map(
      storage.tables.map(({ name, columns }, place) => [
        name,
        { name, columns: new Map(writtenColumns(columns).map(column => [column.name, column.type])), place },
      ]),
    ),
)

export function typeOf(types: TableColumns, column: string): ColumnType {
  const type = types.get(column)
  if (type === undefined) throw new TypeError(`no column ${column}`)
  return type
}

/** A cast to varchar(255) would cut in silence. */
export const valueType = (type: ColumnType): string => (type === 'varchar(255)' ? 'text' : type)

/** A list of one column's values, as one parameter. */
export const listType = (type: ColumnType): string => `${valueType(type)}[]`

export interface Tuples {
  readonly table: string
  readonly columns: readonly string[]
  readonly rows: readonly (readonly DesiredCell[])[]
}

/** One parameter a column, however many rows: the text depends on the columns alone. */
export function unnest({ columns, rows }: Omit<Tuples, 'table'>, types: TableColumns, before = 0) {
  const lists = columns.map((column, index) => `$${before + index + 1}::${listType(typeOf(types, column))}`)
  return {
    lists,
    text: `unnest(${lists.join(', ')})`,
    values: columns.map((_, index) => rows.map(row => row[index] ?? null)),
  }
}

/** Condition: the columns hold one of the tuples that the lists have side by side. */
export function among(columns: readonly string[], lists: readonly string[], alias = ''): string {
  const own = columns.map(column => `${alias}${name(column)}`).join(', ')
  return lists.length === 1
    ? `${own} = ANY (${lists[0]})`
    : `(${own}) IN (SELECT * FROM unnest(${lists.join(', ')}))`
}

/** Rows that hold one of the tuples, with these columns in the stored form. */
export function printSelectAmong(
  match: Tuples,
  wanted: readonly string[],
  types: TableColumns,
  locking = false,
): Statement {
  const { lists, values } = unnest(match, types)
  const columns = wanted.map(column => storedForm(column, types.get(column)))
  return {
    name: `read ${match.table} to write`,
    text: `SELECT ${columns.join(', ')} FROM ${name(match.table)} WHERE ${among(match.columns, lists)}${locking ? ` ORDER BY ${name('id')} FOR NO KEY UPDATE` : ''}`,
    values,
  }
}

/** Rows that belong to the rows of one document. */
export interface Below {
  readonly table: string
  readonly columns: readonly string[]
  /** The columns hold the values of these columns in the document's rows. */
  readonly owners: {
    readonly table: string
    readonly columns: readonly string[]
    /** The column of the documentId, and the one that is meant. */
    readonly documentId: string
    readonly is: string
  }
  /** One more column, and what it holds. */
  readonly named?: readonly [column: string, value: string]
}

/** The same of rows that belong to a document: what its rows hold is not known yet. */
export function printSelectBelow(
  { table, columns, owners, named }: Below,
  wanted: readonly string[],
  types: TableColumns,
): Statement {
  const all = wanted.map(column => storedForm(column, types.get(column)))
  const from = `FROM ${name(owners.table)} WHERE ${name(owners.documentId)} = $1::text`
  const [first = '', ...more] = columns.map(name)
  const [ofFirst = '', ...ofMore] = owners.columns.map(name)
  const where = [
    inValuesOf(first, `SELECT ${ofFirst} ${from}`),
    ...(more.length > 0
      ? [filter(`(${[first, ...more].join(', ')}) IN (SELECT ${[ofFirst, ...ofMore].join(', ')} ${from})`)]
      : []),
  ].join(' AND ')
  const also = named ? ` AND ${name(named[0])} = $2::text` : ''
  return {
    name: `read ${table} to write`,
    text: `SELECT ${all.join(', ')} FROM ${name(table)} WHERE ${where}${also}`,
    values: [owners.is, ...(named ? [named[1]] : [])],
  }
}

function storedForm(column: string, type: ColumnType | undefined): string {
  if (type === 'timestamptz(3)')
    return `to_char(${name(column)} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`
  return type === 'bigint' ? `${name(column)}::text` : name(column)
}

export interface Released {
  readonly columns: readonly string[]
  /** Set to an unused value instead of null. */
  readonly filled: boolean
}

/** Empties columns of the rows that hold one of the tuples. */
export function printReleaseMatch(
  match: Tuples,
  { columns, filled }: Released,
  types: TableColumns,
): Statement {
  const { lists, values } = unnest(match, types)
  const sets = columns.map(column => `${name(column)} = ${filled ? spareOf(types.get(column)) : 'NULL'}`)
  return {
    name: `release links of ${match.table}`,
    text: `UPDATE ${name(match.table)} SET ${sets.join(', ')} WHERE ${among(match.columns, lists)}`,
    values,
  }
}

/** Expressions of random placeholder values, which no other row has. */
const SPARE: Readonly<Partial<Record<ColumnType, string>>> = {
  'varchar(255)': 'gen_random_uuid()::text',
  text: 'gen_random_uuid()::text',
  integer: '(floor(random() * 2147483647)::bigint - 2147483648)::integer',
  bigint: '-floor(random() * 9e18)::bigint',
  'double precision': '-random() * 1e300',
  'numeric(10,2)': '(-floor(random() * 9999999999) / 100)::numeric(10,2)',
  date: `date '5874897-12-31' - floor(random() * 1e9)::integer`,
  'timestamptz(3)': `timestamptz '294276-01-01 00:00:00Z' - random() * 1e9 * interval '1 second'`,
}

/** True for types with a placeholder value, which a row may hold until it gets its own. */
export const hasSpare = (type: ColumnType | undefined): boolean => type !== undefined && type in SPARE

function spareOf(type: ColumnType | undefined): string {
  const spare = type && SPARE[type]
  if (spare === undefined) throw new TypeError(`no value to spare of ${type}`)
  return spare
}
