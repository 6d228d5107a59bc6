import type { Status } from '../../core/query/query.ts'

/**
 * The stream of documents that `plinth export` writes and `plinth import` reads: NDJSON, UTF-8. Its first line is a
 * `Header`, every other one a `StreamedDocument`, in any order: links may lead to documents further on. docs/transfer.md
 * is its description for users.
 */
export const FORMAT = 1

/** The first line: the types of the documents. */
export interface Header {
  readonly plinth: 'documents'
  readonly format: typeof FORMAT
  /** The name of the source project. */
  readonly project: string
  /** SHA-256 of `types` and `components`, hexadecimal. */
  readonly fingerprint: string
  /** True if the values include password hashes. */
  readonly passwords: boolean
  readonly locales: readonly string[]
  /** The types of the documents, by uid. */
  readonly types: Readonly<Record<string, DescribedType>>
  /** The components used by the types, by uid. */
  readonly components: Readonly<Record<string, DescribedAttributes>>
}

export interface DescribedType {
  readonly draftAndPublish: boolean
  readonly localized: boolean
  readonly attributes: DescribedAttributes
}

/** Attribute name → type, such as `string`, `media[]`, `relation api::author.author`, `zone blocks.quote, shared.link`. */
export type DescribedAttributes = Readonly<Record<string, string>>

/** A complete document: missing attributes are null, or an empty list. */
export interface StreamedDocument {
  /** The uid. */
  readonly type: string
  readonly documentId: string
  /** The number that links refer to, if it is not the lowest `id` of the versions. Same rules as for `id`. */
  readonly key?: number
  /** At least one. A published version needs its draft, if the type has drafts. */
  readonly versions: readonly StreamedVersion[]
  /** For localized types: attributes shared by all locales, by status (`published` for types without drafts). */
  readonly shared?: Readonly<Partial<Record<Status, StreamedValues>>>
}

export interface StreamedVersion {
  /**
   * The row number. It is kept if the database has no document of the type yet, so that lists
   * without a sort keep their order. Absent: a new number.
   */
  readonly id?: number
  /** Present on localized types only. */
  readonly locale?: string
  /** Present on types with drafts only. */
  readonly status?: Status
  /** ISO 8601. Absent: the time of the import. */
  readonly createdAt?: string
  /** Absent: `createdAt`. */
  readonly updatedAt?: string
  /** Absent: null in drafts, else `updatedAt`. */
  readonly publishedAt?: string | null
  /** For localized types with drafts: when the shared attributes were last changed. Absent: `updatedAt`. */
  readonly sharedUpdatedAt?: string | null
  readonly values: StreamedValues
}

/**
 * Values by attribute name. Scalars as in REST, except that JSON texts are plain texts, and passwords are
 * `{ "hash": … }` (bcrypt). Relations (of the side that stores them: `inversedBy`, or one-way) and media: a
 * `StreamedLink`, a list of them where there are many, in order. Components: an object, or a list of them; in dynamic
 * zones each with its `__component` first.
 */
export type StreamedValues = Readonly<Record<string, unknown>>

/** A plain documentId if nothing else is needed. Roles are identified by their key in project.yaml, locales by their code. */
export type StreamedLink = string | StreamedTarget

export interface StreamedTarget {
  readonly documentId: string
  /** Only if the target is localized and the owner is not. Absent: the default locale. */
  readonly locale?: string
  /** Only if the target has drafts and the owner has none. Absent: both statuses. */
  readonly status?: Status
  /** The owner's position in the list of the other side; only the order of the numbers matters. Absent: at the end. */
  readonly order?: number
}
