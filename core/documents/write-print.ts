import type { ColumnType, Storage } from '../model/storage.ts'
import { quoteIdentifier as name, quoteText } from '../sql/identifier.ts'
import type { Statement } from '../sql/statement.ts'
import { GAP } from './write-rows.ts'
import type { Stored } from './written.ts'

/** The types of a table's columns, in their order. */
export type TableColumns = ReadonlyMap<string, ColumnType>

export const columnsOf = (storage: Storage, table: string): TableColumns => tableOf(storage, table).columns

/** A table as statements need it. */
export interface PrintedTable {
  readonly name: string
  readonly columns: TableColumns
  /** Tables in the order in which they were made: what owns links comes before them. */
  readonly place: number
}

export function tableOf(storage: Storage, table: string): PrintedTable {
  const found = tablesOf(storage).get(table)
  if (!found) throw new TypeError(`no table ${table}`)
  return found
}

const known = new WeakMap<Storage, ReadonlyMap<string, PrintedTable>>()

function tablesOf(storage: Storage): ReadonlyMap<string, PrintedTable> {
  const before = known.get(storage)
  if (before) return before
  const tables = new Map(
    storage.tables.map(({ name, columns }, place) => [
      name,
      { name, columns: new Map(columns.map(column => [column.name, column.type])), place },
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

/** Rows that belong to the rows of one document. */
export interface Below {
  readonly table: string
  readonly columns: readonly string[]
  /** What the columns hold: these of the document's rows. */
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
  const own = `SELECT ${owners.columns.map(name).join(', ')} FROM ${name(owners.table)} WHERE ${name(owners.documentId)} = $1::text`
  const also = named ? ` AND ${name(named[0])} = $2::text` : ''
  return {
    name: `read ${table} to write`,
    text: `SELECT ${all.join(', ')} FROM ${name(table)} WHERE (${columns.map(name).join(', ')}) IN (${own})${also}`,
    values: [owners.is, ...(named ? [named[1]] : [])],
  }
}

function storedForm(column: string, type: ColumnType | undefined): string {
  if (type === 'timestamptz(3)')
    return `to_char(${name(column)} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`
  return type === 'bigint' ? `${name(column)}::text` : name(column)
}

/** What a new row holds; `taken`: the id at this place, from 1, of those that the statement takes. */
export type Inserted = Stored | { readonly taken: number }

export interface Insertion {
  readonly table: string
  readonly columns: readonly string[]
  readonly rows: readonly (readonly Inserted[])[]
}

/** How many ids are taken from the sequences of which tables. */
export interface Allocation {
  /** Of the tables. */
  readonly schema: string
  readonly counts: ReadonlyMap<string, number>
}

/** Into several tables at once: PostgreSQL asks whether what they refer to is there when all are done. */
export function printInserts(
  tables: readonly Insertion[],
  typesOf: (table: string) => TableColumns,
  taking: Allocation,
): Statement {
  const values: unknown[] = []
  const taken = taking.counts.size === 0 ? [] : [`taken AS MATERIALIZED (${printTaken(taking, values)})`]
  const inserts = tables.map(rows => printInsert(rows, typesOf(rows.table), values))
  const others = inserts.slice(0, -1).map((text, index) => `i${index} AS (${text})`)
  const last = inserts.at(-1) ?? ''
  const before = [...taken, ...others]
  return {
    name: `insert into ${tables.map(({ table }) => table).join(', ')}`,
    text: before.length === 0 ? last : `WITH ${before.join(', ')} ${last}`,
    values,
  }
}

/** One list of all ids, those of a table ascending. */
function printTaken({ schema, counts }: Allocation, values: unknown[]): string {
  const lists = Array.from(counts, ([table, count]) => {
    const relation = quoteText(`${name(schema)}.${name(table)}`)
    values.push(count)
    return `ARRAY(SELECT nextval((SELECT pg_get_serial_sequence(${relation}, 'id')::regclass)) FROM generate_series(1, $${values.length}::integer))`
  })
  return `SELECT ${lists.join(' || ')} AS ids`
}

function printInsert({ table, columns, rows }: Insertion, types: TableColumns, values: unknown[]): string {
  const lists: string[] = []
  const list = (type: string, of: readonly unknown[]) => {
    values.push(of)
    lists.push(`$${values.length}::${type}`)
    return `v.c${lists.length}`
  }
  const cells = columns.map((column, index) => {
    const type = types.get(column)
    if (type === undefined) throw new TypeError(`no column ${column}`)
    const cells = rows.map(row => row[index] ?? null)
    if (!cells.some(isTaken)) return list(listType(type), cells)
    const id = `taken.ids[${list('integer[]', cells.map(placeTaken))}]${type === 'double precision' ? ` * ${GAP}` : ''}`
    return cells.every(isTaken) ? id : `coalesce(${id}, ${list(listType(type), cells.map(valueGiven))})`
  })
  const from = cells.some(cell => cell.includes('taken.')) ? ', taken' : ''
  const row = lists.map((_, index) => `c${index + 1}`).join(', ')
  return `INSERT INTO ${name(table)} (${columns.map(name).join(', ')}) SELECT ${cells.join(', ')} FROM unnest(${lists.join(', ')}) AS v (${row})${from}`
}

const isTaken = (cell: Inserted): cell is { readonly taken: number } =>
  typeof cell === 'object' && cell !== null

const placeTaken = (cell: Inserted): number | null => (isTaken(cell) ? cell.taken : null)

const valueGiven = (cell: Inserted): Stored => (isTaken(cell) ? null : cell)

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
export function printAllocate({ schema, counts }: Allocation): Statement {
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
