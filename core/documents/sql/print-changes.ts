import type { ColumnType } from '../../model/storage.ts'
import { quoteIdentifier as ident } from '../../sql/identifier.ts'
import type { Statement } from '../../sql/statement.ts'
import { type Cell, Slot, type Stored } from '../desired-state.ts'
import { nextId, type Sequences, sequenceOf } from './known-sequences.ts'
import { among, listType, type TableColumns, type Tuples, typeOf, unnest, valueType } from './write-print.ts'
import { GAP } from './write-rows.ts'

/** Changes of one statement. Their order is not defined. */
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
  print(own: readonly Cell[], values: unknown[]): string
}

/** A query over the inserted rows of a table, answered by the statement that inserts them. */
export interface ReturningQuery<Placeholder = never> {
  readonly table: string
  /** Its parameters are the first of the statement. */
  readonly text: string
  readonly values: readonly (Stored | Placeholder)[]
}

export interface PrintTerms {
  typesOf(table: string): TableColumns
  readonly taking: Allocation
  /** Asserted by a statement that allocates ids; undefined: nothing to assert. */
  readonly proof?: Assertion<Slot> | undefined
  readonly question?: ReturningQuery<Slot> | undefined
}

/** Most rows that are printed one by one. With more, text and plan cost more than they save. */
export const SHORT_FORM_LIMIT = 24

/** All of it in one statement: PostgreSQL asks whether what rows refer to is there when everything is done. */
export function printChanges(changes: PrintedChanges, terms: PrintTerms): Statement {
  const { removals = [], updates = [], inserts = [] } = changes
  const { typesOf, taking, proof, question } = terms
  const values: unknown[] = [...(question?.values ?? [])]
  const isShort = removals.length + updates.length === 0 && fitsShort(inserts, terms)
  const printInsert = isShort ? printEach : printInserts
  const taken =
    taking.count > 0 ? [`taken$ AS MATERIALIZED (${printTaken(taking, { proof, isShort }, values)})`] : []
  const parts = [
    ...removals.map(one => printDeletes(one, typesOf(one.table), values)),
    ...updates.map(one => printUpdates(one, typesOf(one.table), values)),
    ...inserts.map(one => printInsert(one, typesOf(one.table), values)),
  ]
  const asked = question ? inserts.findIndex(({ table }) => table === question.table) : -1
  const text =
    question && asked >= 0
      ? printReturning(taken, parts, { question, place: parts.length - inserts.length + asked })
      : printLast(taken, parts)
  return { name: nameOf({ removals, updates, inserts }), text, values, ...(isShort && { keepsPlan: true }) }
}

/** Updates are excluded: their text varies with the number of changes, and each text needs its own plan. */
function fitsShort(groups: readonly Insertion[], { taking, proof }: PrintTerms): boolean {
  const rows = groups.reduce((sum, { rows }) => sum + rows.length, 0)
  return (
    rows <= SHORT_FORM_LIMIT &&
    taking.count <= SHORT_FORM_LIMIT &&
    (taking.count === 0 || proof?.form !== null)
  )
}

const printLast = (taken: readonly string[], parts: readonly string[]): string =>
  printWith(
    [...taken, ...parts.slice(0, -1).map((text, index) => `p${index}$ AS (${text})`)],
    parts.at(-1) ?? '',
  )

/** Names the CTE of new rows like their table, so that the query reads only the new rows. */
function printReturning(
  taken: readonly string[],
  parts: readonly string[],
  { question, place }: { readonly question: ReturningQuery<Slot>; readonly place: number },
): string {
  const all = parts.map((text, index) =>
    index === place ? `${ident(question.table)} AS (${text} RETURNING *)` : `p${index}$ AS (${text})`,
  )
  return printWith([...taken, ...all], question.text)
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
export function printAssertion(proof: Assertion): Statement {
  const values: unknown[] = []
  return {
    name: 'prove what the write relies on',
    text: `SELECT ${failUnless(proof.print(proof.values, values))}`,
    values,
    ...(proof.form !== null && { keepsPlan: true }),
  }
}

/** Division by zero if the condition is false. */
export const failUnless = (condition: string): string => `1 / (${condition})::integer`

interface TakenTerms {
  readonly proof: Assertion<Slot> | undefined
  readonly isShort: boolean
}

function printTaken(taking: Allocation, { proof, isShort }: TakenTerms, values: unknown[]): string {
  const ids = printIds(taking, isShort, values)
  return `SELECT ${ids} AS ids${proof ? `, ${failUnless(proof.print(proof.values, values))} AS proof` : ''}`
}

// A few new rows, each value a parameter: PostgreSQL caches the plan and decodes no arrays.

function printEach(insertion: Insertion, types: TableColumns, values: unknown[]): string {
  const { table, columns } = insertion
  const rows = printRows(insertion, types, values).map(cells => cells.join(', '))
  const into = `INSERT INTO ${ident(table)} (${columns.map(ident).join(', ')})`
  const listed = rows.map(row => `(${row})`).join(', ')
  if (!insertion.rows.some(row => row.some(isTaken))) return `${into} VALUES ${listed}`
  return rows.length === 1
    ? `${into} SELECT ${rows[0]} FROM taken$`
    : `${into} SELECT v.* FROM taken$, LATERAL (VALUES ${listed}) AS v`
}

/** Versions of one document hold the same in most columns: that is one parameter. */
function printRows(
  { columns, rows }: Insertion,
  types: TableColumns,
  values: unknown[],
): readonly (readonly string[])[] {
  const first = rows[0] ?? []
  const document = columns.indexOf('document_id')
  const areVersions = document >= 0 && rows.every(row => row[document] === first[document])
  const ofFirst = columns.map((column, index) =>
    printCell(first[index] ?? null, typeOf(types, column), values),
  )
  return rows.map(row =>
    columns.map((column, index) => {
      const cell = row[index] ?? null
      const isSame = row === first || (areVersions && cell === (first[index] ?? null))
      return (isSame ? ofFirst[index] : undefined) ?? printCell(cell, typeOf(types, column), values)
    }),
  )
}

function printCell(cell: Inserted, type: ColumnType, values: unknown[]): string {
  if (!isTaken(cell)) return `$${values.push(cell)}::${valueType(type)}`
  return `taken$.ids[${cell.taken}]${type === 'double precision' ? ` * ${GAP}` : ''}`
}

/** How many ids are taken for which tables. */
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

/** Takes ids for several tables: a row (place of the table, id) each, ascending within a table. */
export const printAllocate = (schema: string, counts: Allocation['counts']): Statement => ({
  name: 'take ids',
  text:
    'SELECT w.place, nextval(pg_get_serial_sequence(w.relation, $3)) ' +
    'FROM unnest($1::text[], $2::integer[]) WITH ORDINALITY AS w (relation, wanted, place), generate_series(1, w.wanted)',
  values: [[...counts.keys()].map(table => `${ident(schema)}.${ident(table)}`), [...counts.values()], 'id'],
})

// Rows of any number, as lists of the values of each column: the text depends on the columns alone.

function printInserts({ table, columns, rows }: Insertion, types: TableColumns, values: unknown[]): string {
  const lists: string[] = []
  const list = (type: string, of: readonly unknown[]) => {
    lists.push(`$${values.push(of)}::${type}`)
    return `v.c${lists.length}`
  }
  const cells = columns.map((column, index) => {
    const type = typeOf(types, column)
    const cells = rows.map(row => row[index] ?? null)
    if (!cells.some(isTaken)) return list(listType(type), cells)
    const id = `taken$.ids[${list('integer[]', cells.map(placeTaken))}]${type === 'double precision' ? ` * ${GAP}` : ''}`
    return cells.every(isTaken) ? id : `coalesce(${id}, ${list(listType(type), cells.map(valueGiven))})`
  })
  const from = cells.some(cell => cell.includes('taken$.')) ? ', taken$' : ''
  const row = lists.map((_, index) => `c${index + 1}`).join(', ')
  return `INSERT INTO ${ident(table)} (${columns.map(ident).join(', ')}) SELECT ${cells.join(', ')} FROM unnest(${lists.join(', ')}) AS v (${row})${from}`
}

const placeTaken = (cell: Inserted): number | null => (isTaken(cell) ? cell.taken : null)

const valueGiven = (cell: Inserted): Cell => (isTaken(cell) ? null : cell)

function printUpdates(rows: Update, types: TableColumns, values: unknown[]): string {
  const { text, values: own } = unnest(rows, types, values.length)
  values.push(...own)
  const sets = rows.columns.slice(rows.keys).map(column => `${ident(column)} = v.${ident(column)}`)
  const where = rows.columns.slice(0, rows.keys).map(column => `t.${ident(column)} = v.${ident(column)}`)
  const row = rows.columns.map(ident).join(', ')
  return `UPDATE ${ident(rows.table)} AS t SET ${sets.join(', ')} FROM ${text} AS v (${row}) WHERE ${where.join(' AND ')}`
}

function printDeletes(match: Tuples, types: TableColumns, values: unknown[]): string {
  const { text, values: own } = unnest(match, types, values.length)
  values.push(...own)
  return `DELETE FROM ${ident(match.table)} WHERE ${among(match.columns, text)}`
}

/** A cell of a new row; `taken`: the id at this position, from 1, of the ids that the statement allocates. */
export type Inserted = Cell | { readonly taken: number }

const isTaken = (cell: Inserted): cell is { readonly taken: number } =>
  typeof cell === 'object' && cell !== null && !(cell instanceof Slot)

export interface Insertion {
  readonly table: string
  readonly columns: readonly string[]
  readonly rows: readonly (readonly Inserted[])[]
}

/** `keys`: how many of the columns, the first, say which row is meant; the rest is what it gets. */
export interface Update extends Tuples {
  readonly keys: number
}
