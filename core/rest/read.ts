import { answerFault, type HttpAnswer } from '../faults/exchange.ts'
import { notFound } from '../faults/fault.ts'
import { answer, answerDocument, refuse, shapeOf } from './answer.ts'
import { parametersOf, see } from './given.ts'
import { printPagination } from './parse-pagination.ts'
import { parseListQuery, parseOneQuery } from './parse-query.ts'
import type { RestTerms, Visit } from './visit.ts'

/** A list with `meta.pagination` (contract/rest.md 1 and 5). */
export async function findMany(visit: Visit, terms: RestTerms): Promise<HttpAnswer> {
  const parameters = parametersOf(visit)
  if (!parameters.ok) return refuse(parameters)
  const parsed = parseListQuery(visit.route.type, parameters.value, terms)
  if (!parsed.ok) return refuse(parsed)
  const restricted = see(parsed.value.query, visit)
  if (!restricted.ok) return refuse(restricted)
  const { text, total } = await terms.documents.findMany(restricted.value, shapeOf(visit))
  const pagination = printPagination(parsed.value.pagination, total)
  return answer(`{"data":${text},"meta":{"pagination":${pagination}}}`, visit)
}

/** One document, or the one of a single type. */
export async function findOne(visit: Visit, terms: RestTerms): Promise<HttpAnswer> {
  const parameters = parametersOf(visit)
  if (!parameters.ok) return refuse(parameters)
  const { type, documentId } = visit.route
  const parsed = parseOneQuery(type, documentId, parameters.value, terms)
  if (!parsed.ok) return refuse(parsed)
  const restricted = see(parsed.value, visit)
  if (!restricted.ok) return refuse(restricted)
  if (documentId?.includes('\0')) return answerFault(notFound())
  const text = await terms.documents.findOne(restricted.value, shapeOf(visit))
  return text === null ? answerFault(notFound()) : answerDocument(text, visit)
}
