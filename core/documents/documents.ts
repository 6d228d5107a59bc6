import type { RequestContext } from '../base/request-context.ts'
import type { BodyFormat, BodyOrText, ReadResult } from '../cache/answer-store.ts'
import type { VersionPrefetch } from '../cache/versions.ts'
import type { Transaction } from '../database/database.ts'
import type { AnswerShape } from '../plan/row.ts'
import type {
  CreateCommand,
  DeleteCommand,
  PermittedCommand,
  StatusCommand,
  UpdateByStatus,
  UpdateCommand,
} from '../query/command.ts'
import type { RestrictedQuery } from '../query/query.ts'

/**
 * The only access to data. Takes queries and commands that access has restricted. A read is one statement, whatever it
 * populates; a write is one transaction. Rejects with a DatabaseFailure when the database fails.
 */
export interface Documents extends DocumentReads, DocumentWrites {}

export interface DocumentReads {
  /** A list: its JSON text, and the number of all matching documents where the query asks for it. */
  findMany(query: RestrictedQuery, shape: AnswerShape, options?: ReadOptions): Promise<FoundMany>
  /** The JSON text of one document; null: none is visible. */
  findOne(query: RestrictedQuery, shape: AnswerShape, options?: ReadOptions): Promise<string | null>
  /**
   * The rows of a list, or one document, for code that completes them; text null: none is visible. Cached like bodies. The total
   * where the query asks for it.
   */
  findRows(query: RestrictedQuery, shape: AnswerShape, options?: ReadOptions): Promise<ReadResult>
  /** The best matches of lists by relevance of several types, as a JSON array (docs/search.md). Not cached. */
  findAcross(queries: readonly RestrictedQuery[], limit: number, options?: ReadOptions): Promise<string>
  /** The finished body, cached while its tables do not change; null: no document was found. */
  findBody(asked: BodyReads, options?: ReadOptions): Promise<BodyOrText | null>
}

export interface BodyReads extends BodyFormat {
  readonly query: RestrictedQuery
  readonly shape: AnswerShape
}

export interface ReadOptions {
  /** The requested document. The query itself names none, so one plan serves all documents. */
  readonly documentId?: string
  /** Cancels the read. */
  readonly signal?: AbortSignal
  /** The request that this belongs to. */
  readonly requestContext?: RequestContext
  /** Prefetched version check; absent: no prefetch. */
  readonly prefetch?: VersionPrefetch | undefined
}

export interface FoundMany {
  /** A JSON array of documents. */
  readonly text: string
  readonly total: number | null
}

/** A refused write rejects with a RequestFault. */
export interface DocumentWrites {
  /** Answers the new document's JSON text. */
  create(
    command: PermittedCommand<CreateCommand>,
    answer: Answer,
    alongside?: Alongside,
  ): Promise<SavedDocument>
  /** Refused with notFound if the document does not exist. A single type's document is created instead. */
  update(
    command: PermittedCommand<UpdateCommand>,
    answer: Answer,
    alongside?: Alongside,
  ): Promise<SavedDocument>
  /** An update of a type with drafts. The version's current status selects which of the two commands runs. */
  updateByStatus(command: UpdateByStatus, answer: Answer): Promise<SavedDocument>
  /**
   * Succeeds if there is nothing to delete. `seen`: the answers whose tags a precondition may name. Resolves to the JSON
   * text of the document before the delete, if `answer` asks for it and the document existed.
   */
  delete(
    command: PermittedCommand<DeleteCommand>,
    seen?: readonly Answer[],
    answer?: Answer | null,
  ): Promise<string | null>
  /**
   * Updates or deletes documents of one type in one transaction; answers how many. Documents that are gone are left out.
   * `query` reads the answers, which are not used.
   */
  changeMany(
    commands: readonly PermittedCommand<UpdateCommand | DeleteCommand>[],
    query: RestrictedQuery,
  ): Promise<number>
  /**
   * Publishes the drafts after checking all rules of their values. The answer has the version with the status of its query.
   * Refused with notFound if the document does not exist in the locale, and with a validation fault on types without
   * drafts; so are the two below.
   */
  publish(command: PermittedCommand<StatusCommand<'publish'>>, answer: Answer): Promise<DocumentChange>
  /** Removes the published versions, if there are any. */
  unpublish(command: PermittedCommand<StatusCommand<'unpublish'>>, answer: Answer): Promise<DocumentChange>
  /** Resets the drafts to the published versions. Drafts without a published version do not change. */
  discardDraft(
    command: PermittedCommand<StatusCommand<'discardDraft'>>,
    answer: Answer,
  ): Promise<DocumentChange>
}

/** Extra work of the server in the transaction of a create or update. */
export interface Alongside {
  /** Runs before the document is loaded. If it rejects, nothing is written. */
  before?(transaction: Transaction): Promise<void>
  after?(transaction: Transaction, documentId: string): Promise<void>
}

/** How to answer a write: this query, with the document's id, reads the answer in the same transaction. */
export interface Answer {
  readonly query: RestrictedQuery
  readonly shape: AnswerShape
  /** The body with the text, whose ETag preconditions name. Without it only `*` matches. */
  readonly body?: TaggedBody
  /** The request that this belongs to. */
  readonly requestContext?: RequestContext
}

/** What comes before and after the text of a document in a body. */
export interface TaggedBody {
  readonly before: string
  readonly after: string
}

export interface SavedDocument {
  readonly documentId: string
  /** JSON text; null: the answer's query does not see the document. */
  readonly text: string | null
}

export interface DocumentChange {
  readonly documentId: string
  /** JSON texts, one per changed locale that the answer's query sees. */
  readonly texts: readonly string[]
}
