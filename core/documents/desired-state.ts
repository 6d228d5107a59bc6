import type { Component, ContentType, MediaAttribute, RelationAttribute } from '../model/model.ts'
import type { LinkChange } from '../query/command.ts'
import type { Status } from '../query/query.ts'

/**
 * The desired values of versions of one document, all in their stored form. Attributes that are not named do not change; in a
 * new row they are null. `Placeholder`: `Slot` while a template is planned (write-documents.ts).
 */
export interface DesiredDocument<Placeholder = never> {
  readonly type: ContentType
  readonly documentId: string | Placeholder
  readonly versions: readonly DesiredVersion<Placeholder>[]
  /** Its time stamps, ISO 8601 in UTC with milliseconds; absent: the time of the write. */
  readonly at?: string
  /** Key for a new document, reserved by the caller. Absent: a generated one. */
  readonly key?: number
}

export interface DesiredVersion<Placeholder = never> {
  /** null exactly on types without locales. */
  readonly locale: string | null
  /** The rows that it covers: `published` alone on types without drafts. */
  readonly statuses: readonly Status[]
  readonly values: Values<Placeholder>
  /** The publication time of the published row. */
  readonly publishing?: Publishing<Placeholder>
  /** Ids and time stamps of its rows; absent: generated ids, and the time of the write. */
  readonly rows?: ReadonlyMap<Status, DesiredRow>
}

/** Stamps are ISO 8601 in UTC with milliseconds. */
export interface DesiredRow {
  /** Id for a new row, reserved by the caller. Absent: a generated one. */
  readonly id?: number
  readonly createdAt: string
  readonly updatedAt: string
  readonly publishedAt: string | null
  /** Timestamp of the shared values; null unless the type is localized and has drafts. */
  readonly sharedUpdatedAt: string | null
}

/** `at`: ISO 8601 in UTC; absent: the time of the write. `keeps`: a stored time does not change. */
export interface Publishing<Placeholder = never> {
  readonly at?: string | Placeholder | undefined
  readonly keeps: boolean
}

/** By the attribute's name. */
export type Values<Placeholder = never> = ReadonlyMap<string, DesiredValue<Placeholder>>

export type DesiredValue<Placeholder = never> =
  | { readonly kind: 'scalar'; readonly value: Stored | Placeholder }
  | {
      readonly kind: 'links'
      readonly targets: readonly LinkTarget<Placeholder>[]
      /** A change of the stored list, not applied yet. `targets` only shows if the list will be empty. */
      readonly change?: LinkChange
      /** An edit of the stored list, which is not loaded. `targets` only shows if the list will be empty. */
      readonly edit?: LinkEdit
    }
  | { readonly kind: 'components'; readonly items: readonly DesiredComponent<Placeholder>[] }

/** Links with one place for all of them; null: the next at the end. */
export interface Placed {
  readonly entries: readonly LinkTarget[]
  readonly place: number | null
}

/** Publishing a document, or discarding its draft, copies the links to it from one status to the other. */
export interface Alignment {
  readonly from: Status
  readonly to: Status
}

/** Disconnects first. The cost depends on the named links, not on the length of the list. */
export interface LinkEdit {
  readonly disconnect: readonly LinkTarget[]
  readonly connect: readonly Placed[]
  /** Links that one status has and the other has not are copied: publishing, or discarding the draft. */
  readonly align?: LinkAlignment
}

export interface LinkAlignment extends Alignment {
  /** Keys of the owners that are affected; locked. */
  readonly owners: readonly number[]
}

/** A to-many list that a version of a document owns, edited where it is. */
export interface OwnEdit {
  readonly type: ContentType
  readonly attribute: RelationAttribute | MediaAttribute
  readonly documentId: string
  readonly locale: string | null
  readonly edit: LinkEdit
  /** The published version becomes equal to the draft. */
  readonly publishes: boolean
}

/**
 * A value as PostgreSQL takes it: JSON as its text, decimals and big integers as text, stamps as ISO 8601 in UTC
 * with milliseconds, times without trailing zeros.
 */
export type Stored = null | boolean | number | string

export const isStored = (value: unknown): value is Stored =>
  value === null || ['string', 'number', 'boolean'].includes(typeof value)

/** A placeholder for a value in a template: the parameter gets the value with this index. Client values never equal it. */
export class Slot {
  readonly kind = 'slot'
  readonly index: number

  constructor(index: number) {
    this.index = index
  }
}

/** A value of a column, or the slot of one. */
export type DesiredCell = Stored | Slot

/** A link attribute holds an ordered list of targets. Of a to-one link the last one counts. */
export interface LinkTarget<Placeholder = never> {
  readonly documentId: string
  /** Its key in the database, if it is known. The documentId is ignored then. */
  readonly key?: number | Placeholder
  /** null: the default locale, if the link stores a locale (reference/documents.md#6-what-a-link-stores). */
  readonly locale: string | null
  /** null: both statuses, if the link stores a status. */
  readonly status: Status | null
  /** The owner's place in the list of the other side; absent: its current place, or the last one for a new link. */
  readonly inversePlace?: number
}

export interface DesiredComponent<Placeholder = never> {
  readonly component: Component
  /** The component to change; null: a new one, or the one at its position (see `ComponentMatch`). */
  readonly id: number | null
  readonly values: Values<Placeholder>
}
