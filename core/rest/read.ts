import { restrict } from '../access/restrict.ts'
import type { Failed } from '../base/result.ts'
import { answerFault, type HttpAnswer } from '../faults/exchange.ts'
import { type Fault, forbidden, notFound } from '../faults/fault.ts'
import type { Shape } from '../plan/row.ts'
import { printPagination } from './parse-pagination.ts'
import { parseListQuery, parseOneQuery } from './parse-query.ts'
import { parseQueryString } from './parse-query-string.ts'
import type { RestTerms, Visit } from './visit.ts'

/** A list with `meta.pagination` (contract/rest.md 1 and 5). */
export async function findMany(visit: Visit, terms: RestTerms): Promise<HttpAnswer> {
  const parameters = parseQueryString(visit.request.search)
  if (!parameters.ok) return refuse(parameters)
  const parsed = parseListQuery(visit.route.type, parameters.value, terms)
  if (!parsed.ok) return refuse(parsed)
  const restricted = restrict(parsed.value.query, visit.caller)
  if (!restricted.ok) return refuse(restricted)
  const { text, total } = await terms.documents.findMany(restricted.value, shapeOf(visit))
  const pagination = printPagination(parsed.value.pagination, total)
  return answer(`{"data":${text},"meta":{"pagination":${pagination}}}`, visit)
}

/** One document, or the one of a single type. */
export async function findOne(visit: Visit, terms: RestTerms): Promise<HttpAnswer> {
  const parameters = parseQueryString(visit.request.search)
  if (!parameters.ok) return refuse(parameters)
  const { type, documentId } = visit.route
  const parsed = parseOneQuery(type, documentId, parameters.value, terms)
  if (!parsed.ok) return refuse(parsed)
  const restricted = restrict(parsed.value, visit.caller)
  if (!restricted.ok) return refuse(restricted)
  if (documentId?.includes('\0')) return answerFault(notFound())
  const text = await terms.documents.findOne(restricted.value, shapeOf(visit))
  return text === null ? answerFault(notFound()) : answer(`{"data":${text},"meta":{}}`, visit)
}

const refuse = ({ reasons }: Failed<Fault>): HttpAnswer => answerFault(reasons[0] ?? forbidden())

/** contract/rest.md 16: the value is exact. */
const shapeOf = ({ request }: Visit): Shape =>
  request.headers['strapi-response-format'] === 'v4' ? 'v4' : 'flat'

const PRIVATE = { 'Cache-Control': 'private' }

/** What credentials opened is for their owner alone. */
const answer = (body: string, { request }: Visit): HttpAnswer =>
  request.headers.authorization === undefined
    ? { status: 200, body, tagged: true }
    : { status: 200, body, tagged: true, headers: PRIVATE }
