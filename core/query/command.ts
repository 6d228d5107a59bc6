import type { Result } from '../base/result.ts'
import type { Fault } from '../faults/fault.ts'
import type { Attribute, ContentType } from '../model/model.ts'
import type { Filter, Query, Status } from './query.ts'

/**
 * A write of one document, as REST and GraphQL both parse it. Keys are checked to be writable attributes; values are
 * raw. The document service validates them (reference/rest.md).
 */
export type Command = CreateCommand | UpdateCommand | DeleteCommand | StatusCommand

/** By attribute name; own properties only. A component is such an object, with `id` if it updates an existing one. */
export type GivenValues = Readonly<Record<string, unknown>>

interface CommandBase {
  readonly type: ContentType
  /** null on types without locales. */
  readonly locale: string | null
}

/** Options of a write in addition to its values. */
interface SaveOptions {
  /**
   * Validation as in GraphQL (reference/graphql.md#6-writing): no uid is generated, missing link targets are counted.
   * `true`: all rules apply to drafts, too; `published`: only to published versions, as in REST.
   */
  readonly strict?: true | 'published'
  /** `publishedAt` of the published version, ISO 8601 in UTC. */
  readonly publishedAt?: string
  /** Without `publishedAt`, keep the value of the existing published version; otherwise the current time. */
  readonly keepsPublishedAt?: true
}

export interface CreateCommand extends CommandBase, SaveOptions {
  readonly kind: 'create'
  /** `published`: create a draft and publish it. Always on types without drafts. */
  readonly status: Status
  readonly values: GivenValues
}

export interface UpdateCommand extends CommandBase, SaveOptions {
  readonly kind: 'update'
  /** null: the only document of a single type, created if missing. */
  readonly documentId: string | null
  /** `draft` changes only the draft; `published` changes the draft, then publishes all of it. */
  readonly status: Status
  readonly values: GivenValues
  readonly precondition: Precondition | null
  /** States that the locale must exist already, or must not exist. Absent: it is created if missing. */
  readonly locales?: 'known' | 'new'
  /** Remove the published version and keep the draft. */
  readonly unpublishes?: true
}

export interface DeleteCommand {
  readonly kind: 'delete'
  readonly type: ContentType
  readonly documentId: string | null
  /** null: every locale, or the type has no locales. */
  readonly locale: string | null
  readonly precondition: Precondition | null
}

/**
 * Only types with drafts: `publish` copies the draft to the published version, `discardDraft` copies the published
 * version to the draft, `unpublish` removes the published version.
 */
export interface StatusCommand<Change extends StatusChange = StatusChange> {
  readonly kind: Change
  readonly type: ContentType
  /** null: the only document of a single type. */
  readonly documentId: string | null
  /** null: every locale of the document, or the type has no locales. */
  readonly locale: string | null
}

/** Two alternative updates of a version: which one applies depends on whether it is published (reference/graphql.md#6-writing). */
export interface UpdateByStatus {
  readonly draft: PermittedCommand<UpdateCommand>
  /** Failed: the reason why the caller may not make this update. */
  readonly published: Result<PermittedCommand<UpdateCommand>, Fault>
}

export type StatusChange = 'publish' | 'unpublish' | 'discardDraft'

/** `If-Match`: the entity tags that the caller has seen, without quotes; `*` matches any. */
export interface Precondition {
  readonly tags: readonly string[]
}

/** The change of a relation or media attribute in a body (reference/rest.md#9-relations-in-bodies). */
export type LinkChange =
  /** The whole new list: `set`, a plain list, one id, null. */
  | { readonly kind: 'set'; readonly targets: readonly TargetRef[] }
  /** `disconnect` first, then `connect` in order. */
  | {
      readonly kind: 'change'
      readonly connect: readonly LinkConnection[]
      readonly disconnect: readonly TargetRef[]
    }

export interface TargetRef {
  /** A numeric id names the document and locale of a row, never its status (reference/documents.md#10-connecting). */
  readonly by: { readonly documentId: string } | { readonly id: number }
  readonly locale: string | null
  readonly status: Status | null
}

export interface LinkConnection extends TargetRef {
  readonly position: LinkPosition
}

export type LinkPosition =
  | { readonly at: 'end' | 'start' }
  | { readonly at: 'before' | 'after'; readonly by: TargetRef['by'] }

declare const permitted: unique symbol

/** A command that its caller may make. Only access/ creates one, and the document service accepts nothing else. */
export type PermittedCommand<Kind extends Command = Command> = Kind & {
  readonly [permitted]: true
  /** Conditions on the rows that the caller may write: `before` on the existing row, `after` on the resulting row. */
  readonly conditions: WriteConditions
  /** null: the server makes the change itself. */
  readonly by: Actor | null
}

/** The author of a write, in a form that may be stored and sent in events. */
export interface Actor {
  /** null: no signed-in user. */
  readonly user: { readonly id: number; readonly documentId: string } | null
  /** The key of the role, `public` without sign-in; null with an API token. */
  readonly role: string | null
  /** The key of an API token; null without one. */
  readonly token: string | null
}

export interface WriteConditions {
  readonly before: Query['filter']
  readonly after: Query['filter']
  /** The link targets of types that the caller may read in part: locales that one of these conditions shows. All others are treated as missing. */
  readonly targets: ReadonlyMap<ContentType, readonly VisibleVersion[]>
  /** The drafts of the written type that the caller may read, who may be allowed to write others; null: none. */
  readonly drafts: VisibleDrafts | null
  /**
   * Attributes that the caller may read; null: the server makes the change itself. A file that one of them shows may stay in it
   * even if `targets` hides the file. Faults repeat stored values of these only.
   */
  readonly shown: ReadonlySet<Attribute> | null
  /**
   * The versions of the written type that the caller may read; null: all of them. A document without a visible
   * version is treated as missing. Empty: the caller may not read the type, and only `before` decides.
   */
  readonly visible: readonly VisibleVersion[] | null
}

/** The drafts of a type that meet `where`; null: all of them. */
export type VisibleDrafts = Pick<VisibleVersion, 'where'>

/** The versions of one status that a caller may read. */
export interface VisibleVersion {
  readonly status: Status
  /** null: all of them. */
  readonly where: Filter | null
}
