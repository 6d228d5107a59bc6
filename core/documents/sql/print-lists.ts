import { quoteIdentifier as name } from '../../sql/identifier.ts'
import type { Stored } from '../desired-state.ts'
import { among, listType, type TableColumns, type Tuples, typeOf, unnest } from './write-print.ts'
import { GAP } from './write-rows.ts'

// Rows of any number, as lists of the values of each column: the text depends on the columns alone.

export function printInserts(
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
    if (!cells.some(isTaken)) return list(listType(type), cells)
    const id = `taken$.ids[${list('integer[]', cells.map(placeTaken))}]${type === 'double precision' ? ` * ${GAP}` : ''}`
    return cells.every(isTaken) ? id : `coalesce(${id}, ${list(listType(type), cells.map(valueGiven))})`
  })
  const from = cells.some(cell => cell.includes('taken$.')) ? ', taken$' : ''
  const row = lists.map((_, index) => `c${index + 1}`).join(', ')
  return `INSERT INTO ${name(table)} (${columns.map(name).join(', ')}) SELECT ${cells.join(', ')} FROM unnest(${lists.join(', ')}) AS v (${row})${from}`
}

const placeTaken = (cell: Inserted): number | null => (isTaken(cell) ? cell.taken : null)

const valueGiven = (cell: Inserted): Stored => (isTaken(cell) ? null : cell)

export function printUpdates(rows: Update, types: TableColumns, values: unknown[]): string {
  const { text, values: own } = unnest(rows, types, values.length)
  values.push(...own)
  const sets = rows.columns.slice(rows.keys).map(column => `${name(column)} = v.${name(column)}`)
  const where = rows.columns.slice(0, rows.keys).map(column => `t.${name(column)} = v.${name(column)}`)
  const row = rows.columns.map(name).join(', ')
  return `UPDATE ${name(rows.table)} AS t SET ${sets.join(', ')} FROM ${text} AS v (${row}) WHERE ${where.join(' AND ')}`
}

export function printDeletes(match: Tuples, types: TableColumns, values: unknown[]): string {
  const { text, values: own } = unnest(match, types, values.length)
  values.push(...own)
  return `DELETE FROM ${name(match.table)} WHERE ${among(match.columns, text)}`
}

/** What a new row holds; `taken`: the id at this place, from 1, of those that the statement takes. */
export type Inserted = Stored | { readonly taken: number }

export const isTaken = (cell: Inserted): cell is { readonly taken: number } =>
  typeof cell === 'object' && cell !== null

export interface Insertion {
  readonly table: string
  readonly columns: readonly string[]
  readonly rows: readonly (readonly Inserted[])[]
}

/** `keys`: how many of the columns, the first, say which row is meant; the rest is what it gets. */
export interface Update extends Tuples {
  readonly keys: number
}
