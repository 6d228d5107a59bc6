import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { RequestTiming } from '../base/request-context.ts'
import { notFound } from '../faults/fault.ts'
import {
  type HttpRequest,
  type HttpResponse,
  type Responder,
  toFaultResponse,
} from '../faults/http-exchange.ts'
import { networkOf } from '../identity/rate-limit.ts'
import type { Meters } from '../observe/metrics/meters.ts'
import type { Observer } from '../observe/observation.ts'
import type { RequestSpan, Tracing } from '../observe/tracing.ts'
import type { ServerSettings } from '../project/settings/settings.ts'
import { cacheControlFor } from './cache-control.ts'
import { type Cors, createCors, type HeaderList } from './cors.ts'
import { applyTag } from './etag.ts'
import { STOPPING } from './health.ts'
import { enter, leave, type Traffic } from './in-flight.ts'
import { type CallerOf, IncomingRequest, type RequestTerms } from './incoming-request.ts'
import { ALLOWED_ANYWHERE, notImplemented, OPTIONS_ANYWHERE } from './not-implemented.ts'
import { SECURITY_HEADERS } from './security-headers.ts'
import { toTrouble, unavailable, withOutcome } from './trouble.ts'
import { writeAnswer } from './write-answer.ts'

export interface ListenerTerms {
  readonly settings: ServerSettings
  /** Asked in order. */
  readonly responders: readonly Responder[]
  /** Takes what no responder answers: an Express application, loaded when it is first needed; null: 404. */
  readonly host: (() => Promise<RequestListener>) | null
  readonly observer: Observer
  /** Absent: a request counts for its network address. */
  readonly callerOf?: CallerOf
  /** Answers say in `Server-Timing` what their time went to: for development. */
  readonly tellsTimes?: boolean
  /** Counts requests; absent or null: nobody does. */
  readonly meters?: Pick<Meters, 'onResponse'> | null
  /** Traces requests; absent or null: nobody does. */
  readonly tracing?: Tracing | null
}

/** Everything between a connection and the answers: one request → one responder → one answer, whatever is thrown. */
export function createListener(terms: ListenerTerms, traffic: Traffic): RequestListener {
  const serving: Serving = {
    ...terms,
    traffic,
    requests: {
      ...terms.settings,
      tellsTimes: terms.tellsTimes === true,
      callerOf: terms.callerOf ?? (({ peer }) => networkOf(peer)),
    },
    cors: createCors(terms.settings.cors),
    always: terms.settings.securityHeaders ? SECURITY_HEADERS : [],
    tellsAnswers: terms.observer.isEnabled('answered'),
  }
  return (incoming, response) => receive({ incoming, response, serving })
}

interface Serving extends ListenerTerms {
  readonly requests: RequestTerms
  readonly traffic: Traffic
  readonly cors: Cors
  readonly always: HeaderList
  readonly tellsAnswers: boolean
}

interface Connection {
  readonly incoming: IncomingMessage
  readonly response: ServerResponse
  readonly serving: Serving
}

interface Exchange extends Connection {
  readonly request: IncomingRequest
  readonly startedAt: number
  /** null: nobody traces. */
  readonly span: RequestSpan | null
  /** Answered, or left to the host. */
  over: boolean
}

function receive(connection: Connection): void {
  const { serving } = connection
  const request = new IncomingRequest(connection.incoming, serving.requests)
  const { incoming, response } = connection
  const startedAt = performance.now()
  const span = serving.tracing?.startRequest(request) ?? null
  const exchange: Exchange = { incoming, response, serving, request, startedAt, span, over: false }
  enter(serving.traffic)
  if (span) span.run(() => begin(exchange))
  else begin(exchange)
}

function begin(exchange: Exchange): void {
  const { request, serving } = exchange
  try {
    const answer = answerFor(exchange)
    if (answer instanceof Promise) void settle(answer, exchange)
    else if (answer) finish(exchange, answer)
    else void settle(handOver(exchange), exchange)
  } catch (error) {
    const trouble = toTrouble(error, request.id, serving.observer)
    finish(exchange, toFaultResponse(withOutcome(trouble, request)))
  }
}

/** The methods of the contract; others are not implemented on any path (contract/rest.md 1). */
const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS', 'POST', 'PUT', 'PATCH', 'DELETE'])

/** null: nobody here knows the path. */
function answerFor(exchange: Exchange): HttpResponse | Promise<HttpResponse> | null {
  const { request, serving } = exchange
  if (!METHODS.has(request.method)) return refuseMethod(exchange)
  if (request.method === 'OPTIONS' && serving.cors.preflight(request.method, request.headers))
    return { status: 204, body: null }
  if (serving.traffic.closing && request.path === '/_ready') return STOPPING
  const answer = askResponders(request, serving)
  if (answer) return answer
  if (request.method === 'OPTIONS') return OPTIONS_ANYWHERE
  return serving.host ? null : toFaultResponse(notFound())
}

function askResponders(request: HttpRequest, { responders }: Serving): ReturnType<Responder> {
  for (const responder of responders) {
    const answer = responder(request)
    if (answer) return answer
  }
  return null
}

/** 501 with the methods that the path has: what the same path answers to OPTIONS. */
async function refuseMethod({ incoming, serving }: Exchange): Promise<HttpResponse> {
  const answer = await askResponders(new IncomingRequest(incoming, serving.requests, 'OPTIONS'), serving)
  return notImplemented(answer?.headers?.Allow ?? ALLOWED_ANYWHERE)
}

/** Waits for an answer, but not for ever. */
async function settle(pending: Promise<HttpResponse | null>, exchange: Exchange): Promise<void> {
  const { request, serving } = exchange
  const patience = setTimeout(giveUp, serving.settings.requestTimeout, exchange)
  try {
    const answer = await pending
    if (answer) finish(exchange, answer)
    else if (close(exchange)) tellEnd(exchange, exchange.response.statusCode)
  } catch (error) {
    const trouble = toTrouble(error, request.id, listenerTo(exchange))
    finish(exchange, toFaultResponse(withOutcome(trouble, request)))
  } finally {
    clearTimeout(patience)
    request.endWrites()
  }
}

/** Where a server ends, what it cuts off loses the database as well as its client: no trouble of either. */
function listenerTo({ response, serving: { observer, traffic } }: Exchange): Observer {
  if (!traffic.closing || !response.destroyed) return observer
  return { ...observer, emit: event => event.kind !== 'unavailable' && observer.emit(event) }
}

/** Milliseconds that a request whose time is over may wait for the answer to a COMMIT that was sent. */
const COMMIT_PATIENCE = 2_000

/** No transaction of the request commits from here on. Where one has, its answer may still come. */
function giveUp(exchange: Exchange): void {
  const { request, serving } = exchange
  if (exchange.over || exchange.response.headersSent) return
  serving.observer.emit({ kind: 'timedOut', requestId: request.id, path: request.path })
  request.writes.close()
  if (request.writes.outcome === 'not-written') answerLate(exchange)
  else setTimeout(answerLate, COMMIT_PATIENCE, exchange)
}

function answerLate(exchange: Exchange): void {
  if (exchange.over || exchange.response.headersSent) return
  finish(exchange, toFaultResponse(withOutcome(unavailable(), exchange.request)))
}

/** Whether this was the first end of the exchange. */
function close(exchange: Exchange): boolean {
  if (exchange.over) return false
  exchange.over = true
  leave(exchange.serving.traffic)
  return true
}

function finish(exchange: Exchange, answer: HttpResponse): void {
  const { request, response, serving } = exchange
  if (!close(exchange)) return
  if (response.headersSent || response.destroyed) {
    tellEnd(exchange, GONE)
    return
  }
  try {
    const final = answer.hasEtag ? applyTag(answer, request) : answer
    const headers = sharedHeaders(exchange)
    const caching = cacheControlFor(final, request)
    if (caching !== null) headers.push('Cache-Control', caching)
    writeAnswer(response, final, headers)
    tellEnd(exchange, final.status)
  } catch (error) {
    serving.observer.emit({ kind: 'failed', requestId: request.id, error })
    response.destroy()
    tellEnd(exchange, 500)
  }
}

function sharedHeaders({ request, serving, startedAt }: Exchange): string[] {
  const { cors, always, traffic } = serving
  const crossOrigin =
    cors.preflight(request.method, request.headers) ?? cors.headersFor(request.headers.origin)
  const headers = always.concat(crossOrigin)
  headers.push('X-Request-Id', request.id)
  if (request.timing) headers.push('Server-Timing', printTimes(request.timing, startedAt))
  if (traffic.closing) headers.push('Connection', 'close')
  return headers
}

/** https://www.w3.org/TR/server-timing/; milliseconds. */
function printTimes({ parse, narrow, database, cache }: RequestTiming, startedAt: number): string {
  const parts = { parse, narrow, database, total: performance.now() - startedAt }
  const told = Object.entries(parts).map(([name, milliseconds]) => `${name};dur=${milliseconds.toFixed(2)}`)
  return [...told, ...(cache === null ? [] : [`cache;desc=${cache}`])].join(', ')
}

/** Of what no responder took. */
const routeOfHost = (path: string): string => (path.startsWith('/uploads/') ? 'files' : 'other')

/** Nobody waits for the answer any more: as nginx writes it. */
const GONE = 499

function tellEnd({ request, serving, startedAt, span }: Exchange, status: number): void {
  const { meters, observer, tellsAnswers } = serving
  if (!meters && !tellsAnswers && !span) return
  const milliseconds = performance.now() - startedAt
  const route = request.route || routeOfHost(request.path)
  meters?.onResponse(route, status, milliseconds)
  span?.end(route, status)
  if (!tellsAnswers) return
  observer.emit({
    kind: 'answered',
    requestId: request.id,
    method: request.method,
    path: request.path,
    status,
    milliseconds,
  })
}

/** Gives the request to the host, which answers it itself. */
async function handOver(exchange: Exchange): Promise<null> {
  const { incoming, response, serving } = exchange
  const listener = await serving.host?.()
  if (!listener || exchange.over) return null
  const headers = sharedHeaders(exchange)
  for (let at = 0; at + 1 < headers.length; at += 2)
    response.setHeader(headers[at] ?? '', headers[at + 1] ?? '')
  await new Promise<void>(resolve => {
    response.once('close', resolve)
    listener(incoming, response)
  })
  return null
}
