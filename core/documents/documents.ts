import type { RequestContext } from '../base/request-context.ts'
import type { Result } from '../base/result.ts'
import type { BodyFormat, BodyOrText } from '../cache/answer-store.ts'
import type { VersionPrefetch } from '../cache/versions.ts'
import type { Transaction } from '../database/database.ts'
import type { Fault } from '../faults/fault.ts'
import type { AnswerShape } from '../plan/row.ts'
import type {
  CreateCommand,
  DeleteCommand,
  PermittedCommand,
  StandingUpdate,
  StatusCommand,
  UpdateCommand,
} from '../query/command.ts'
import type { RestrictedQuery } from '../query/query.ts'

/**
 * The only way to data. Takes what access has narrowed; each read is one statement, whatever it populates, each
 * write one transaction. Rejects with a DatabaseFailure where the database does.
 */
export interface Documents extends DocumentReads, DocumentWrites {}

export interface DocumentReads {
  /** A list: its JSON text, and the number of all matching documents where the query asks for it. */
  findMany(query: RestrictedQuery, shape: AnswerShape, options?: ReadOptions): Promise<FoundMany>
  /** The JSON text of one document, or null where there is none to see. */
  findOne(query: RestrictedQuery, shape: AnswerShape, options?: ReadOptions): Promise<string | null>
  /** What is found as a finished body: as it was made before, where nothing has changed; null where it is none. */
  findBody(asked: BodyReads, options?: ReadOptions): Promise<BodyOrText | null>
}

export interface BodyReads extends BodyFormat {
  readonly query: RestrictedQuery
  readonly shape: AnswerShape
}

export interface ReadOptions {
  /** The document that is asked for, where the query is that of any: then it is planned once, whichever that is. */
  readonly documentId?: string
  /** Ends the read where it is aborted. */
  readonly signal?: AbortSignal
  /** The request that it is for. */
  readonly trail?: RequestContext
  /** What that asks for; absent: nothing is asked for ahead of it. */
  readonly ahead?: VersionPrefetch | undefined
}

export interface FoundMany {
  /** A JSON array of documents. */
  readonly text: string
  readonly total: number | null
}

export interface DocumentWrites {
  /** Answers the new document's JSON text. */
  create(command: PermittedCommand<CreateCommand>, answer: Answer): Promise<Result<SavedDocument, Fault>>
  /** Fails with notFound where there is no such document; a single type's is made. */
  update(
    command: PermittedCommand<UpdateCommand>,
    answer: Answer,
    alongside?: Alongside,
  ): Promise<Result<SavedDocument, Fault>>
  /** As an update, of a type with drafts: the one of the two that the version's state asks for. */
  amend(command: StandingUpdate, answer: Answer): Promise<Result<SavedDocument, Fault>>
  /**
   * Also where there was nothing to delete. `seen`: the answers whose tags a precondition may name. Answers the JSON
   * text of the document as it was, where that is asked for and there was one.
   */
  delete(
    command: PermittedCommand<DeleteCommand>,
    seen?: readonly Answer[],
    answer?: Answer | null,
  ): Promise<Result<string | null, Fault>>
  /**
   * Publishes what the drafts hold, all rules of values checked. The status of the answer's query says which version
   * is answered. Fails with notFound where there is no such document in the locale, with a validation fault on types
   * without drafts; so do the two below.
   */
  publish(
    command: PermittedCommand<StatusCommand<'publish'>>,
    answer: Answer,
  ): Promise<Result<DocumentChange, Fault>>
  /** Removes the published versions; touches nothing where there is none. */
  unpublish(
    command: PermittedCommand<StatusCommand<'unpublish'>>,
    answer: Answer,
  ): Promise<Result<DocumentChange, Fault>>
  /** Makes the drafts what was published; touches nothing where there is no published version. */
  discardDraft(
    command: PermittedCommand<StatusCommand<'discardDraft'>>,
    answer: Answer,
  ): Promise<Result<DocumentChange, Fault>>
}

/** Work of the server's own on what was just written, in the same transaction. */
export type Alongside = (transaction: Transaction, documentId: string) => Promise<void>

/** How the written document is to be answered: read in the same transaction, by this query with its id put in. */
export interface Answer {
  readonly query: RestrictedQuery
  readonly shape: AnswerShape
  /** The tag that goes out with a text, for preconditions; without it none but `*` is met. */
  readonly tagOf?: (text: string) => string
  /** The request that it is for. */
  readonly trail?: RequestContext
}

export interface SavedDocument {
  readonly documentId: string
  /** JSON text; null where the answer's query does not see the document. */
  readonly text: string | null
}

export interface DocumentChange {
  readonly documentId: string
  /** JSON texts, one for each locale that was touched, as far as the answer's query sees it. */
  readonly texts: readonly string[]
}
