import type { GraphQLResolveInfo } from 'graphql'
import type { Caller } from '../../access/caller.ts'
import { restrict } from '../../access/restrict/restrict.ts'
import type { AroundWrites } from '../../actions/perform.ts'
import type { RequestContext } from '../../base/request-context.ts'
import type { VersionPrefetch } from '../../cache/versions.ts'
import type { Documents, ReadOptions } from '../../documents/documents.ts'
import type { ContentType, Model } from '../../model/model.ts'
import { graphqlTypeName } from '../../model/names.ts'
import type { ResolverRequest } from '../../plugins/services/request-context.ts'
import type { Page } from '../../query/query.ts'
import type { DocumentUse, GraphqlFormat } from '../formats/format.ts'
import type { Arguments, OperationContext } from '../parse/operation-context.ts'
import type { PageLimits } from '../parse/parse-arguments.ts'
import { parseRead } from '../parse/parse-read.ts'
import type { RootField } from '../sdl/root-fields.ts'

/** Services of generated resolvers. */
export interface ResolveTerms {
  readonly format: GraphqlFormat
  readonly model: Model
  readonly documents: Documents
  readonly limits: PageLimits
  /** Runs a mutation inside the document middlewares; absent or null: there are none. */
  readonly aroundWrites?: AroundWrites | null
}

/** The context of one operation, as graphql-js passes it to resolvers. */
export interface ExecutionContext {
  readonly caller: Caller
  readonly requestId: string
  readonly trail?: RequestContext
  /** Prefetched version check; absent if the request may write before it reads. */
  readonly prefetch?: VersionPrefetch
  /** The client's network address. */
  readonly peer: string
  /** The request as plugins see it; absent if the project has no code. */
  readonly pluginRequest?: ResolverRequest
  /** Aborted at the request's deadline. */
  readonly signal?: AbortSignal
}

/** The resolver of a query's root field: one statement for its whole selection. */
export function readResolver(root: RootField, terms: ResolveTerms) {
  const wrap = documentWrapper(root.type, root.use, terms.format)
  return async (_: unknown, args: Arguments, execution: ExecutionContext, info: GraphQLResolveInfo) => {
    const { caller } = execution
    const context = toOperationContext(info, caller, terms)
    const query = parseRead({ root, nodes: info.fieldNodes, args }, context)
    const restricted = restrict(query, caller)
    if (query.take.kind === 'one') {
      const text = await terms.documents.findOne(restricted, 'flat', readOptions(execution))
      return wrap(text === null ? null : JSON.parse(text))
    }
    const { text, total } = await terms.documents.findMany(restricted, 'flat', readOptions(execution))
    const { page } = query.take
    return wrap(JSON.parse(text), () => responsePagination(page, total ?? 0))
  }
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
export const readOptions = ({ signal, trail }: ExecutionContext): ReadOptions => ({
  ...(signal && { signal }),
  ...(trail && { trail }),
})

export const toOperationContext = (
  { schema, fragments, variableValues }: GraphQLResolveInfo,
  caller: Caller,
  { model, limits, format }: ResolveTerms,
): OperationContext => ({ schema, fragments, variables: variableValues, format, model, limits, caller })

/** The counts of a list (reference/graphql.md#5-pagination). */
export const responsePagination = ({ start, limit }: Page, total: number) => ({
  total,
  page: Math.floor(start / limit) + 1,
  pageSize: limit,
  pageCount: Math.ceil(total / limit),
})
