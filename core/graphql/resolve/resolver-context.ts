import type { GraphQLResolveInfo } from 'graphql'
import type { Caller } from '../../access/caller.ts'
import type { AroundActions } from '../../actions/perform.ts'
import { INTEGER } from '../../base/integers.ts'
import type { RequestContext } from '../../base/request-context.ts'
import type { VersionPrefetch } from '../../cache/versions.ts'
import type { Documents, ReadOptions } from '../../documents/documents.ts'
import type { ContentType, Model } from '../../model/model.ts'
import { graphqlTypeName } from '../../model/names.ts'
import type { ResolverRequest } from '../../plugins/services/plugin-context.ts'
import type { Page } from '../../query/query.ts'
import type { DocumentUse, GraphqlFormat } from '../formats/format.ts'
import type { OperationContext } from '../parse/operation-context.ts'
import type { PageLimits } from '../parse/parse-arguments.ts'
import type { AnswerSize } from './answer-size.ts'

/** Services of generated resolvers. */
export interface ResolveOptions {
  readonly format: GraphqlFormat
  readonly model: Model
  readonly documents: Documents
  readonly limits: PageLimits
  /** Runs a root field inside the document middlewares; absent or null: there are none. */
  readonly aroundActions?: AroundActions | null
}

/** The context of one operation, as graphql-js passes it to resolvers. */
export interface ExecutionContext {
  readonly caller: Caller
  readonly requestId: string
  readonly requestContext?: RequestContext
  /** Prefetched version check; absent if the request may write before it reads. */
  readonly prefetch?: VersionPrefetch
  /** The client's network address. */
  readonly peer: string
  /** The request as plugins see it; absent if the project has no code. */
  readonly pluginRequest?: ResolverRequest
  /** The size of the answer to the request. */
  readonly answerSize?: AnswerSize
  /** Aborted at the request's deadline. */
  readonly signal?: AbortSignal
}

/** Wraps documents as the format does. */
export function documentWrapper(type: ContentType, use: DocumentUse, { shapeOf, pageField }: GraphqlFormat) {
  const { around } = shapeOf(graphqlTypeName(type), use)
  return (rows: unknown, counts?: () => Pagination): unknown => {
    if (!around) return rows
    if (!counts) return { [around.field]: rows }
    return { [around.field]: rows, [pageField]: pageField === 'meta' ? { pagination: counts() } : counts() }
  }
}

export type Pagination = ReturnType<typeof responsePagination>

/** Read options of an operation. */
export const readOptions = ({ signal, requestContext, prefetch }: ExecutionContext): ReadOptions => ({
  ...(signal && { signal }),
  ...(requestContext && { requestContext }),
  ...(prefetch && { prefetch }),
})

export const toOperationContext = (
  { schema, fragments, variableValues }: GraphQLResolveInfo,
  caller: Caller,
  { model, limits, format }: ResolveOptions,
): OperationContext => ({ schema, fragments, variables: variableValues, format, model, limits, caller })

/** The counts of a list (reference/graphql.md#5-pagination). The largest `start` is on a page whose number would be no `Int`. */
export const responsePagination = ({ start, limit }: Page, total: number) => ({
  total,
  page: Math.min(Math.floor(start / limit) + 1, INTEGER.most),
  pageSize: limit,
  pageCount: Math.ceil(total / limit),
})
