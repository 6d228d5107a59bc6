import type { GraphQLResolveInfo } from 'graphql'
import type { Action } from '../../access/actions.ts'
import type { Caller, WriteAction } from '../../access/caller.ts'
import { deniedType } from '../../access/denial.ts'
import { restrict } from '../../access/restrict/restrict.ts'
import type { RequestContext } from '../../base/request-context.ts'
import type { Answer, SavedDocument } from '../../documents/documents.ts'
import type { Arguments } from '../parse/operation-context.ts'
import { parseWriteAnswer, type WriteAnswerOptions } from '../parse/parse-write.ts'
import type { RootField } from '../sdl/root-fields.ts'
import { type ExecutionContext, type ResolveOptions, toOperationContext } from './resolver-context.ts'
import type { AnsweredRow } from './resolvers.ts'

/** One call of a generated mutation. */
export interface MutationCall {
  readonly root: RootField
  readonly args: Arguments
  readonly caller: Caller
  readonly requestContext: RequestContext | undefined
  readonly info: GraphQLResolveInfo
  readonly options: ResolveOptions
  /** The caller's own arguments, if document middlewares changed them: only these are checked against the caller. */
  readonly original?: Arguments
}

/** The mutations of a format. Each is one transaction, in which its answer is read. */
export type Mutations = Readonly<Partial<Record<WriteAction, (call: MutationCall) => Promise<unknown>>>>

/** The resolver of a generated mutation. */
export function writeResolver(root: RootField, mutations: Mutations, options: ResolveOptions) {
  const action = root.action === 'localize' ? 'createLocalization' : root.action
  const run = action === 'find' || action === 'findOne' ? undefined : mutations[action]
  if (action === 'find' || action === 'findOne' || !run) throw new TypeError(`${root.name} is not a mutation`)
  return (
    _: unknown,
    args: Arguments,
    { caller, signal, requestContext }: ExecutionContext,
    info: GraphQLResolveInfo,
  ) => {
    // A mutation does not start after the request's deadline.
    signal?.throwIfAborted()
    // Before any lookup: a caller who may not write must not learn what exists.
    if (!caller.grants.writeAccess(root.type, action)) throw deniedType(caller, root.type, action)
    return run({ root, args, caller, requestContext, info, options })
  }
}

/** The query for the answer, restricted to the caller; refuses (403) callers without the action's permission. */
export function toAnswerQuery(
  { root, info, caller, requestContext, options }: MutationCall,
  answered: WriteAnswerOptions,
  action: Action,
): Answer {
  const context = toOperationContext(info, caller, options)
  const query = parseWriteAnswer({ root, nodes: info.fieldNodes }, answered, context)
  return { query: restrict(query, caller, action), shape: 'flat', ...(requestContext && { requestContext }) }
}

/** The document that was written; null if the caller may not see it. */
export const toRow = ({ text }: SavedDocument): AnsweredRow | null =>
  text === null ? null : JSON.parse(text)
