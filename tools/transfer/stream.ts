import type { Status } from '../../core/query/query.ts'

/**
 * The stream of documents that `plinth export` writes and `plinth import` reads: NDJSON, UTF-8. Its first line is a
 * `Header`, every other one a `StreamedDocument`, in any order: links may lead to documents further on. docs/transfer.md
 * is its description for users.
 */
export const FORMAT = 1

/** What the documents fit: the first line. */
export interface Header {
  readonly plinth: 'documents'
  readonly format: typeof FORMAT
  /** The name of the project that they come from. */
  readonly project: string
  /** Of `types` and `components`; SHA-256, hexadecimal. */
  readonly fingerprint: string
  /** Whether hashes of passwords are among the values. */
  readonly passwords: boolean
  readonly locales: readonly string[]
  /** Those that the stream may hold documents of, by uid. */
  readonly types: Readonly<Record<string, DescribedType>>
  /** Those that the types are made of, by uid. */
  readonly components: Readonly<Record<string, DescribedAttributes>>
}

export interface DescribedType {
  readonly draftAndPublish: boolean
  readonly localized: boolean
  readonly attributes: DescribedAttributes
}

/** By name, in words such as `string`, `media[]`, `relation api::author.author`, `zone blocks.quote, shared.link`. */
export type DescribedAttributes = Readonly<Record<string, string>>

/** One document, whole: what it does not name is null, or an empty list. */
export interface StreamedDocument {
  /** The uid. */
  readonly type: string
  readonly documentId: string
  /** What its links are kept by, where that is not the least `id` of its versions: kept and left out as these are. */
  readonly key?: number
  /** At least one. A published version of a type with drafts comes with its draft. */
  readonly versions: readonly StreamedVersion[]
  /** Of localized types: the attributes that all locales share, by status (`published` on types without drafts). */
  readonly shared?: Readonly<Partial<Record<Status, StreamedValues>>>
}

export interface StreamedVersion {
  /**
   * The number of its row, where it matters: it is kept where the database has no document of the type yet, and lists
   * without a sort stay in its order. Absent: given anew.
   */
  readonly id?: number
  /** Exactly on localized types. */
  readonly locale?: string
  /** Exactly on types with drafts. */
  readonly status?: Status
  /** ISO 8601. Absent: the moment of the import. */
  readonly createdAt?: string
  /** Absent: `createdAt`. */
  readonly updatedAt?: string
  /** Absent: null in drafts, else `updatedAt`. */
  readonly publishedAt?: string | null
  /** Of localized types with drafts: when what all locales share was last changed. Absent: `updatedAt`. */
  readonly sharedUpdatedAt?: string | null
  readonly values: StreamedValues
}

/**
 * By the attribute's name. Scalars as REST takes them, but that JSON texts are themselves, and passwords
 * `{ "hash": … }` (bcrypt). Relations (of the side that stores them: `inversedBy`, or one-way) and media: a
 * `StreamedLink`, a list of them where there are many, in order. Components: an object, or a list of them; in dynamic
 * zones each with its `__component` first.
 */
export type StreamedValues = Readonly<Record<string, unknown>>

/** The documentId alone where nothing else is to say. Roles go by their key in project.yaml, locales by their code. */
export type StreamedLink = string | StreamedTarget

export interface StreamedTarget {
  readonly documentId: string
  /** Where the target has locales and the owner has none; absent: the default one. */
  readonly locale?: string
  /** Where the target has drafts and the owner has none; absent: both. */
  readonly status?: Status
  /** The owner's place in the list of the other side: any number, only their order counts. Absent: at its end. */
  readonly order?: number
}
