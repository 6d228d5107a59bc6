import { once } from 'node:events'
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { openByteBudget } from '../base/byte-budget.ts'
import type { RequestTiming } from '../base/request-context.ts'
import { fault, notFound } from '../faults/fault.ts'
import {
  describeCaller,
  firstAnswer,
  type HttpResponse,
  type Responder,
  toFaultResponse,
} from '../faults/http-exchange.ts'
import { type GraphqlEndpoints, toEndpointForm } from '../graphql/refusal.ts'
import { networkOf } from '../identity/rate-limit.ts'
import type { Meters } from '../observe/metrics/meters.ts'
import type { Observer } from '../observe/observation.ts'
import type { RequestSpan, Tracing } from '../observe/tracing.ts'
import type { ServerSettings } from '../project/settings/settings.ts'
import { STOPPING } from './health.ts'
import { type InFlight, requestEnded, requestStarted } from './in-flight.ts'
import { type CallerOf, IncomingRequest, type IncomingRequestOptions } from './incoming-request.ts'
import {
  applyTag,
  type Cors,
  cacheControlFor,
  createCors,
  type HeaderList,
  SECURITY_HEADERS,
} from './response-headers.ts'
import {
  ALLOWED_ANYWHERE,
  cutBody,
  faultOfError,
  limitReading,
  limitReadingOfStream,
  limitUnread,
  notImplemented,
  OPTIONS_ANYWHERE,
  unavailableFault,
  withOutcome,
  withReason,
  writeAnswer,
} from './write-answer.ts'

export interface ListenerOptions {
  readonly settings: ServerSettings
  /** Called in order; the first answer counts. */
  readonly responders: readonly Responder[]
  /** Answers what no responder takes: an Express application, loaded lazily; null: 404. */
  readonly fallback: (() => Promise<RequestListener>) | null
  /** Pages for browsers at addresses that no responder takes; not asked inside another application. */
  readonly pages?: Responder
  /** The GraphQL endpoints, where refusals have GraphQL's form; absent: none. */
  readonly graphql?: GraphqlEndpoints
  /** Takes requests that neither a responder nor /uploads answers; absent: the fallback does. */
  readonly passOn?: RequestListener
  readonly observer: Observer
  /** The folder of the project: in development its failures are described in responses. Absent: in production. */
  readonly projectRoot?: string | undefined
  /** Absent: the caller is the network of the request's address. */
  readonly callerOf?: CallerOf
  /** Adds `Server-Timing` to answers: for development. */
  readonly sendsTimings?: boolean
  /** Counts requests; absent or null: not counted. */
  readonly meters?: Pick<Meters, 'onResponse'> | null
  /** Traces requests; absent or null: not traced. */
  readonly tracing?: Tracing | null
}

/** Each request gets exactly one answer from one responder, whatever is thrown. */
export function createListener(options: ListenerOptions, inFlight: InFlight): RequestListener {
  const state: ListenerState = {
    ...options,
    inFlight,
    requestOptions: {
      ...options.settings,
      sendsTimings: options.sendsTimings === true,
      callerOf: options.callerOf ?? (({ peer }) => networkOf(peer)),
    },
    cors: createCors(options.settings.cors),
    securityHeaders: options.settings.securityHeaders ? SECURITY_HEADERS : [],
    logsAnswers: options.observer.isEnabled('answered'),
    logsRefusals: options.observer.isEnabled('refused'),
    explains: options.settings.explainDenials && options.projectRoot !== undefined,
  }
  return (incoming, response) => receive({ incoming, response, state })
}

interface ListenerState extends ListenerOptions {
  readonly requestOptions: IncomingRequestOptions
  readonly inFlight: InFlight
  readonly cors: Cors
  readonly securityHeaders: HeaderList
  readonly logsAnswers: boolean
  readonly logsRefusals: boolean
  /** Responses contain the reason of a refusal. */
  readonly explains: boolean
}

interface RawExchange {
  readonly incoming: IncomingMessage
  readonly response: ServerResponse
  readonly state: ListenerState
}

interface Exchange extends RawExchange {
  readonly request: IncomingRequest
  readonly startedAt: number
  /** null: tracing is off. */
  readonly span: RequestSpan | null
  /** True once it is answered or abandoned. */
  isOver: boolean
}

function receive({ incoming, response, state }: RawExchange): void {
  const request = new IncomingRequest(incoming, state.requestOptions)
  const startedAt = performance.now()
  const span = state.tracing?.startRequest(request) ?? null
  const exchange: Exchange = { incoming, response, state, request, startedAt, span, isOver: false }
  requestStarted(state.inFlight)
  if (span) span.run(() => dispatch(exchange))
  else dispatch(exchange)
}

function dispatch(exchange: Exchange): void {
  const { request, state } = exchange
  try {
    const answer = answerFor(exchange)
    if (answer instanceof Promise) void awaitAnswer(answer, exchange)
    else if (answer) finish(exchange, answer)
    else if (state.passOn && fallbackRoute(request.path) === 'other') passOn(exchange, state.passOn)
    else void awaitAnswer(passToFallback(exchange), exchange)
  } catch (error) {
    const fault = faultOfError(error, request.id, state)
    finish(exchange, toFaultResponse(withOutcome(fault, request)))
  }
}

/** All other methods are answered with 501 on every path (reference/rest.md#1-envelope-and-status-codes). */
const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS', 'POST', 'PUT', 'PATCH', 'DELETE'])

/** null: left to the fallback. */
function answerFor(exchange: Exchange): HttpResponse | Promise<HttpResponse> | null {
  const { request, state } = exchange
  if (!METHODS.has(request.method)) return refuseMethod(exchange)
  if (request.method === 'OPTIONS' && state.cors.preflight(request.method, request.headers))
    return { status: 204, body: null }
  if (state.inFlight.isClosing && request.path === '/_ready') return STOPPING
  const answer = firstAnswer(state.responders, request)
  if (answer) return answer
  if (request.method === 'OPTIONS' && !state.passOn) return OPTIONS_ANYWHERE
  const page = state.passOn ? null : state.pages?.(request)
  if (page) return page
  return state.fallback || state.passOn ? null : toFaultResponse(notFound())
}

/** 501 with the path's methods in Allow, taken from its own answer to OPTIONS. */
async function refuseMethod({ incoming, state }: Exchange): Promise<HttpResponse> {
  const answer = await firstAnswer(
    state.responders,
    new IncomingRequest(incoming, state.requestOptions, 'OPTIONS'),
  )
  return notImplemented(answer?.headers?.Allow ?? ALLOWED_ANYWHERE)
}

/** Waits for an answer, at most the request timeout. */
async function awaitAnswer(pending: Promise<HttpResponse | null>, exchange: Exchange): Promise<void> {
  const { request, state } = exchange
  const timer = setTimeout(timeOut, state.settings.requestTimeout, exchange)
  try {
    let answer = await pending
    if (answer?.takeOver) answer = await handOver(exchange, answer, answer.takeOver)
    if (answer) finish(exchange, answer)
    else if (endExchange(exchange)) reportEnd(exchange, exchange.response.statusCode)
  } catch (error) {
    const fault = faultOfError(error, request.id, { ...state, observer: exchangeObserver(exchange) })
    finish(exchange, toFaultResponse(withOutcome(fault, request)))
  } finally {
    clearTimeout(timer)
    request.endWrites()
  }
}

/** A closing server cuts requests off from their database as well: that must not be logged as an outage. */
function exchangeObserver({ response, state: { observer, inFlight } }: Exchange): Observer {
  if (!inFlight.isClosing || !response.destroyed) return observer
  return { ...observer, emit: event => event.kind !== 'unavailable' && observer.emit(event) }
}

/** Milliseconds that a timed-out request waits for the answer to a COMMIT that was sent. */
const COMMIT_TIMEOUT = 2_000

/** Forbids further commits of the request. If one was already sent, its answer may still arrive. */
function timeOut(exchange: Exchange): void {
  const { request, state } = exchange
  if (exchange.isOver || exchange.response.headersSent) return
  state.observer.emit({ kind: 'timedOut', requestId: request.id, path: request.path })
  request.writes.close()
  if (request.writes.outcome === 'not-written') answerLate(exchange)
  else setTimeout(answerLate, COMMIT_TIMEOUT, exchange)
}

function answerLate(exchange: Exchange): void {
  const { incoming, request, response } = exchange
  if (exchange.isOver || response.headersSent) return
  const isSent = incoming.complete || request.writes.outcome !== 'not-written'
  cutBody(incoming, response)
  finish(
    exchange,
    toFaultResponse(
      isSent ? withOutcome(unavailableFault(), request) : fault('requestTimeout', 'Request Timeout'),
    ),
  )
}

/** Bytes of a process that wait for slow clients: sixteen answers of the default `database.limits.bytes`. */
const UNREAD = openByteBudget(268_435_456)

/** True for the first call only: an exchange may end by its answer and by its timeout. */
function endExchange(exchange: Exchange): boolean {
  if (exchange.isOver) return false
  exchange.isOver = true
  requestEnded(exchange.state.inFlight)
  return true
}

function finish(exchange: Exchange, answer: HttpResponse): void {
  const { request, response, state } = exchange
  if (!endExchange(exchange)) return
  if (response.headersSent || response.destroyed) {
    reportEnd(exchange, CLIENT_CLOSED_REQUEST)
    return
  }
  try {
    const final = finalForm(answer, exchange)
    const headers = sharedHeaders(exchange)
    const caching = cacheControlFor(final, request)
    if (caching !== null) headers.push('Cache-Control', caching)
    writeAnswer(response, final, headers)
    limitReading(response, state.settings.requestTimeout)
    limitUnread(response, final.body, UNREAD)
    reportEnd(exchange, final.status, final.reason)
  } catch (error) {
    state.observer.emit({ kind: 'failed', requestId: request.id, error })
    response.destroy()
    reportEnd(exchange, 500)
  }
}

function finalForm(answer: HttpResponse, { request, state }: Exchange): HttpResponse {
  if (answer.hasEtag) return applyTag(answer, request)
  const { explains, graphql } = state
  const formed = answer.fault && graphql ? toEndpointForm(answer, request, { graphql, explains }) : answer
  return explains && formed === answer ? withReason(answer) : formed
}

function sharedHeaders({ request, state, startedAt }: Exchange): string[] {
  const { cors, securityHeaders, inFlight } = state
  const crossOrigin =
    cors.preflight(request.method, request.headers) ?? cors.headersFor(request.headers.origin)
  const headers = securityHeaders.concat(crossOrigin)
  headers.push('X-Request-Id', request.id)
  if (request.timing) headers.push('Server-Timing', printTimings(request.timing, startedAt))
  if (inFlight.isClosing) headers.push('Connection', 'close')
  return headers
}

/** https://www.w3.org/TR/server-timing/; milliseconds. */
function printTimings({ parse, narrow, database, cache }: RequestTiming, startedAt: number): string {
  const parts = { parse, narrow, database, total: performance.now() - startedAt }
  const entries = Object.entries(parts).map(
    ([name, milliseconds]) => `${name};dur=${milliseconds.toFixed(2)}`,
  )
  return [...entries, ...(cache === null ? [] : [`cache;desc=${cache}`])].join(', ')
}

/** Route label of requests that no responder takes. */
const fallbackRoute = (path: string): string => (path.startsWith('/uploads/') ? 'files' : 'other')

/** nginx's status for a client that closed the connection before the answer. */
const CLIENT_CLOSED_REQUEST = 499

function reportEnd({ request, state, startedAt, span }: Exchange, status: number, reason?: string): void {
  const { meters, observer, logsAnswers, logsRefusals } = state
  const isOutage = status === 503 && reason !== undefined
  if (isOutage) observer.emit({ kind: 'unavailable', requestId: request.id, reason })
  const isRefused = reason !== undefined && !isOutage
  const isLogged = isRefused ? logsRefusals : logsAnswers
  if (!meters && !isLogged && !span) return
  const milliseconds = performance.now() - startedAt
  const route = request.route || fallbackRoute(request.path)
  meters?.onResponse(route, status, milliseconds)
  span?.end(route, status)
  if (!isLogged) return
  const answered = {
    requestId: request.id,
    method: request.method,
    path: request.path,
    route,
    caller: describeCaller(request.identified),
    status,
    milliseconds,
  }
  observer.emit(isRefused ? { kind: 'refused', ...answered, reason } : { kind: 'answered', ...answered })
}

/** The request belongs to the application that this server is a part of. */
function passOn(exchange: Exchange, next: RequestListener): void {
  const { incoming, response, span } = exchange
  endExchange(exchange)
  span?.end('other', response.statusCode)
  next(incoming, response)
}

/** Resolves to null when the fallback has written its own answer. */
async function passToFallback(exchange: Exchange): Promise<null> {
  const listener = await exchange.state.fallback?.()
  if (!listener) return null
  return handOver(exchange, {}, async (incoming, response) => {
    const closed = once(response, 'close')
    listener(incoming, response)
    await closed
  })
}

/** Lets other code write the response, after the headers that every response has. Resolves to null once it is closed. */
async function handOver(
  exchange: Exchange,
  { headers: own = {} }: Pick<HttpResponse, 'headers'>,
  takeOver: NonNullable<HttpResponse['takeOver']>,
): Promise<null> {
  const { incoming, response, state } = exchange
  if (exchange.isOver || response.destroyed) return null
  const headers = [...sharedHeaders(exchange), ...Object.entries(own).flat()]
  // Headers that Express middlewares set replace the server's defaults.
  const input = new Set(response.getHeaderNames())
  for (let at = 0; at + 1 < headers.length; at += 2) {
    const [name = '', value = ''] = headers.slice(at, at + 2)
    if (name.toLowerCase() === 'vary') response.appendHeader(name, value)
    else if (!input.has(name.toLowerCase())) response.setHeader(name, value)
  }
  limitReadingOfStream(response, state.settings.requestTimeout)
  await takeOver(incoming, response)
  return null
}
