import { entityTag } from '../base/entity-tag.ts'
import type { Failed } from '../base/result.ts'
import type { FoundBody } from '../cache/cacheable-read.ts'
import { answerFault, type HttpAnswer } from '../faults/exchange.ts'
import { type Fault, forbidden } from '../faults/fault.ts'
import type { Shape } from '../plan/row.ts'
import type { Visit } from './request-visit.ts'

export const refuse = ({ reasons }: Failed<Fault>): HttpAnswer => answerFault(reasons[0] ?? forbidden())

/** contract/rest.md 16: the value is exact. */
export const shapeOf = ({ request }: Visit): Shape =>
  request.headers['strapi-response-format'] === 'v4' ? 'v4' : 'flat'

/** A body as it is found. */
export const answerFound = (found: FoundBody, visit: Pick<Visit, 'request'>): HttpAnswer =>
  typeof found === 'string' ? answer(found, visit) : { ...answer(found.bytes, visit), tag: found.tag }

const PRIVATE = { 'Cache-Control': 'private' }

/** What credentials opened is for their owner alone. */
export const answer = (
  body: string | Buffer,
  { request }: Pick<Visit, 'request'>,
  status = 200,
): HttpAnswer =>
  request.headers.authorization === undefined
    ? { status, body, tagged: true }
    : { status, body, tagged: true, headers: PRIVATE }

/** The envelope of one document (contract/rest.md 1), around its JSON text. */
export const envelope = (text: string | null): string => `{"data":${text},"meta":{}}`

/** The tag that an answer with this document goes out with. */
export const documentTag = (text: string): string => entityTag(envelope(text))

export const answerDocument = (text: string | null, visit: Visit, status = 200): HttpAnswer =>
  answer(envelope(text), visit, status)

/** contract/rest.md 1: these are plain text. */
export function answerMethod(method: string, allow: string): HttpAnswer {
  const headers = { Allow: allow }
  if (method === 'OPTIONS') return { status: 200, body: '', type: TEXT, headers }
  return { status: 405, body: 'Method Not Allowed', type: TEXT, headers }
}

const TEXT = 'text/plain; charset=utf-8'
