import type { Stored } from '../desired-state.ts'
import type { Tuples } from './write-print.ts'

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
