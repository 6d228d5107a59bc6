import { timePart } from '../base/request-context.ts'
import { ok, type Result } from '../base/result.ts'
import type { BodyFormat } from '../cache/answer-store.ts'
import { type Fault, notFound } from '../faults/fault.ts'
import { type HttpResponse, toFaultResponse } from '../faults/http-exchange.ts'
import type { RestrictedQuery } from '../query/query.ts'
import { answerBody, answerRefusal, envelope, responseShape } from './answer.ts'
import { splitCursor } from './parameters/cursor.ts'
import { paginationKey, printPagination } from './parameters/parse-pagination.ts'
import { type ListQuery, parseListQuery, parseOneQuery } from './parameters/parse-query.ts'
import { parseListSearch, parseOneSearch, restrictOnce } from './query-cache.ts'
import { type RestCall, type RestTerms, restrictQuery } from './rest-call.ts'

/** A list with `meta.pagination` (reference/rest.md#1-envelope-and-status-codes, reference/rest.md#5-pagination). */
export async function getList(call: RestCall, terms: RestTerms): Promise<HttpResponse> {
  const list = parseList(call, terms)
  if (!list.ok) return answerRefusal(list)
  const { query, pagination } = list.value
  const print: BodyFormat['print'] = ({ text, total }) => {
    const { documents, next } =
      pagination.form === 'cursor' && text !== null
        ? splitCursor(text, query.type, query.sort)
        : { documents: text ?? '[]', next: null }
    return `{"data":${documents},"meta":{"pagination":${printPagination(pagination, total, next)}}}`
  }
  const body = { query, shape: responseShape(call), formatKey: paginationKey(pagination), print }
  const found = await terms.documents.findBody(body, { trail: call.request, ahead: call.prefetch })
  return found === null ? toFaultResponse(notFound()) : answerBody(found, call)
}

/** The list's query, restricted to what the caller may read. */
function parseList(call: RestCall, terms: RestTerms): Result<ListQuery & { query: RestrictedQuery }, Fault> {
  const { input, route, request, caller } = call
  if (!input) {
    const known = timePart(request, 'parse', () => parseListSearch(route.type, request.search, terms))
    if (!known.ok) return known
    const { parsed } = known.value
    const query = timePart(request, 'narrow', () =>
      restrictOnce(known.value, caller, () => restrictQuery(parsed.query, call)),
    )
    return withQuery(parsed, query)
  }
  const parsed = parseListQuery(route.type, input.parameters, terms)
  return parsed.ok ? withQuery(parsed.value, restrictQuery(parsed.value.query, call)) : parsed
}

const withQuery = (
  { pagination }: ListQuery,
  query: Result<RestrictedQuery, Fault>,
): Result<ListQuery & { query: RestrictedQuery }, Fault> =>
  query.ok ? ok({ pagination, query: query.value }) : query

const ONE: BodyFormat = { formatKey: 'one', print: ({ text }) => (text === null ? null : envelope(text)) }

/** One document, or the only one of a single type. */
export async function getDocument(call: RestCall, terms: RestTerms): Promise<HttpResponse> {
  const { documentId } = call.route
  const query = parseOne(call, terms)
  if (!query.ok) return answerRefusal(query)
  if (documentId?.includes('\0')) return toFaultResponse(notFound())
  const body = { ...ONE, query: query.value, shape: responseShape(call) }
  const found = await terms.documents.findBody(body, {
    trail: call.request,
    ahead: call.prefetch,
    ...(documentId !== null && { documentId }),
  })
  return found === null ? toFaultResponse(notFound()) : answerBody(found, call)
}

/** The document's query, restricted to what the caller may read. */
function parseOne(call: RestCall, terms: RestTerms): Result<RestrictedQuery, Fault> {
  const { input, route, request, caller } = call
  const { type, documentId } = route
  if (!input) {
    const known = timePart(request, 'parse', () => parseOneSearch(type, request.search, terms))
    if (!known.ok) return known
    const { parsed } = known.value
    return timePart(request, 'narrow', () =>
      restrictOnce(known.value, caller, () => restrictQuery(parsed, call)),
    )
  }
  const parsed = parseOneQuery(type, documentId, input.parameters, terms)
  return parsed.ok ? restrictQuery(parsed.value, call) : parsed
}
