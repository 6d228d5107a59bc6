import type { ColumnType } from '../../model/storage.ts'
import { quoteConstant } from '../../sql/ddl.ts'
import { quoteIdentifier as ident } from '../../sql/identifier.ts'
import type { Statement } from '../../sql/statement.ts'
import { type DesiredCell, Slot, type Stored } from '../desired-state.ts'
import { nextId, type Sequences, sequenceOf } from './known-sequences.ts'
import { among, listType, type TableColumns, type Tuples, typeOf, unnest, valueType } from './write-print.ts'
import { GAP } from './write-rows.ts'

/** Changes of rows that one statement makes, in any order. */
export interface PrintedChanges {
  readonly removals?: readonly Tuples[]
  readonly updates?: readonly Update[]
  readonly inserts?: readonly Insertion[]
}

/** A condition that has to hold for a write. */
export interface Assertion<Placeholder = never> {
  /** Cache key of the printed text, which does not depend on the values; null: the parameters are lists. */
  readonly form: string | null
  readonly values: readonly (Stored | Placeholder)[]
  /** Prints the condition with `own` in place of its values, and appends them to the parameters `values`. */
  print(own: readonly DesiredCell[], values: unknown[]): string
}

/** All of them; undefined: there are none. */
export function joinAssertions(input: readonly (Assertion | undefined)[]): Assertion | undefined {
  const all = input.filter(each => each !== undefined)
  return all.length > 1 ? combineAssertions(all, 'AND') : all[0]
}

/** All or any of several assertions. */
export function combineAssertions(all: readonly Assertion[], by: 'AND' | 'OR'): Assertion {
  const isShort = all.every(({ form }) => form !== null)
  return {
    form: isShort ? all.map(({ form }) => `(${form})`).join(` ${by} `) : null,
    values: isShort ? all.flatMap(({ values }) => values) : [],
    print(own, values) {
      let start = 0
      const parts = all.map(each => {
        const end = start + each.values.length
        const part = each.print(isShort ? own.slice(start, end) : each.values, values)
        start = end
        return part
      })
      return `(${parts.join(` ${by} `)})`
    },
  }
}

/** The opposite of an assertion. */
export const negateAssertion = (one: Assertion): Assertion => ({
  ...one,
  form: one.form === null ? null : `NOT (${one.form})`,
  print: (own, values) => `NOT ${one.print(own, values)}`,
})

/** A query over the inserted rows of a table, answered by the statement that inserts them. */
export interface ReturningQuery<Placeholder = never> {
  readonly table: string
  /** Its parameters are the first of the statement. */
  readonly text: string
  /** Represents the text in keys of caches: queries that share a text share it. */
  readonly plan: object
  readonly values: readonly (Stored | Placeholder)[]
}

/** What the statement needs besides the changes. */
export interface PrintOptions {
  /** The column types of a table. */
  typesOf(table: string): TableColumns
  /** The ids that the statement takes from sequences for its new rows. */
  readonly allocation: Allocation
  /** Asserted by a statement that allocates ids; undefined: nothing to assert. */
  readonly assertion?: Assertion<Slot> | undefined
  readonly returning?: ReturningQuery<Slot> | undefined
}

/** The largest number of rows with one parameter per value. More rows are passed as arrays: their text and plan would cost more. */
export const SHORT_FORM_LIMIT = 24

/**
 * Prints all changes as one statement. PostgreSQL checks foreign keys at its end, so new rows may reference each other in
 * any order.
 */
export function printChanges(changes: PrintedChanges, options: PrintOptions): Statement {
  const { removals = [], updates = [], inserts = [] } = changes
  const { typesOf, allocation, assertion, returning } = options
  const values: unknown[] = [...(returning?.values ?? [])]
  const isShort = removals.length + updates.length === 0 && fitsShort(inserts, options)
  const printInsert = isShort ? printShortInsert : printListInsert
  const allocationParts =
    allocation.count > 0
      ? [`allocated$ AS MATERIALIZED (${printAllocation(allocation, { assertion, isShort }, values)})`]
      : []
  const parts = [
    ...removals.map(one => printDeletes(one, typesOf(one.table), values)),
    ...updates.map(one => printUpdates(one, typesOf(one.table), values)),
    ...inserts.map(one => printInsert(one, typesOf(one.table), values)),
  ]
  const answering = returning ? inserts.findIndex(({ table }) => table === returning.table) : -1
  const text =
    returning && answering >= 0
      ? printReturning(allocationParts, parts, {
          returning,
          index: parts.length - inserts.length + answering,
        })
      : printLast(allocationParts, parts)
  return { name: nameOf({ removals, updates, inserts }), text, values, ...(isShort && { keepsPlan: true }) }
}

/** Updates are excluded: their text varies with the number of changes, and each text needs its own plan. */
function fitsShort(groups: readonly Insertion[], { allocation, assertion }: PrintOptions): boolean {
  const rows = groups.reduce((sum, { rows }) => sum + rows.length, 0)
  return (
    rows <= SHORT_FORM_LIMIT &&
    allocation.count <= SHORT_FORM_LIMIT &&
    (allocation.count === 0 || assertion?.form !== null)
  )
}

/** The last change is the main query; the others are its CTEs. */
const printLast = (allocationParts: readonly string[], parts: readonly string[]): string =>
  printWith(
    [...allocationParts, ...parts.slice(0, -1).map((text, index) => `p${index}$ AS (${text})`)],
    parts.at(-1) ?? '',
  )

/** Names the CTE of new rows like their table, so that the query reads only the new rows. `index`: of that part. */
function printReturning(
  allocationParts: readonly string[],
  parts: readonly string[],
  { returning, index }: { readonly returning: ReturningQuery<Slot>; readonly index: number },
): string {
  const all = parts.map((text, at) =>
    at === index ? `${ident(returning.table)} AS (${text} RETURNING *)` : `p${at}$ AS (${text})`,
  )
  return printWith([...allocationParts, ...all], returning.text)
}

const printWith = (before: readonly string[], last: string): string =>
  before.length === 0 ? last : `WITH ${before.join(', ')} ${last}`

function nameOf({ removals, updates, inserts }: Required<PrintedChanges>): string {
  const tables = [...removals, ...updates, ...inserts].map(({ table }) => table)
  const words = [
    ...(removals.length > 0 ? ['delete from'] : []),
    ...(updates.length > 0 ? ['update'] : []),
    ...(inserts.length > 0 ? ['insert into'] : []),
  ]
  return `${words.length === 1 ? words.join() : 'write'} ${[...new Set(tables)].join(', ')}`
}

/** A statement that fails if a condition is false. */
export function printAssertion(assertion: Assertion): Statement {
  const values: unknown[] = []
  return {
    name: 'check the assertion of a write',
    text: `SELECT ${failUnless(assertion.print(assertion.values, values))}`,
    values,
    ...(assertion.form !== null && { keepsPlan: true }),
  }
}

/** Fails if the condition does not hold. PostgreSQL logs the refused text: it says that nothing is wrong. */
export const failUnless = (condition: string): string =>
  `(CASE WHEN ${condition} THEN '1' ELSE ${quoteConstant(REPEATED)} END)::integer`

const REPEATED = 'an assertion does not hold, so Plinth repeats this write in several statements'

interface AllocationOptions {
  readonly assertion: Assertion<Slot> | undefined
  readonly isShort: boolean
}

function printAllocation(
  allocation: Allocation,
  { assertion, isShort }: AllocationOptions,
  values: unknown[],
): string {
  const ids = printIds(allocation, isShort, values)
  return `SELECT ${ids} AS ids${assertion ? `, ${failUnless(assertion.print(assertion.values, values))} AS assertion` : ''}`
}

/** A few new rows with one parameter per value: PostgreSQL caches the plan and decodes no arrays. The ids are in `allocated$`. */
export function printShortInsert(insertion: Insertion, types: TableColumns, values: unknown[]): string {
  const { table, columns } = insertion
  const rows = printRows(insertion, types, values).map(cells => cells.join(', '))
  const into = `INSERT INTO ${ident(table)} (${columns.map(ident).join(', ')})`
  const listed = rows.map(row => `(${row})`).join(', ')
  if (!insertion.rows.some(row => row.some(isAllocated))) return `${into} VALUES ${listed}`
  return rows.length === 1
    ? `${into} SELECT ${rows[0]} FROM allocated$`
    : `${into} SELECT v.* FROM allocated$, LATERAL (VALUES ${listed}) AS v`
}

interface PrintedRow {
  readonly row: readonly Inserted[]
  readonly cells: readonly string[]
}

/** Versions of one document or component follow each other and have the same value in most columns. They share one parameter. */
function printRows(
  { columns, rows }: Insertion,
  types: TableColumns,
  values: unknown[],
): readonly (readonly string[])[] {
  const all: PrintedRow[] = []
  for (const row of rows) {
    const last = all.at(-1)
    const twin = last && areVersions(columns, row, last.row) ? last : undefined
    const cells = columns.map((column, index) => {
      const cell = row[index] ?? null
      const same = twin && cell === (twin.row[index] ?? null) ? twin.cells[index] : undefined
      return same ?? printCell(cell, typeOf(types, column), values)
    })
    all.push({ row, cells })
  }
  return all.map(({ cells }) => cells)
}

function areVersions(
  columns: readonly string[],
  one: readonly Inserted[],
  other: readonly Inserted[],
): boolean {
  const document = columns.indexOf('document_id')
  if (document >= 0) return one[document] === other[document]
  const [id, otherId] = [one, other].map(row => allocatedIndex(row[columns.indexOf('id')] ?? null))
  return id !== null && id === otherId
}

function printCell(cell: Inserted, type: ColumnType, values: unknown[]): string {
  if (!isAllocated(cell)) return `$${values.push(cell)}::${valueType(type)}`
  return `allocated$.ids[${cell.allocated}]${type === 'double precision' ? ` * ${GAP}` : ''}`
}

/** How many ids are allocated for which tables. */
export interface Allocation {
  readonly counts: ReadonlyMap<string, number>
  /** The number of ids for all tables. */
  readonly count: number
  readonly sequences: Sequences
}

/** One list of all ids, those of a table ascending. */
function printIds({ counts, sequences }: Allocation, isShort: boolean, values: unknown[]): string {
  const next = (table: string) => nextId(sequenceOf(sequences, table))
  if (!isShort)
    return Array.from(
      counts,
      ([table, count]) =>
        `ARRAY(SELECT ${next(table)} FROM generate_series(1, $${values.push(count)}::integer))`,
    ).join(' || ')
  const each = [...counts].flatMap(([table, count]) => new Array<string>(count).fill(next(table)))
  return `ARRAY[${each.join(', ')}]`
}

/** Allocates ids for several tables. Answers one row per id: the number of the table in `counts`, from 1, and the id. */
export const printAllocate = (schema: string, counts: Allocation['counts']): Statement => ({
  name: 'allocate ids',
  text:
    'SELECT w.place, nextval(pg_get_serial_sequence(w.relation, $3)) ' +
    'FROM unnest($1::text[], $2::integer[]) WITH ORDINALITY AS w (relation, wanted, place), generate_series(1, w.wanted)',
  values: [[...counts.keys()].map(table => `${ident(schema)}.${ident(table)}`), [...counts.values()], 'id'],
})

/** Any number of rows, as one array per column: the text depends on the columns alone. */
function printListInsert(
  { table, columns, rows }: Insertion,
  types: TableColumns,
  values: unknown[],
): string {
  const lists: string[] = []
  const list = (type: string, of: readonly unknown[]) => {
    lists.push(`$${values.push(of)}::${type}`)
    return `v.c${lists.length}`
  }
  const cells = columns.map((column, index) => {
    const type = typeOf(types, column)
    const cells = rows.map(row => row[index] ?? null)
    if (!cells.some(isAllocated)) return list(listType(type), cells)
    const id = `allocated$.ids[${list('integer[]', cells.map(allocatedIndex))}]${type === 'double precision' ? ` * ${GAP}` : ''}`
    return cells.every(isAllocated) ? id : `coalesce(${id}, ${list(listType(type), cells.map(givenValue))})`
  })
  const from = cells.some(cell => cell.includes('allocated$.')) ? ', allocated$' : ''
  const row = lists.map((_, index) => `c${index + 1}`).join(', ')
  return `INSERT INTO ${ident(table)} (${columns.map(ident).join(', ')}) SELECT ${cells.join(', ')} FROM unnest(${lists.join(', ')}) AS v (${row})${from}`
}

const allocatedIndex = (cell: Inserted): number | null => (isAllocated(cell) ? cell.allocated : null)

const givenValue = (cell: Inserted): DesiredCell => (isAllocated(cell) ? null : cell)

function printUpdates(rows: Update, types: TableColumns, values: unknown[]): string {
  const { text, values: own } = unnest(rows, types, values.length)
  values.push(...own)
  const sets = rows.columns.slice(rows.keys).map(column => `${ident(column)} = v.${ident(column)}`)
  const where = rows.columns.slice(0, rows.keys).map(column => `t.${ident(column)} = v.${ident(column)}`)
  const row = rows.columns.map(ident).join(', ')
  return `UPDATE ${ident(rows.table)} AS t SET ${sets.join(', ')} FROM ${text} AS v (${row}) WHERE ${where.join(' AND ')}`
}

function printDeletes(match: Tuples, types: TableColumns, values: unknown[]): string {
  const { lists, values: own } = unnest(match, types, values.length)
  values.push(...own)
  return `DELETE FROM ${ident(match.table)} WHERE ${among(match.columns, lists)}`
}

/** A cell of a new row. `allocated`: the index, from 1, of an id among those that the statement allocates. */
export type Inserted = DesiredCell | { readonly allocated: number }

const isAllocated = (cell: Inserted): cell is { readonly allocated: number } =>
  typeof cell === 'object' && cell !== null && !(cell instanceof Slot)

/** New rows of one table. */
export interface Insertion {
  readonly table: string
  readonly columns: readonly string[]
  readonly rows: readonly (readonly Inserted[])[]
}

/** An update of several rows. The first `keys` columns identify a row; the others are set. */
export interface Update extends Tuples {
  readonly keys: number
}
