import { isSameJson } from '../../base/plain-data.ts'
import type { DesiredCell, OwnEdit, Slot, Stored } from '../desired-state.ts'

/** The id of a new row. Rows that refer to it share this object. */
export interface NewId {
  readonly kind: 'new-id'
  readonly table: string
  /** Ids are assigned in this order, because ids decide the order of new list entries. */
  readonly turn: number
}

/** A place at the end of every list of a table: the next value of the sequence of its ids, times the gap. */
export interface NewPlace {
  readonly kind: 'place'
  readonly of: NewId
}

export type RowId = number | NewId

/** A key that a link names: of a stored row, of a new row, or one that a template leaves open. */
export type LinkKey = RowId | Slot

export type RowValue = DesiredCell | NewId | NewPlace

/** True for ids and places that are assigned by a sequence. */
export const isNew = (value: RowValue): value is NewId | NewPlace =>
  typeof value === 'object' && value !== null && value.kind !== 'slot'

/** By column. */
export type Columns = ReadonlyMap<string, RowValue>

export interface NewRow {
  readonly table: string
  readonly columns: Columns
}

export interface ChangedRow {
  readonly table: string
  readonly key: ReadonlyMap<string, Stored>
  /** Only what changes. */
  readonly columns: Columns
}

export interface RemovedRow {
  readonly table: string
  readonly key: ReadonlyMap<string, Stored>
}

/** Rows that hold an exclusive link. Their columns are set to null before the new link is written. */
export interface Release {
  readonly table: string
  /** Values that identify such rows. */
  readonly holding: ReadonlyMap<string, DesiredCell>
  readonly columns: readonly string[]
  /** The columns are NOT NULL: they get an unused value instead. */
  readonly filled?: true
}

/** Collected while documents are planned, and executed in the order of the fields. */
export interface Changes {
  readonly removals: RemovedRow[]
  readonly releases: Release[]
  readonly updates: ChangedRow[]
  readonly inserts: NewRow[]
  /** Tables of links of which whole lists are written: a new one is none of those that go or stay. */
  readonly links: Set<string>
  /** Lists that are edited where they are, once the rows are there. */
  readonly edits: OwnEdit[]
}

export const noChanges = (): Changes => ({
  removals: [],
  releases: [],
  updates: [],
  inserts: [],
  links: new Set(),
  edits: [],
})

export const countChanges = ({ removals, releases, updates, inserts }: Changes): number =>
  removals.length + releases.length + updates.length + inserts.length

let turns = 0

export const newId = (table: string): NewId => ({ kind: 'new-id', table, turn: turns++ })

export const placeAtEnd = (table: string): NewPlace => ({ kind: 'place', of: newId(table) })

/** Between one link and the next that is appended. Halved for each link put between two, it lasts 50 times. */
export const GAP = 1024

/** A row as it is in the database. */
export type CurrentRow = ReadonlyMap<string, Stored>

export function numberIn(row: CurrentRow, column: string): number {
  const value = row.get(column)
  if (typeof value !== 'number') throw new TypeError(`column ${column} holds no number`)
  return value
}

/** The given columns whose value differs from the row. */
export function changedColumns(row: CurrentRow, columns: Columns): Columns {
  return new Map([...columns].filter(([name, value]) => !isSame(row.get(name) ?? null, value)))
}

function isSame(current: Stored, wanted: RowValue): boolean {
  if (current === wanted) return true
  if (typeof current !== 'string' || typeof wanted !== 'string') return false
  return isSameJsonText(current, wanted)
}

/** PostgreSQL prints JSON in a way of its own. Texts that are no JSON differ where their characters do. */
function isSameJsonText(current: string, wanted: string): boolean {
  if (!/^\s*[[{"]/.test(wanted)) return false
  try {
    return isSameJson(JSON.parse(current), JSON.parse(wanted))
  } catch (error) {
    if (error instanceof SyntaxError) return false
    throw error
  }
}
