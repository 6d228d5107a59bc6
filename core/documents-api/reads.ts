import type { Query, RestrictedQuery } from '../query/query.ts'
import { parseListQuery, parseOneQuery } from '../rest/parameters/parse-query.ts'
import type { ActionCall, Params, PrepareAction } from './action-call.ts'
import { authorizeQuery } from './authorize.ts'
import {
  parseDocumentId,
  parseWithSuggestions,
  toPagination,
  toParameters,
  unlimitedSettings,
} from './parse-params.ts'

export const prepareFindMany: PrepareAction = (params, call) => {
  const query = authorizeQuery(listQuery(params, call), call)
  return async () => JSON.parse((await call.terms.documents.findMany(query, 'flat')).text)
}

export const prepareFindFirst: PrepareAction = (params, call) => {
  const query = authorizeQuery(listQuery({ ...params, limit: 1 }, call), call)
  return async () => JSON.parse((await call.terms.documents.findMany(query, 'flat')).text)[0] ?? null
}

export const prepareCount: PrepareAction = (params, call) => {
  const listed = listQuery({ ...params, fields: ['documentId'] }, call)
  const take: Query['take'] = { kind: 'many', page: { start: 0, limit: 1 }, total: true }
  const query = authorizeQuery({ ...listed, take }, call)
  return async () => (await call.terms.documents.findMany(query, 'flat')).total ?? 0
}

export const prepareFindOne: PrepareAction = (params, call) => {
  const { type, terms } = call
  const documentId = parseDocumentId(params, call)
  const parameters = toParameters(call, params)
  const query = authorizeQuery(
    parseWithSuggestions(type, () => parseOneQuery(type, documentId, parameters, terms)),
    call,
  )
  return () => readOne(query, call)
}

/** PostgreSQL cannot store NUL, so no document has such an id. */
async function readOne(query: RestrictedQuery, { terms }: ActionCall): Promise<unknown> {
  if (query.take.kind === 'one' && query.take.documentId?.includes('\0')) return null
  const text = await terms.documents.findOne(query, 'flat')
  return text === null ? null : JSON.parse(text)
}

export function listQuery(params: Params, call: ActionCall): Query {
  const { type, terms } = call
  const parameters = toPagination(toParameters(call, params))
  const settings = unlimitedSettings(terms.settings)
  return parseWithSuggestions(type, () => parseListQuery(type, parameters, { ...terms, settings })).query
}
