import { permit } from '../access/restrict/permit.ts'
import { ok, type Result } from '../base/result.ts'
import { answerFault, type HttpAnswer } from '../faults/exchange.ts'
import { type Fault, notFound } from '../faults/fault.ts'
import type { GivenValues } from '../query/command.ts'
import { parseGivenValues } from '../query/parse-given-values.ts'
import { answerDocument, documentTag, refuse, shapeOf } from './answer.ts'
import { parsePrecondition } from './parse-precondition.ts'
import { parseDeleted, parseWriteTarget, type WriteTarget } from './parse-write.ts'
import { allow, dataOf } from './request-input.ts'
import type { RestTerms, Visit } from './request-visit.ts'

/** POST: 201 with the new document (contract/rest.md 1). */
export async function create(visit: Visit, terms: RestTerms): Promise<HttpAnswer> {
  const { type } = visit.route
  const asked = await parseWrite(visit, 'create', terms)
  if (!asked.ok) return refuse(asked)
  const { answer, values, locale, status } = asked.value
  const permitted = allow({ kind: 'create', type, locale, status, values }, visit)
  if (!permitted.ok) return refuse(permitted)
  const written = await terms.documents.create(permitted.value, {
    query: answer,
    shape: shapeOf(visit),
    tagOf: documentTag,
    trail: visit.request,
  })
  return written.ok ? answerDocument(written.value.text, visit, 201) : refuse(written)
}

/** PUT: 200, also where a single type's document was not there before. */
export async function update(visit: Visit, terms: RestTerms): Promise<HttpAnswer> {
  const { type, documentId } = visit.route
  const asked = await parseWrite(visit, 'update', terms)
  if (!asked.ok) return refuse(asked)
  const { answer, values, locale, status } = asked.value
  const precondition = parsePrecondition(visit.request.headers['if-match'])
  const permitted = allow({ kind: 'update', type, documentId, locale, status, values, precondition }, visit)
  if (!permitted.ok) return refuse(permitted)
  if (isUnstorable(documentId)) return answerFault(notFound())
  const written = await terms.documents.update(permitted.value, {
    query: answer,
    shape: shapeOf(visit),
    tagOf: documentTag,
    trail: visit.request,
  })
  return written.ok ? answerDocument(written.value.text, visit) : refuse(written)
}

/** DELETE: 204, also where there was nothing. The body is not read. */
export async function remove(visit: Visit, terms: RestTerms): Promise<HttpAnswer> {
  const { type, documentId } = visit.route
  const asked = parseDeleted(visit, terms)
  if (!asked.ok) return refuse(asked)
  const { locale, seen } = asked.value
  const precondition = parsePrecondition(visit.request.headers['if-match'])
  const permitted = permit({ kind: 'delete', type, documentId, locale, precondition }, visit.caller)
  if (!permitted.ok) return refuse(permitted)
  if (isUnstorable(documentId)) return NOTHING
  const answers = seen.map(query => ({
    query,
    shape: shapeOf(visit),
    tagOf: documentTag,
    trail: visit.request,
  }))
  const deleted = await terms.documents.delete(permitted.value, answers)
  return deleted.ok ? NOTHING : refuse(deleted)
}

const NOTHING: HttpAnswer = { status: 204, body: null }

/** PostgreSQL takes no NUL; no document has one in its id. */
const isUnstorable = (documentId: string | null): boolean => documentId?.includes('\0') === true

type AskedWrite = WriteTarget & { readonly values: GivenValues }

/** contract/rest.md 2, "Order of checks": the query, then the body. */
async function parseWrite(
  visit: Visit,
  action: 'create' | 'update',
  terms: RestTerms,
): Promise<Result<AskedWrite, Fault>> {
  const target = parseWriteTarget(visit, action, terms)
  if (!target.ok) return target
  const data = await dataOf(visit)
  if (!data.ok) return data
  const values = parseGivenValues(visit.route.type, data.value, { sealed: Boolean(visit.given?.before) })
  return values.ok ? ok({ ...target.value, values: values.value }) : values
}
