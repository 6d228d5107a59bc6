import type { Result } from '../base/result.ts'
import type { Fault } from '../faults/fault.ts'
import type { Attribute, ContentType } from '../model/model.ts'
import type { Filter, Query, Status } from './query.ts'

/**
 * A write of one document, as REST and GraphQL both parse it: keys are known and lead to attributes that may be
 * set, but values are as they were given. Their rules (contract/rest.md 3, 9, 13) are the document service's.
 */
export type Command = CreateCommand | UpdateCommand | DeleteCommand | StatusCommand

/** By attribute name; own properties only. A component is such an object, with `id` where it changes one. */
export type GivenValues = Readonly<Record<string, unknown>>

interface CommandBase {
  readonly type: ContentType
  /** null on types without locales. */
  readonly locale: string | null
}

/** What a write of values may say beside them. */
interface SaveTerms {
  /** As GraphQL writes (contract/graphql.md 6): drafts keep all rules too, no uid is made up, links to nothing are counted. */
  readonly strict?: true
  /** What a published version says of when, ISO 8601 in UTC. */
  readonly publishedAt?: string
  /** Where that is not said and the version was published before, it says what it said; else: now. */
  readonly keepsPublishedAt?: true
}

export interface CreateCommand extends CommandBase, SaveTerms {
  readonly kind: 'create'
  /** `published`: a draft that is published at once; of types without drafts always. */
  readonly status: Status
  readonly values: GivenValues
}

export interface UpdateCommand extends CommandBase, SaveTerms {
  readonly kind: 'update'
  /** null: the only document of a single type, which is made where there is none. */
  readonly documentId: string | null
  /** `draft` changes the draft alone; `published` changes the draft, then publishes the whole of it. */
  readonly status: Status
  readonly values: GivenValues
  readonly precondition: Precondition | null
  /** Whether the locale has to be there already, or must not be. Absent: it is made where it is not. */
  readonly locales?: 'known' | 'new'
  /** The published version goes: the draft alone is left. */
  readonly unpublishes?: true
}

export interface DeleteCommand {
  readonly kind: 'delete'
  readonly type: ContentType
  readonly documentId: string | null
  /** null: every locale, and on types without locales. */
  readonly locale: string | null
  readonly precondition: Precondition | null
}

/**
 * Of types with drafts: `publish` makes the published version the draft's equal, `discardDraft` the draft the
 * published one's, `unpublish` removes the published version.
 */
export interface StatusCommand<Change extends StatusChange = StatusChange> {
  readonly kind: Change
  readonly type: ContentType
  /** null: the only document of a single type. */
  readonly documentId: string | null
  /** null: every locale that the document has, and on types without locales. */
  readonly locale: string | null
}

/** Which of two updates of a version is meant: that hangs on whether it is published (contract/graphql.md 6). */
export interface StandingUpdate {
  readonly draft: PermittedCommand<UpdateCommand>
  /** Or why its caller may not give it. */
  readonly published: Result<PermittedCommand<UpdateCommand>, Fault>
}

export type StatusChange = 'publish' | 'unpublish' | 'discardDraft'

/** `If-Match`: the tags of the answers that the caller has seen, without quotes; `*` is any. */
export interface Precondition {
  readonly tags: readonly string[]
}

/** What a body says of a relation or media attribute (contract/rest.md 9). */
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
  /** A numeric id names the document and locale of a row, never its status (documents.md 10). */
  readonly by: { readonly documentId: string } | { readonly id: number }
  readonly locale: string | null
  readonly status: Status | null
}

export interface LinkConnection extends TargetRef {
  readonly position: LinkPosition
}

export type LinkPosition =
  | { readonly at: 'end' | 'start' }
  | { readonly at: 'before' | 'after'; readonly documentId: string }

declare const permitted: unique symbol

/** A command that its caller may give; access/ alone makes one, and the document service takes nothing else. */
export type PermittedCommand<Kind extends Command = Command> = Kind & {
  readonly [permitted]: true
  /** Rows that the caller may write: the row as it was for update and delete, as it becomes for create and update. */
  readonly conditions: WriteConditions
  /** null: the server's own code gives it, on nobody's behalf. */
  readonly by: Actor | null
}

/** On whose behalf something is written: what may be kept and told of it. */
export interface Actor {
  /** null: nobody is signed in. */
  readonly user: { readonly id: number; readonly documentId: string } | null
  /** The key of his role, or of nobody's; null with an API token. */
  readonly role: string | null
  /** The key of an API token; null without one. */
  readonly token: string | null
}

export interface WriteConditions {
  readonly before: Query['filter']
  readonly after: Query['filter']
  /** What links may name of types that the caller sees in part: the locales of documents that he sees by one of these; the rest does not exist for him. */
  readonly targets: ReadonlyMap<ContentType, readonly VisibleVersion[]>
  /** Which drafts of the type that is written the caller sees, though he may write others; absent: all. */
  readonly drafts?: DraftSight | null
  /** Attributes that the caller reads: a file that one of them shows may stay in it, also where `targets` hides the file. */
  readonly shown?: ReadonlySet<Attribute>
  /**
   * Which versions of the written type the caller sees; absent or null: all of them. A document without any of them is
   * answered as one that does not exist. Empty: the caller reads nothing of the type, and `before` alone decides.
   */
  readonly sights?: readonly VisibleVersion[] | null
}

/** null: all of them. */
export type DraftSight = Pick<VisibleVersion, 'where'>

/** The versions of one status that a caller sees. */
export interface VisibleVersion {
  readonly status: Status
  /** null: all of them. */
  readonly where: Filter | null
}
