import { restrict } from '../access/restrict/restrict.ts'
import type { HttpAnswer } from '../actions/action-call.ts'
import { splitCursor } from '../actions/parameters/cursor.ts'
import { paginationKey, printPagination } from '../actions/parameters/parse-pagination.ts'
import { isUnstorable } from '../actions/prepare-read.ts'
import { timePart } from '../base/request-context.ts'
import type { BodyFormat } from '../cache/answer-store.ts'
import { notFound, RequestFault } from '../faults/fault.ts'
import type { HttpResponse } from '../faults/http-exchange.ts'
import type { Query, RestrictedQuery } from '../query/query.ts'
import { answerBody, envelope, responseShape } from './answer.ts'
import { type CachedQuery, parseListSearch, parseOneSearch, restrictOnce } from './query-cache.ts'
import type { RestCall, RestTerms } from './rest-call.ts'

/** A list with `meta.pagination` (reference/rest.md#1-envelope-and-status-codes, reference/rest.md#5-pagination). */
export async function getList(call: RestCall, terms: RestTerms): Promise<HttpResponse> {
  const { route, request } = call
  const known = timePart(request, 'parse', () => parseListSearch(route.type, request.search, terms))
  const query = restrictCached(known, known.parsed.query, call)
  const body = { ...listBody(query, known.parsed.pagination), query, shape: responseShape(call) }
  const found = await terms.documents.findBody(body, { trail: request, ahead: call.prefetch })
  if (found === null) throw new RequestFault(notFound())
  return answerBody(found, call)
}

/** One document, or the only one of a single type. */
export async function getDocument(call: RestCall, terms: RestTerms): Promise<HttpResponse> {
  const { route, request } = call
  const { type, documentId } = route
  const known = timePart(request, 'parse', () => parseOneSearch(type, request.search, terms))
  const query = restrictCached(known, known.parsed, call)
  if (isUnstorable(documentId)) throw new RequestFault(notFound())
  const body = { ...DOCUMENT_BODY, query, shape: responseShape(call) }
  const found = await terms.documents.findBody(body, {
    trail: request,
    ahead: call.prefetch,
    ...(documentId !== null && { documentId }),
  })
  if (found === null) throw new RequestFault(notFound())
  return answerBody(found, call)
}

const restrictCached = (
  known: Pick<CachedQuery<unknown>, 'restricted'>,
  query: Query,
  { request, caller }: RestCall,
): RestrictedQuery =>
  timePart(request, 'narrow', () => restrictOnce(known, caller, () => restrict(query, caller)))

export const listBody: HttpAnswer['listBody'] = ({ type, sort }, pagination) => ({
  formatKey: paginationKey(pagination),
  print({ text, total }) {
    const { documents, next } =
      pagination.form === 'cursor' && text !== null
        ? splitCursor(text, type, sort)
        : { documents: text ?? '[]', next: null }
    return `{"data":${documents},"meta":{"pagination":${printPagination(pagination, total, next)}}}`
  },
})

export const DOCUMENT_BODY: BodyFormat = {
  formatKey: 'one',
  print: ({ text }) => (text === null ? null : envelope(text)),
}
