import { permit } from '../access/restrict/permit.ts'
import { ok, type Result } from '../base/result.ts'
import { type Fault, notFound } from '../faults/fault.ts'
import { type HttpResponse, toFaultResponse } from '../faults/http-exchange.ts'
import type { GivenValues, Precondition } from '../query/command.ts'
import { parseGivenValues } from '../query/parse-given-values.ts'
import { answerDocument, answerRefusal, documentTag, responseShape } from './answer.ts'
import { inputData, permitCommand, type RestCall, type RestTerms } from './rest-call.ts'
import { parseDeleteTarget, parseWriteTarget, type WriteTarget } from './write-target.ts'

/** POST: 201 with the new document (reference/rest.md#1-envelope-and-status-codes). */
export async function postDocument(call: RestCall, terms: RestTerms): Promise<HttpResponse> {
  const { type } = call.route
  const parsed = await parseWrite(call, 'create', terms)
  if (!parsed.ok) return answerRefusal(parsed)
  const { answer, values, locale, status } = parsed.value
  const permitted = permitCommand({ kind: 'create', type, locale, status, values }, call)
  if (!permitted.ok) return answerRefusal(permitted)
  const written = await terms.documents.create(permitted.value, {
    query: answer,
    shape: responseShape(call),
    tagOf: documentTag,
    trail: call.request,
  })
  return written.ok ? answerDocument(written.value.text, call, 201) : answerRefusal(written)
}

/** PUT: 200, even if it creates a single type's document. */
export async function putDocument(call: RestCall, terms: RestTerms): Promise<HttpResponse> {
  const { type, documentId } = call.route
  const parsed = await parseWrite(call, 'update', terms)
  if (!parsed.ok) return answerRefusal(parsed)
  const { answer, values, locale, status } = parsed.value
  const precondition = parsePrecondition(call.request.headers['if-match'])
  const permitted = permitCommand(
    { kind: 'update', type, documentId, locale, status, values, precondition },
    call,
  )
  if (!permitted.ok) return answerRefusal(permitted)
  if (isUnstorable(documentId)) return toFaultResponse(notFound())
  const written = await terms.documents.update(permitted.value, {
    query: answer,
    shape: responseShape(call),
    tagOf: documentTag,
    trail: call.request,
  })
  return written.ok ? answerDocument(written.value.text, call) : answerRefusal(written)
}

/** DELETE: 204, even if there was no document. The body is not read. */
export async function deleteRestDocument(call: RestCall, terms: RestTerms): Promise<HttpResponse> {
  const { type, documentId } = call.route
  const parsed = parseDeleteTarget(call, terms)
  if (!parsed.ok) return answerRefusal(parsed)
  const { locale, versions: seen } = parsed.value
  const precondition = parsePrecondition(call.request.headers['if-match'])
  const permitted = permit({ kind: 'delete', type, documentId, locale, precondition }, call.caller)
  if (!permitted.ok) return answerRefusal(permitted)
  if (isUnstorable(documentId)) return NO_CONTENT
  const answers = seen.map(query => ({
    query,
    shape: responseShape(call),
    tagOf: documentTag,
    trail: call.request,
  }))
  const deleted = await terms.documents.delete(permitted.value, answers)
  return deleted.ok ? NO_CONTENT : answerRefusal(deleted)
}

const NO_CONTENT: HttpResponse = { status: 204, body: null }

/** PostgreSQL cannot store NUL, so no document has such an id. */
const isUnstorable = (documentId: string | null): boolean => documentId?.includes('\0') === true

type ParsedWrite = WriteTarget & { readonly values: GivenValues }

/** Parses the query, then the body (reference/rest.md#2-errors, "Order of checks"). */
async function parseWrite(
  call: RestCall,
  action: 'create' | 'update',
  terms: RestTerms,
): Promise<Result<ParsedWrite, Fault>> {
  const target = parseWriteTarget(call, action, terms)
  if (!target.ok) return target
  const data = await inputData(call)
  if (!data.ok) return data
  const values = parseGivenValues(call.route.type, data.value, { sealed: Boolean(call.input?.original) })
  return values.ok ? ok({ ...target.value, values: values.value }) : values
}

/**
 * `If-Match` (RFC 9110, 13.1.1); null without the header. Weak tags never match and are dropped. A malformed header
 * yields no tags, so the precondition fails and nothing is written.
 */
export function parsePrecondition(header: string | undefined): Precondition | null {
  if (header === undefined) return null
  if (header.trim() === '*') return { tags: ['*'] }
  if (!/^[\s,]*$/.test(header.replaceAll(TAG, ''))) return { tags: [] }
  const strong = [...header.matchAll(TAG)].filter(([tag]) => !tag.startsWith('W/'))
  return { tags: strong.map(([, tag = '']) => tag).filter(tag => tag !== '*') }
}

const TAG = /(?:W\/)?"([^"]*)"/g
