import type { Attribute, ContentType } from '../../model/model.ts'
import type { Status } from '../../query/query.ts'
import type { DesiredRow, Publishing, Values } from '../desired-state.ts'
import type { Changes, CurrentRow, RowId } from '../sql/write-rows.ts'
import type { Keys } from './write-keys.ts'
import type { Current } from './write-load.ts'
import type { WriteTerms } from './write-terms.ts'

/** What planning knows, and what it fills. */
export interface Planning {
  readonly current: Current
  readonly keys: Keys
  readonly terms: WriteTerms
  readonly changes: Changes
}

/** Versions of a document that are written alike, or a component in them. */
export interface Owner {
  readonly root: ContentType
  /** The document's key; a component's id. */
  readonly key: RowId
  readonly locale: string | null
  /** The rows covered; each with the id of its own (a component has one id in all statuses). */
  readonly rows: readonly OwnerRow[]
}

export interface OwnerRow {
  readonly status: Status
  readonly id: RowId
}

/** One row of the document: there already, or to be made. */
export interface Version extends OwnerRow {
  readonly locale: string | null
  readonly row: CurrentRow | undefined
  /** What was given for this version alone; undefined: it only takes part in what all locales share. */
  readonly values: Values | undefined
  readonly publishing?: Publishing | undefined
  /** What it says of itself. */
  readonly written?: DesiredRow | undefined
}

/** Attributes that have one value for all locales (documents.md 2), by status. */
export type Shared = ReadonlyMap<Status, Values>

export const isShared = (type: ContentType, attribute: Attribute | undefined): boolean =>
  type.localized && attribute?.localized === false

/** Where components or rows of link tables changed: the locale (null: what all share) and the statuses. */
export type ChangedParts = readonly { readonly locale: string | null; readonly statuses: readonly Status[] }[]
