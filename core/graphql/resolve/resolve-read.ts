import type { GraphQLResolveInfo } from 'graphql'
import type { Caller } from '../../access/caller.ts'
import { restrict } from '../../access/restrict/restrict.ts'
import type { RequestContext } from '../../base/request-context.ts'
import type { VersionPrefetch } from '../../cache/versions.ts'
import type { Documents, ReadOptions } from '../../documents/documents.ts'
import type { Model } from '../../model/model.ts'
import type { ResolverVisit } from '../../plugins/services/resolver-context.ts'
import type { Page } from '../../query/query.ts'
import type { Arguments, OperationContext } from '../parse/operation-context.ts'
import type { PageLimits } from '../parse/parse-arguments.ts'
import { parseRead } from '../parse/parse-read.ts'
import { unwrapResult } from '../parse/to-graphql-error.ts'
import type { RootField } from '../sdl/root-fields.ts'

/** What resolvers of generated fields work with. */
export interface ResolveTerms {
  readonly model: Model
  readonly documents: Documents
  readonly limits: PageLimits
}

/** Who asks, for the length of one operation. */
export interface ExecutionContext {
  readonly caller: Caller
  readonly requestId: string
  readonly trail?: RequestContext
  /** What the request asks for, where it cannot write before it reads. */
  readonly prefetch?: VersionPrefetch
  /** The network address that asks. */
  readonly peer: string
  /** The request as plugins see it; absent where no code of the project takes part. */
  readonly pluginRequest?: ResolverVisit
  /** Aborted when the time of the request is over. */
  readonly signal?: AbortSignal
}

/** A root field of a query: one statement, whatever is selected below it. */
export function readResolver(root: RootField, terms: ResolveTerms) {
  return async (_: unknown, given: Arguments, acting: ExecutionContext, info: GraphQLResolveInfo) => {
    const { caller } = acting
    const query = unwrapResult(
      parseRead({ root, nodes: info.fieldNodes, args: given }, toOperationContext(info, caller, terms)),
    )
    const restricted = unwrapResult(restrict(query, caller))
    if (query.take.kind === 'one') {
      const text = await terms.documents.findOne(restricted, 'flat', readOptions(acting))
      return { data: text === null ? null : JSON.parse(text) }
    }
    const { text, total } = await terms.documents.findMany(restricted, 'flat', readOptions(acting))
    return { data: JSON.parse(text), meta: { pagination: responsePagination(query.take.page, total ?? 0) } }
  }
}

/** Of reads for this operation. */
export const readOptions = ({ signal, trail }: ExecutionContext): ReadOptions => ({
  ...(signal && { signal }),
  ...(trail && { trail }),
})

export const toOperationContext = (
  { schema, fragments, variableValues }: GraphQLResolveInfo,
  caller: Caller,
  { model, limits }: ResolveTerms,
): OperationContext => ({ schema, fragments, variables: variableValues, model, limits, caller })

/** contract/graphql.md 5. */
export const responsePagination = ({ start, limit }: Page, total: number) => ({
  total,
  page: Math.floor(start / limit) + 1,
  pageSize: limit,
  pageCount: Math.ceil(total / limit),
})
