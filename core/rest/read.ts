import { timed } from '../base/request-context.ts'
import { ok, type Result } from '../base/result.ts'
import type { AskedBody } from '../cache/cacheable-read.ts'
import { answerFault, type HttpAnswer } from '../faults/exchange.ts'
import { type Fault, notFound } from '../faults/fault.ts'
import type { RestrictedQuery } from '../query/query.ts'
import { answerFound, envelope, refuse, shapeOf } from './answer.ts'
import { parseListText, parseOneText, seeKnown } from './known-queries.ts'
import { takeCursor } from './parameters/cursor.ts'
import { formOf, printPagination } from './parameters/parse-pagination.ts'
import { type ListQuery, parseListQuery, parseOneQuery } from './parameters/parse-query.ts'
import { see } from './request-input.ts'
import type { RestTerms, Visit } from './request-visit.ts'

/** A list with `meta.pagination` (contract/rest.md 1 and 5). */
export async function findMany(visit: Visit, terms: RestTerms): Promise<HttpAnswer> {
  const list = parseList(visit, terms)
  if (!list.ok) return refuse(list)
  const { query, pagination: asked } = list.value
  const print: AskedBody['print'] = ({ text, total }) => {
    const { documents, next } =
      asked.form === 'cursor' && text !== null
        ? takeCursor(text, query.type, query.sort)
        : { documents: text ?? '[]', next: null }
    return `{"data":${documents},"meta":{"pagination":${printPagination(asked, total, next)}}}`
  }
  const body = { query, shape: shapeOf(visit), form: formOf(asked), print }
  const found = await terms.documents.findBody(body, { trail: visit.request, ahead: visit.ahead })
  return found === null ? answerFault(notFound()) : answerFound(found, visit)
}

/** The list as the caller sees it. */
function parseList(visit: Visit, terms: RestTerms): Result<ListQuery & { query: RestrictedQuery }, Fault> {
  const { given, route, request, caller } = visit
  if (!given) {
    const known = timed(request, 'parse', () => parseListText(route.type, request.search, terms))
    if (!known.ok) return known
    const { parsed } = known.value
    const query = timed(request, 'narrow', () =>
      seeKnown(known.value, caller, () => see(parsed.query, visit)),
    )
    return seen(parsed, query)
  }
  const parsed = parseListQuery(route.type, given.parameters, terms)
  return parsed.ok ? seen(parsed.value, see(parsed.value.query, visit)) : parsed
}

const seen = (
  { pagination }: ListQuery,
  query: Result<RestrictedQuery, Fault>,
): Result<ListQuery & { query: RestrictedQuery }, Fault> =>
  query.ok ? ok({ pagination, query: query.value }) : query

const ONE: AskedBody = { form: 'one', print: ({ text }) => (text === null ? null : envelope(text)) }

/** One document, or the one of a single type. */
export async function findOne(visit: Visit, terms: RestTerms): Promise<HttpAnswer> {
  const { documentId } = visit.route
  const query = parseOne(visit, terms)
  if (!query.ok) return refuse(query)
  if (documentId?.includes('\0')) return answerFault(notFound())
  const body = { ...ONE, query: query.value, shape: shapeOf(visit) }
  const found = await terms.documents.findBody(body, {
    trail: visit.request,
    ahead: visit.ahead,
    ...(documentId !== null && { documentId }),
  })
  return found === null ? answerFault(notFound()) : answerFound(found, visit)
}

/** The document as the caller sees it. */
function parseOne(visit: Visit, terms: RestTerms): Result<RestrictedQuery, Fault> {
  const { given, route, request, caller } = visit
  const { type, documentId } = route
  if (!given) {
    const known = timed(request, 'parse', () => parseOneText(type, request.search, terms))
    if (!known.ok) return known
    const { parsed } = known.value
    return timed(request, 'narrow', () => seeKnown(known.value, caller, () => see(parsed, visit)))
  }
  const parsed = parseOneQuery(type, documentId, given.parameters, terms)
  return parsed.ok ? see(parsed.value, visit) : parsed
}
