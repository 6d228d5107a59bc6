import { quoteIdentifier as name, quoteText } from '../sql/identifier.ts'
import type { Statement } from '../sql/statement.ts'
import { among, listType, type TableColumns, type Tuples, unnest } from './write-print.ts'
import { GAP } from './write-rows.ts'
import type { Stored } from './written.ts'

/** What a new row holds; `taken`: the id at this place, from 1, of those that the statement takes. */
export type Inserted = Stored | { readonly taken: number }

export interface Insertion {
  readonly table: string
  readonly columns: readonly string[]
  readonly rows: readonly (readonly Inserted[])[]
}

/** `keys`: how many of the columns, the first, say which row is meant; the rest is what it gets. */
export interface Update extends Tuples {
  readonly keys: number
}

/** What one statement does; in no order that could be relied on. */
export interface PrintedChanges {
  readonly removals?: readonly Tuples[]
  readonly updates?: readonly Update[]
  readonly inserts?: readonly Insertion[]
}

/** How many ids are taken from the sequences of which tables. */
export interface Allocation {
  /** Of the tables. */
  readonly schema: string
  readonly counts: ReadonlyMap<string, number>
}

/** Prints a condition; its parameters are put behind those that are there. */
export type PrintCondition = (values: unknown[]) => string

export interface PrintTerms {
  typesOf(table: string): TableColumns
  readonly taking: Allocation
  /** Proved by a statement that takes ids; undefined: nothing is. */
  readonly proof?: PrintCondition | undefined
}

/** All of it in one statement: PostgreSQL asks whether what rows refer to is there when everything is done. */
export function printChanges(
  { removals = [], updates = [], inserts = [] }: PrintedChanges,
  { typesOf, taking, proof }: PrintTerms,
): Statement {
  const values: unknown[] = []
  const taken =
    taking.counts.size === 0 ? [] : [`taken AS MATERIALIZED (${printTaken(taking, proof, values)})`]
  const parts = [
    ...removals.map(each => printDelete(each, typesOf(each.table), values)),
    ...updates.map(each => printUpdate(each, typesOf(each.table), values)),
    ...inserts.map(each => printInsert(each, typesOf(each.table), values)),
  ]
  const others = parts.slice(0, -1).map((text, index) => `p${index} AS (${text})`)
  const last = parts.at(-1) ?? ''
  const before = [...taken, ...others]
  const text = before.length === 0 ? last : `WITH ${before.join(', ')} ${last}`
  return { name: nameOf({ removals, updates, inserts }), text, values }
}

function nameOf({ removals, updates, inserts }: Required<PrintedChanges>): string {
  const tables = [...removals, ...updates, ...inserts].map(({ table }) => table)
  const words = [
    ...(removals.length > 0 ? ['delete from'] : []),
    ...(updates.length > 0 ? ['update'] : []),
    ...(inserts.length > 0 ? ['insert into'] : []),
  ]
  return `${words.length === 1 ? words.join() : 'write'} ${[...new Set(tables)].join(', ')}`
}

/** Fails where a condition does not hold. */
export function printProof(proof: PrintCondition): Statement {
  const values: unknown[] = []
  return {
    name: 'prove what the write relies on',
    text: `SELECT ${unless(proof(values))}`,
    values,
  }
}

/** Divides by zero. */
const unless = (condition: string): string => `1 / (${condition})::integer`

/** One list of all ids, those of a table ascending. */
function printTaken(
  { schema, counts }: Allocation,
  proof: PrintCondition | undefined,
  values: unknown[],
): string {
  const lists = Array.from(counts, ([table, count]) => {
    const relation = quoteText(`${name(schema)}.${name(table)}`)
    return `ARRAY(SELECT nextval((SELECT pg_get_serial_sequence(${relation}, 'id')::regclass)) FROM generate_series(1, $${values.push(count)}::integer))`
  })
  return `SELECT ${lists.join(' || ')} AS ids${proof ? `, ${unless(proof(values))} AS proof` : ''}`
}

function printInsert({ table, columns, rows }: Insertion, types: TableColumns, values: unknown[]): string {
  const lists: string[] = []
  const list = (type: string, of: readonly unknown[]) => {
    lists.push(`$${values.push(of)}::${type}`)
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

function printUpdate(rows: Update, types: TableColumns, values: unknown[]): string {
  const { text, values: own } = unnest(rows, types, values.length)
  values.push(...own)
  const sets = rows.columns.slice(rows.keys).map(column => `${name(column)} = v.${name(column)}`)
  const where = rows.columns.slice(0, rows.keys).map(column => `t.${name(column)} = v.${name(column)}`)
  const row = rows.columns.map(name).join(', ')
  return `UPDATE ${name(rows.table)} AS t SET ${sets.join(', ')} FROM ${text} AS v (${row}) WHERE ${where.join(' AND ')}`
}

function printDelete(match: Tuples, types: TableColumns, values: unknown[]): string {
  const { text, values: own } = unnest(match, types, values.length)
  values.push(...own)
  return `DELETE FROM ${name(match.table)} WHERE ${among(match.columns, text)}`
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
