import type { IncomingMessage, ServerResponse } from 'node:http'
import { Socket } from 'node:net'
import type { ByteBudget } from '../base/byte-budget.ts'
import { messageWithPlace, projectFrame } from '../base/project-frame.ts'
import { toRequestFault } from '../database/request-fault.ts'
import { type Fault, type FaultCode, fault, RequestFault } from '../faults/fault.ts'
import { type HttpRequest, type HttpResponse, isSafeMethod } from '../faults/http-exchange.ts'
import type { GraphqlEndpoints } from '../graphql/refusal.ts'
import type { Observer } from '../observe/observation.ts'

export const JSON_TYPE = 'application/json; charset=utf-8'

/** Sends an answer in one piece. Appends the answer's own headers to `headers`. */
export function writeAnswer(response: ServerResponse, answer: HttpResponse, headers: string[]): void {
  const { status, body } = answer
  const shared = headers.length
  if (body !== null) {
    headers.push('Content-Type', answer.type ?? JSON_TYPE)
    headers.push('Content-Length', String(Buffer.byteLength(body)))
  }
  for (const name in answer.headers) headers.push(name, answer.headers[name] ?? '')
  for (const cookie of answer.cookies ?? []) headers.push('Set-Cookie', cookie)
  // The rest of a body that is too large is not read.
  if (status === 413) headers.push('Connection', 'close')
  if (status === 503 && !answer.isOutcomeUnknown) headers.push('Retry-After', '1')
  if (hasMiddlewareHeaders(response)) {
    mergeHeaders(response, headers, shared)
    response.writeHead(status)
  } else response.writeHead(status, headers)
  response.end(body)
}

/**
 * Ends a body that is still being sent, with the connection. After an answer, Node does not report a lost connection to a
 * reader of the body, which would keep its files and memory forever.
 */
export function cutBody(incoming: IncomingMessage, response: ServerResponse): void {
  if (incoming.complete) return
  response.setHeader('Connection', 'close')
  incoming.socket.once('close', () => incoming.destroy())
}

/** Shorter answers mostly fit into the buffers of the connection. */
const MIN_UNREAD = 65_536

/** Closes the connection of an answer that waits for its client if `budget` is exceeded. A cached body counts once for all of its readers. */
export function limitUnread(response: ServerResponse, body: HttpResponse['body'], budget: ByteBudget): void {
  if (body === null || body.length < MIN_UNREAD || response.writableLength === 0) return
  const key = Buffer.isBuffer(body) ? body : response
  const held = budget.hold(key, body.length, () => response.destroy())
  response.once('close', held.release)
}

/** Closes the connection of a client that reads nothing of its answer for longer than this; it would keep the answer in memory. */
export function limitReading(response: ServerResponse, milliseconds: number): void {
  // An in-memory connection has no timers.
  if (response.writableLength > 0 && response.socket instanceof Socket)
    response.setTimeout(milliseconds + READING_MARGIN)
}

/**
 * The same for an answer that other code writes: a file, or a stream that may pause for any time. Only while bytes wait
 * for the client is it the client that is slow.
 */
export function limitReadingOfStream(response: ServerResponse, milliseconds: number): void {
  if (response.socket !== null && !(response.socket instanceof Socket)) return
  response.setTimeout(milliseconds + READING_MARGIN, () => {
    if (response.writableLength > 0) response.destroy()
  })
}

/** Milliseconds: the next request on the connection may take the whole time before something is sent. */
const READING_MARGIN = 5_000

/** Global middlewares always set this header; without them the response has no headers yet. */
const hasMiddlewareHeaders = (response: ServerResponse): boolean => response.hasHeader('X-Request-Id')

/**
 * Adds headers to those that Express middlewares set. These replace the server's defaults, which are the first `shared`
 * items, but not headers of the answer itself. Cookies and `Vary` of both are sent.
 */
function mergeHeaders(response: ServerResponse, headers: readonly string[], shared: number): void {
  const input = new Set(response.getHeaderNames())
  for (let at = 0; at + 1 < headers.length; at += 2) {
    const [header = '', value = ''] = headers.slice(at, at + 2)
    const name = header.toLowerCase()
    const isDefault = at < shared && !OWN_HEADERS.has(name)
    if (name === 'set-cookie' || name === 'vary') response.appendHeader(header, value)
    else if (!isDefault || !input.has(name)) response.setHeader(header, value)
  }
}

/** A middleware cannot change these: they belong to the connection and the request. */
const OWN_HEADERS: ReadonlySet<string> = new Set(['x-request-id', 'connection', 'server-timing'])

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

export interface FailureOptions {
  readonly observer: Observer
  /** In development: failures of code in this folder are described in the response. */
  readonly projectRoot?: string | undefined
  /** The GraphQL endpoints, where refusals have GraphQL's form; absent: none. */
  readonly graphql?: GraphqlEndpoints | undefined
}

/** Failures of the server itself are only logged. */
function describeFailure(error: unknown, root: string): string {
  return projectFrame(error, root) === null ? '' : `: ${messageWithPlace(error, root)}`
}

/** The public fault for anything thrown; details are only logged. */
export function faultOfError(error: unknown, requestId: string, options: FailureOptions): Fault {
  const { observer, projectRoot } = options
  const known = toRequestFault(error)
  if (known === null && error instanceof RequestFault) return error.fault
  if (known === null) {
    observer.emit({ kind: 'failed', requestId, error })
    return fault('internal', `Internal Server Error${projectRoot ? describeFailure(error, projectRoot) : ''}`)
  }
  if (known.reason !== null) observer.emit({ kind: 'unavailable', requestId, reason: known.reason })
  return known.fault
}

/**
 * Adds `outcome` (reference/rest.md#17-differences-from-strapi) to faults with status 500 and 503: always for requests that may write, for reads
 * only after a write. An internal fault gets it only after a write.
 */
export function withOutcome(input: Fault, { method, writes }: HttpRequest): Fault {
  if (input.code !== 'unavailable' && input.code !== 'internal') return input
  const isUnknown = input.details.outcome === 'unknown' || writes?.outcome !== 'not-written'
  const outcome = isUnknown ? 'unknown' : 'not-written'
  if (outcome === 'not-written' && (input.code === 'internal' || isSafeMethod(method))) return input
  return { ...input, details: { ...input.details, outcome } }
}

/** In development: adds the reason of a refusal to the details of its error (docs/access.md). */
export function withReason(answer: HttpResponse): HttpResponse {
  const { body, reason } = answer
  if (reason === undefined || typeof body !== 'string') return answer
  const parsed: { error?: { details?: object } } = JSON.parse(body)
  if (!parsed.error?.details) return answer
  Object.assign(parsed.error.details, { reason })
  return { ...answer, body: JSON.stringify(parsed) }
}

export const unavailableFault = (): Fault => fault('unavailable', 'Service Unavailable')

/** Codes of the client errors that Express libraries raise, by status. */
const CODES: ReadonlyMap<number, FaultCode> = new Map([
  [401, 'unauthorized'],
  [403, 'forbidden'],
  [404, 'notFound'],
  [405, 'methodNotAllowed'],
  [408, 'requestTimeout'],
  [409, 'conflict'],
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
  if (!(error instanceof Error)) return null
  const status = 'status' in error ? error.status : undefined
  // Express could not decode a segment of the path. It sets no `expose`; the message is that of REST.
  if (error instanceof URIError && status === 400) return fault('badRequest', 'failed to decode')
  if (!('expose' in error) || error.expose !== true) return null
  if (typeof status !== 'number' || status < 400 || status > 499) return null
  return fault(CODES.get(status) ?? 'badRequest', error.message)
}
