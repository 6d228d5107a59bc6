import type { GraphQLResolveInfo } from 'graphql'
import type { Action } from '../../access/actions.ts'
import type { Caller } from '../../access/caller.ts'
import { restrict } from '../../access/restrict/restrict.ts'
import { ok, type Result } from '../../base/result.ts'
import type { Fault } from '../../faults/fault.ts'
import { ALL_ROWS, scalarOf } from '../../identity/users/user-values.ts'
import { graphqlTypeName, graphqlWrapperNames } from '../../model/graphql-names.ts'
import type { ContentType } from '../../model/model.ts'
import type { Query, Selection } from '../../query/query.ts'
import { fieldsBelow } from '../parse/collect-fields.ts'
import { parseDocument } from '../parse/parse-selection.ts'
import { contextOf, type ResolveTerms } from './resolve-read.ts'
import type { AnsweredRow } from './resolvers.ts'

/** What a mutation that answers with `<Type>EntityResponse`, or with a list of them, selects of its rows. */
export function parseAnswer(
  type: ContentType,
  { caller, info }: AnswerAsked,
  terms: ResolveTerms,
): Result<Selection, Fault> {
  const context = contextOf(info, caller, terms)
  const { response } = graphqlWrapperNames(graphqlTypeName(type))
  return parseDocument(type, fieldsBelow(info.fieldNodes, response, context), context)
}

interface AnswerAsked {
  readonly caller: Caller
  readonly info: GraphQLResolveInfo
}

export interface Answering {
  readonly type: ContentType
  /** documentIds. */
  readonly ids: readonly string[]
  readonly caller: Caller
  /** What the caller is about to do or has done: he has to be allowed to. */
  readonly action: Action
}

/** The rows of a built-in type, in the order of their ids, as far as the caller may see them. */
export async function answerRows(
  { type, ids, caller, action }: Answering,
  info: GraphQLResolveInfo,
  terms: ResolveTerms,
): Promise<Result<readonly AnsweredRow[], Fault>> {
  const selection = parseAnswer(type, { caller, info }, terms)
  if (!selection.ok) return selection
  const query: Query = {
    ...ALL_ROWS,
    type,
    take: { kind: 'many', page: { start: 0, limit: ids.length }, total: false },
    selection: selection.value,
    filter: {
      kind: 'comparison',
      attribute: scalarOf(type, 'documentId'),
      operator: '$in',
      values: ids,
    },
  }
  const restricted = restrict(query, caller, action)
  if (!restricted.ok) return restricted
  const { text } = await terms.documents.findMany(restricted.value, 'flat')
  const rows = JSON.parse(text) as readonly AnsweredRow[]
  return ok(ids.flatMap(id => rows.filter(({ documentId }) => documentId === id)))
}
