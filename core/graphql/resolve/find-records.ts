import type { GraphQLResolveInfo } from 'graphql'
import type { Action } from '../../access/actions.ts'
import { trusted } from '../../access/brand.ts'
import type { Caller } from '../../access/caller.ts'
import { restrict } from '../../access/restrict/restrict.ts'
import { ALL_ROWS, requireScalar } from '../../identity/users/user-values.ts'
import type { ContentType } from '../../model/model.ts'
import type { Filter, Query, Selection } from '../../query/query.ts'
import type { DocumentUse } from '../formats/format.ts'
import { parseDocumentSelection } from '../parse/parse-selection.ts'
import { type ResolveOptions, toOperationContext } from './resolver-context.ts'
import type { AnsweredRow } from './resolvers.ts'

/** Both ids of a record of a built-in type. */
export interface NamedRecord {
  readonly id: number
  readonly documentId: string
}

/**
 * Finds the record of an `id` argument, by documentId or numeric id (reference/graphql.md#0-decisions). It does not check
 * permissions; its callers must. null: there is none.
 */
export async function findRecord(
  type: ContentType,
  input: unknown,
  { documents }: Pick<ResolveOptions, 'documents'>,
): Promise<NamedRecord | null> {
  const text = String(input)
  if (text.includes('\0')) return null
  const query = trusted({
    ...ALL_ROWS,
    type,
    take: { kind: 'many', page: { start: 0, limit: 1 }, total: false },
    selection: {
      fields: [requireScalar(type, 'id'), requireScalar(type, 'documentId')],
      named: true,
      populate: [],
    },
    filter: toFilter(type, text),
  })
  const found = JSON.parse((await documents.findMany(query, 'flat')).text) as readonly NamedRecord[]
  return found[0] ?? null
}

const toFilter = (type: ContentType, text: string): Filter => {
  const isNumber = /^\d{1,9}$/.test(text)
  return {
    kind: 'comparison',
    attribute: requireScalar(type, isNumber ? 'id' : 'documentId'),
    operator: '$eq',
    values: [isNumber ? Number(text) : text],
  }
}

/** Parses the selection of a fixed mutation that answers documents. */
export const parseResponseSelection = (
  type: ContentType,
  { caller, info, use }: AnswerScope,
  options: ResolveOptions,
): Selection =>
  parseDocumentSelection(type, { nodes: info.fieldNodes, use }, toOperationContext(info, caller, options))

interface AnswerScope {
  readonly caller: Caller
  readonly info: GraphQLResolveInfo
  readonly use: DocumentUse
}

interface AnswerQuery {
  readonly type: ContentType
  /** The documentIds of the rows. */
  readonly ids: readonly string[]
  readonly caller: Caller
  /** The action whose permission the caller needs. */
  readonly action: Action
  readonly use: DocumentUse
}

/** Reads rows of a built-in type in the order of `ids`, restricted to what the caller may read. */
export async function answerRows(
  { type, ids, caller, action, use }: AnswerQuery,
  info: GraphQLResolveInfo,
  options: ResolveOptions,
): Promise<readonly AnsweredRow[]> {
  const selection = parseResponseSelection(type, { caller, info, use }, options)
  const query: Query = {
    ...ALL_ROWS,
    type,
    take: { kind: 'many', page: { start: 0, limit: ids.length }, total: false },
    selection,
    filter: {
      kind: 'comparison',
      attribute: requireScalar(type, 'documentId'),
      operator: '$in',
      values: ids,
    },
  }
  const { text } = await options.documents.findMany(restrict(query, caller, action), 'flat')
  const rows = JSON.parse(text) as readonly AnsweredRow[]
  return ids.flatMap(id => rows.filter(({ documentId }) => documentId === id))
}
