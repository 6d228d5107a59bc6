import type { Caller } from '../access/caller.ts'
import type { RequestContext } from '../base/request-context.ts'
import type { BodyFormat, BodyOrText } from '../cache/answer-store.ts'
import type { Documents, TaggedBody } from '../documents/documents.ts'
import { type Fault, RequestFault } from '../faults/fault.ts'
import type { ContentType } from '../model/model.ts'
import type { AnswerShape } from '../plan/row.ts'
import type { DocumentAction, RunDocumentMiddlewares } from '../plugins/services/documents-api.ts'
import type { Precondition, UpdateCommand } from '../query/command.ts'
import type { RestrictedQuery, Status } from '../query/query.ts'
import type { Params } from './action-params.ts'
import type { PaginationParams } from './parameters/parse-pagination.ts'
import type { QueryParseOptions } from './parameters/parse-query.ts'

/** One action on documents of a content-type, requested over HTTP or by project code. */
export interface ActionCall {
  readonly action: DocumentAction
  readonly type: ContentType
  readonly params: Params
  /** null: trusted project code, which has all permissions. */
  readonly caller: Caller | null
  /** The caller's own parameters, if middlewares changed them: only these are checked against the caller. */
  readonly original?: Params
  /** Set if the answer is an HTTP body; absent: a value for code. */
  readonly http?: HttpAnswer
  /** The query of a write, if it was parsed and authorized already. */
  readonly target?: WriteTarget
}

/** How an answer over HTTP is built. */
export interface HttpAnswer {
  readonly shape: AnswerShape
  readonly taggedBody: TaggedBody
  readonly requestContext: RequestContext
  readonly precondition: Precondition | null
  /** A delete answers the deleted document, and `missing` if there is none. */
  readonly answersDelete: boolean
  /** An update creates a locale, which must not exist. */
  readonly localizes: boolean
  /** The publication time of the published version that is saved; absent: the current time. */
  readonly publication?: PublicationTime | undefined
  readonly documentBody: BodyFormat
  listBody(query: RestrictedQuery, pagination: PaginationParams): BodyFormat
}

/** A time, or that of the published version before. */
export type PublicationTime = Pick<UpdateCommand, 'publishedAt' | 'keepsPublishedAt'>

/** The meaning of the query parameters of a create or update. */
export interface WriteTarget {
  readonly locale: string | null
  /** Always `published` for types without drafts. */
  readonly status: Status
  /** The query that reads the answer. */
  readonly answer: RestrictedQuery
}

/** Services and settings that actions use. */
export interface ActionOptions extends QueryParseOptions {
  readonly documents: Documents
  /** Document middlewares; null: there are none. */
  readonly runMiddlewares: RunDocumentMiddlewares | null
  /** Rules of parameters that code passes; absent: they come from a query string. */
  readonly rules?: ParamRules
}

/** The differences between parameters of code and those of a query string. */
export interface ParamRules {
  /** Checks parameters that middlewares changed. */
  check(params: Params, action: DocumentAction): Params
  /** Converts them to the form of a query string. */
  toQuery(params: Params, call: ActionCall): Params
  /** Adds to a fault what helps an author. */
  explain(fault: Fault, type: ContentType): Fault
}

/** The parameters of a call in the form of a query string. */
export const queryParams = (call: ActionCall, { rules }: ActionOptions): Params =>
  rules ? rules.toQuery(call.params, call) : call.params

/** Runs a parser; its fault is explained to authors of code. */
export function parseExplained<Value>(
  { type }: ActionCall,
  { rules }: ActionOptions,
  parse: () => Value,
): Value {
  try {
    return parse()
  } catch (error) {
    if (!rules || !(error instanceof RequestFault)) throw error
    throw new RequestFault(rules.explain(error.fault, type))
  }
}

/** All checks that need no database are done; the call performs the action. Both throw RequestFaults. */
export type PreparedAction = () => Promise<ActionResult>

export type PrepareAction = (call: ActionCall, options: ActionOptions) => PreparedAction

export type ActionResult =
  /** The finished body of a read over HTTP. */
  | { readonly kind: 'body'; readonly body: BodyOrText }
  /** The JSON text of a written document; null: the caller may not read it. */
  | { readonly kind: 'document'; readonly text: string | null }
  | { readonly kind: 'value'; readonly value: unknown }
  /** The document does not exist, or is hidden. */
  | { readonly kind: 'missing' }
