import type { Attribute, ContentType } from '../../model/model.ts'
import type { Status } from '../../query/query.ts'
import type { DesiredRow, Publishing, Slot, Values } from '../desired-state.ts'
import type { Changes, CurrentRow, RowId } from '../sql/write-rows.ts'
import type { Keys } from './write-keys.ts'
import type { Current } from './write-load.ts'
import type { WritePlanOptions } from './write-options.ts'

/** Input of planning, and the changes that it collects. */
export interface Planning {
  readonly current: Current
  readonly keys: Keys
  readonly options: WritePlanOptions
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

/** One row of the document, stored or new. */
export interface Version extends OwnerRow {
  readonly locale: string | null
  readonly row: CurrentRow | undefined
  /** Values of this version only; undefined: only values shared by all locales change. */
  readonly values: Values<Slot> | undefined
  readonly publishing?: Publishing<Slot> | undefined
  /** Id and timestamps, if the writer sets them (imports). */
  readonly written?: DesiredRow | undefined
}

/** Attributes that have one value for all locales (reference/documents.md#2-shared-attributes), by status. */
export type Shared = ReadonlyMap<Status, Values<Slot>>

export const isShared = (type: ContentType, attribute: Attribute | undefined): boolean =>
  type.localized && attribute?.localized === false

/** Locales (null: shared by all) and statuses whose components or link rows changed. */
export type ChangedParts = readonly { readonly locale: string | null; readonly statuses: readonly Status[] }[]
