import type { ServerResponse } from 'node:http'
import { toRequestFault } from '../database/request-fault.ts'
import { type Fault, type FaultCode, fault, RequestFault } from '../faults/fault.ts'
import { type HttpRequest, type HttpResponse, isSafeMethod } from '../faults/http-exchange.ts'
import type { Observer } from '../observe/observation.ts'

export const JSON_TYPE = 'application/json; charset=utf-8'

/** Sends an answer in one piece. Appends the answer's own headers to `headers`. */
export function writeAnswer(response: ServerResponse, answer: HttpResponse, headers: string[]): void {
  const { status, body } = answer
  if (body !== null) {
    headers.push('Content-Type', answer.type ?? JSON_TYPE)
    headers.push('Content-Length', String(Buffer.byteLength(body)))
  }
  for (const name in answer.headers) headers.push(name, answer.headers[name] ?? '')
  for (const cookie of answer.cookies ?? []) headers.push('Set-Cookie', cookie)
  // The rest of a body that is too large is not read.
  if (status === 413) headers.push('Connection', 'close')
  if (status === 503 && !answer.isOutcomeUnknown) headers.push('Retry-After', '1')
  response.writeHead(status, headers)
  response.end(body)
}

const TEXT = 'text/plain; charset=utf-8'

/** Allow of a path that no responder knows (reference/rest.md#1-envelope-and-status-codes). */
export const ALLOWED_ANYWHERE = 'HEAD, GET'

/** The answer to a method that is not implemented on any path (reference/rest.md#1-envelope-and-status-codes). */
export const notImplemented = (allow: string): HttpResponse => ({
  status: 501,
  body: 'Not Implemented',
  type: TEXT,
  headers: { Allow: allow },
})

/** The answer to a method that this path does not have. */
export const methodNotAllowed = (allow: string): HttpResponse => ({
  status: 405,
  body: 'Method Not Allowed',
  type: TEXT,
  headers: { Allow: allow },
})

/** The answer to OPTIONS on a path that no responder knows. */
export const OPTIONS_ANYWHERE: HttpResponse = {
  status: 200,
  body: '',
  type: TEXT,
  headers: { Allow: ALLOWED_ANYWHERE },
}

/** The public fault for anything thrown; details are only logged. */
export function faultOfError(error: unknown, requestId: string, observer: Observer): Fault {
  const known = toRequestFault(error)
  if (known === null && error instanceof RequestFault) return error.fault
  if (known === null) {
    observer.emit({ kind: 'failed', requestId, error })
    return fault('internal', 'Internal Server Error')
  }
  if (known.reason !== null) observer.emit({ kind: 'unavailable', requestId, reason: known.reason })
  return known.fault
}

/**
 * Adds `outcome` (reference/rest.md#17-differences-from-strapi) to faults with status 500 and 503: always for requests that may write, for reads
 * only after a write. An internal fault gets it only after a write.
 */
export function withOutcome(given: Fault, { method, writes }: HttpRequest): Fault {
  if (given.code !== 'unavailable' && given.code !== 'internal') return given
  const isUnknown = given.details.outcome === 'unknown' || writes?.outcome !== 'not-written'
  const outcome = isUnknown ? 'unknown' : 'not-written'
  if (outcome === 'not-written' && (given.code === 'internal' || isSafeMethod(method))) return given
  return { ...given, details: { ...given.details, outcome } }
}

export const unavailableFault = (): Fault => fault('unavailable', 'Service Unavailable')

/** Codes of the client errors that Express libraries raise, by status. */
const CODES: ReadonlyMap<number, FaultCode> = new Map([
  [401, 'unauthorized'],
  [403, 'forbidden'],
  [404, 'notFound'],
  [405, 'methodNotAllowed'],
  [408, 'requestTimeout'],
  [412, 'preconditionFailed'],
  [413, 'payloadTooLarge'],
  [416, 'rangeNotSatisfiable'],
  [429, 'rateLimit'],
])

/**
 * The fault of a client error: one with a status of 400 to 499 whose message may be shown (`expose`, as set by
 * http-errors). null: the error is a failure of the server.
 */
export function clientFaultOf(error: unknown): Fault | null {
  if (!(error instanceof Error) || !('expose' in error) || error.expose !== true) return null
  const status = 'status' in error ? error.status : undefined
  if (typeof status !== 'number' || status < 400 || status > 499) return null
  return fault(CODES.get(status) ?? 'badRequest', error.message)
}
