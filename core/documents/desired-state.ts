import type { Component, ContentType, RelationAttribute } from '../model/model.ts'
import type { LinkChange } from '../query/command.ts'
import type { Status } from '../query/query.ts'

/**
 * What is to stand in versions of one document, every value in its stored form. Attributes that are not named
 * stay as they are; in a row that is made they are null.
 */
export interface DesiredDocument {
  readonly type: ContentType
  readonly documentId: string
  readonly versions: readonly DesiredVersion[]
  /** What its stamps say, ISO 8601 in UTC with milliseconds; absent: the moment of the write. */
  readonly at?: string
  /** Key for a new document, reserved by the caller. Absent: a generated one. */
  readonly key?: number
}

export interface DesiredVersion {
  /** null exactly on types without locales. */
  readonly locale: string | null
  /** The rows that it covers: `published` alone on types without drafts. */
  readonly statuses: readonly Status[]
  readonly values: Values
  /** What the published row says of when. */
  readonly publishing?: Publishing
  /** What its rows say of themselves; absent: what the moment of the write makes of them. */
  readonly rows?: ReadonlyMap<Status, DesiredRow>
}

/** Stamps are ISO 8601 in UTC with milliseconds. */
export interface DesiredRow {
  /** Id for a new row, reserved by the caller. Absent: a generated one. */
  readonly id?: number
  readonly createdAt: string
  readonly updatedAt: string
  readonly publishedAt: string | null
  /** Of localized types with drafts. */
  readonly sharedUpdatedAt: string | null
}

/** `at`: ISO 8601 in UTC; absent: the moment of the write, or where it `keeps` what a row says that is there, that. */
export interface Publishing {
  readonly at?: string | undefined
  readonly keeps: boolean
}

/** By the attribute's name. */
export type Values = ReadonlyMap<string, DesiredValue>

export type DesiredValue =
  | { readonly kind: 'scalar'; readonly value: Stored }
  | {
      readonly kind: 'links'
      readonly targets: readonly LinkTarget[]
      /** How the list comes about from the one that is there: not known yet, and `targets` only say whether it is empty. */
      readonly change?: LinkChange
      /** What changes in the list, which stays in the database: `targets` only say whether it is empty. */
      readonly edit?: LinkEdit
    }
  | { readonly kind: 'components'; readonly items: readonly DesiredComponent[] }

/** Links with one place for all of them; null: the next at the end. */
export interface Placed {
  readonly entries: readonly LinkTarget[]
  readonly place: number | null
}

/** What publishing a document (or discarding its draft) copies of the links to it: those of one status to the other. */
export interface Alignment {
  readonly from: Status
  readonly to: Status
}

/** Disconnects first. The cost is that of what is named, not of the list. */
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
  readonly attribute: RelationAttribute
  readonly documentId: string
  readonly locale: string | null
  readonly edit: LinkEdit
  /** The published version becomes the draft's equal. */
  readonly publishes: boolean
}

/**
 * A value as PostgreSQL takes it: JSON as its text, decimals and big integers as text, stamps as ISO 8601 in UTC
 * with milliseconds, times without trailing zeros.
 */
export type Stored = null | boolean | number | string

/** A whole list of these, in order, is what a link attribute holds: of a to-one link the last counts. */
export interface LinkTarget {
  readonly documentId: string
  /** Its key inside the database, where that is known already: the documentId counts for nothing then. */
  readonly key?: number
  /** null: the default one, where the link has to name one at all (reference/documents.md#6-what-a-link-stores). */
  readonly locale: string | null
  /** null: both, where the link has to name one at all. */
  readonly status: Status | null
  /** The owner's place in the list of the other side; absent: the one that it has, of a new link the last. */
  readonly inversePlace?: number
}

export interface DesiredComponent {
  readonly component: Component
  /** The component that it changes; null: a new one, or the one in its place (see `ComponentMatch`). */
  readonly id: number | null
  readonly values: Values
}
