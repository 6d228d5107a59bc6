import type { Query, RestrictedQuery } from '../query/query.ts'
import { parseListQuery, parseOneQuery } from '../rest/parameters/parse-query.ts'
import type { Act, Params, Prepare } from './act.ts'
import { see } from './narrow.ts'
import { parseWith } from './parse-with.ts'
import { documentIdOf, toPagination, toParameters, unlimited } from './read-params.ts'

export const findMany: Prepare = (params, act) => {
  const query = see(listQuery(params, act), act)
  return async () => JSON.parse((await act.terms.documents.findMany(query, 'flat')).text)
}

export const findFirst: Prepare = (params, act) => {
  const query = see(listQuery({ ...params, limit: 1 }, act), act)
  return async () => JSON.parse((await act.terms.documents.findMany(query, 'flat')).text)[0] ?? null
}

export const count: Prepare = (params, act) => {
  const listed = listQuery({ ...params, fields: ['documentId'] }, act)
  const take: Query['take'] = { kind: 'many', page: { start: 0, limit: 1 }, total: true }
  const query = see({ ...listed, take }, act)
  return async () => (await act.terms.documents.findMany(query, 'flat')).total ?? 0
}

export const findOne: Prepare = (params, act) => {
  const { type, terms } = act
  const documentId = documentIdOf(params, act)
  const parameters = toParameters(act, params)
  const query = see(
    parseWith(type, () => parseOneQuery(type, documentId, parameters, terms)),
    act,
  )
  return () => readOne(query, act)
}

/** PostgreSQL takes no NUL; no document has one in its id. */
async function readOne(query: RestrictedQuery, { terms }: Act): Promise<unknown> {
  if (query.take.kind === 'one' && query.take.documentId?.includes('\0')) return null
  const text = await terms.documents.findOne(query, 'flat')
  return text === null ? null : JSON.parse(text)
}

export function listQuery(params: Params, act: Act): Query {
  const { type, terms } = act
  const parameters = toPagination(toParameters(act, params))
  const settings = unlimited(terms.settings)
  return parseWith(type, () => parseListQuery(type, parameters, { ...terms, settings })).query
}
