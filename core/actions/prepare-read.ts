import type { BodyFormat } from '../cache/answer-store.ts'
import type { Query, RestrictedQuery } from '../query/query.ts'
import type { ActionResult, PrepareAction } from './action-call.ts'
import { type ActionCall, type ActionTerms, parseExplained, queryParams } from './action-call.ts'
import { authorizeQuery } from './authorize.ts'
import { type ListQuery, parseListQuery, parseOneQuery } from './parameters/parse-query.ts'
import { type Params, parseDocumentId } from './params.ts'

export const prepareFindMany: PrepareAction = (call, terms) => {
  const { query, pagination } = parseList(call, terms)
  const restricted = authorizeQuery(query, call)
  const { http } = call
  if (http) return () => readBody(restricted, http.listBody(restricted, pagination), { call, terms })
  return async () => toResult(JSON.parse((await terms.documents.findMany(restricted, 'flat')).text))
}

export const prepareFindFirst: PrepareAction = (call, terms) => {
  const query = authorizeQuery(parseList(call, terms, { pagination: { limit: '1' } }).query, call)
  return async () => {
    const [first = null] = JSON.parse((await terms.documents.findMany(query, 'flat')).text)
    return toResult(first)
  }
}

export const prepareCount: PrepareAction = (call, terms) => {
  const listed = parseList(call, terms, { fields: ['documentId'] }).query
  const take: Query['take'] = { kind: 'many', page: { start: 0, limit: 1 }, total: true }
  const query = authorizeQuery({ ...listed, take }, call)
  return async () => toResult((await terms.documents.findMany(query, 'flat')).total ?? 0)
}

export const prepareFindOne: PrepareAction = (call, terms) => {
  const documentId = parseDocumentId(call.params, call.type)
  const params = queryParams(call, terms)
  const query = authorizeQuery(
    parseExplained(call, terms, () => parseOneQuery(call.type, documentId, params, terms)),
    call,
  )
  const { http } = call
  return async () => {
    if (isUnstorable(documentId)) return { kind: 'missing' }
    if (http) return readBody(query, http.documentBody, { call, terms })
    const text = await terms.documents.findOne(query, 'flat')
    return text === null ? { kind: 'missing' } : { kind: 'document', text }
  }
}

/** PostgreSQL cannot store NUL, so no document has such an id. */
export const isUnstorable = (documentId: string | null): boolean => documentId?.includes('\0') === true

const toResult = (value: unknown): ActionResult => ({ kind: 'value', value })

const parseList = (call: ActionCall, terms: ActionTerms, fixed: Params = {}): ListQuery => {
  const params = { ...queryParams(call, terms), ...fixed }
  return parseExplained(call, terms, () => parseListQuery(call.type, params, terms))
}

interface ReadContext {
  readonly call: ActionCall
  readonly terms: ActionTerms
}

/** Reads a body through the response cache. */
async function readBody(
  query: RestrictedQuery,
  format: BodyFormat,
  { call: { http }, terms }: ReadContext,
): Promise<ActionResult> {
  const { take } = query
  const options = take.kind === 'one' && take.documentId !== null ? { documentId: take.documentId } : {}
  const found = await terms.documents.findBody(
    { ...format, query, shape: http?.shape ?? 'flat' },
    { ...(http && { trail: http.trail }), ...options },
  )
  return found === null ? { kind: 'missing' } : { kind: 'body', body: found }
}
