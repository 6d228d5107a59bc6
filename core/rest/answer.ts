import type { BodyOrText } from '../cache/answer-store.ts'
import type { HttpResponse } from '../faults/http-exchange.ts'
import type { AnswerShape } from '../plan/row.ts'
import type { RestCall, RestOptions } from './rest-call.ts'
import { isStrapi4Format, isStrapi4Request } from './strapi4.ts'

/** Strapi 4's response format, if the header or the project asks for it; what only Strapi 4 did, if the project asks (reference/rest.md#16-response-format-v4-and-query-parsing). */
export const responseShape = ({ request }: RestCall, { settings }: RestOptions): AnswerShape =>
  !isStrapi4Format(request, settings) ? 'flat' : isStrapi4Request(request, settings) ? 'strapi4' : 'v4'

/** Answers a body from the response cache or the database. */
export const answerBody = (found: BodyOrText, call: Pick<RestCall, 'request'>): HttpResponse =>
  typeof found === 'string' ? answerJson(found, call) : { ...answerJson(found.bytes, call), etag: found.tag }

const PRIVATE = { 'Cache-Control': 'private' }

/** JSON with status 200 or another. Answers to requests with credentials are private: no shared cache may keep them. */
export const answerJson = (
  body: string | Buffer,
  { request }: Pick<RestCall, 'request'>,
  status = 200,
): HttpResponse =>
  request.headers.authorization === undefined
    ? { status, body, hasEtag: true }
    : { status, body, hasEtag: true, headers: PRIVATE }

/** The envelope of a document (reference/rest.md#1-envelope-and-status-codes). */
export const ENVELOPE = { before: '{"data":', after: ',"meta":{}}' } as const

/** Puts the JSON text of a document into its envelope. */
export const envelope = (text: string | null): string => `${ENVELOPE.before}${text}${ENVELOPE.after}`

export const answerDocument = (text: string | null, call: RestCall, status = 200): HttpResponse =>
  answerJson(envelope(text), call, status)

/** Answers OPTIONS, or 405 for any other method, in plain text (reference/rest.md#1-envelope-and-status-codes). */
export function answerMethod(method: string, allow: string): HttpResponse {
  const headers = { Allow: allow }
  if (method === 'OPTIONS') return { status: 200, body: '', type: TEXT, headers }
  return { status: 405, body: 'Method Not Allowed', type: TEXT, headers }
}

const TEXT = 'text/plain; charset=utf-8'
