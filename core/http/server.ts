import { once } from 'node:events'
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http'
import { Server as NetServer, type Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { failed, ok, type Result } from '../base/result.ts'
import { type Fault, fault } from '../faults/fault.ts'
import { type HttpResponse, toFaultResponse } from '../faults/http-exchange.ts'
import { toEndpointForm } from '../graphql/refusal.ts'
import type { Observer } from '../observe/observation.ts'
import type { ServerSettings } from '../project/settings/settings.ts'
import {
  countPending,
  type Dispatcher,
  type DispatcherOptions,
  type Draining,
  holdRequests,
  openDispatcher,
  openServerGeneration,
  receive,
  type ServerGeneration,
  swapGenerations,
} from './dispatcher.ts'
import { whenDrained } from './in-flight.ts'
import { listen, urlOf, watchConnections } from './listen.ts'
import { ALLOWED_ANYWHERE, JSON_TYPE, notImplemented, writeAnswer } from './write-answer.ts'

/** A server that may not listen yet. */
export interface HttpServer {
  /** Binds the port; fails with one sentence that says why it cannot. */
  listen(): Promise<Result<RunningServer, string>>
  /** Gives all later requests to a new generation. Requests in flight stay with the old one. */
  swap(options: DispatcherOptions): Promise<Draining>
  /**
   * Holds new requests until the returned function is called, a few seconds at most. Resolves when no request is in
   * flight, or after one second. For migrations that fit neither the old generation nor the new one.
   */
  hold(): Promise<() => void>
}

/** A server that listens. */
export interface RunningServer extends Omit<HttpServer, 'listen'> {
  /** `http://127.0.0.1:1337` */
  readonly url: string
  /** The number of requests in flight or held. */
  pending(): number
  /**
   * Refuses new connections and drains requests in flight, for at most `milliseconds`; then closes all connections.
   * Requests whose client has gone are in flight, too. Idempotent: a second call waits for the first.
   */
  close(milliseconds: number): Promise<void>
  /** Closes all connections at once: for a start that failed. */
  terminate(): Promise<void>
}

/** Milliseconds until headers are complete: bounds slow-header attacks. */
const HEADERS_TIMEOUT = 10_000
/** Milliseconds. Longer than load balancers keep theirs, so that none sends into a connection that is being closed. */
const KEEP_ALIVE_TIMEOUT = 65_000

/** `swap` changes neither host nor port. */
export async function openHttpServer(options: DispatcherOptions): Promise<HttpServer> {
  const { settings } = options
  const dispatcher = await openDispatcher(options)
  const listener = inTurn(
    (request, response) => {
      const refusal = refusalOf(request)
      if (refusal === null) receive(dispatcher, request, response)
      else refuse(response, refusal, dispatcher.current.options)
    },
    () => dispatcher.current.options.observer,
  )
  const server = createServer(
    {
      ...socketTimeouts(settings),
      keepAliveTimeout: KEEP_ALIVE_TIMEOUT,
      connectionsCheckingInterval: Math.min(5_000, settings.requestTimeout),
      // Node's own answer has no body.
      requireHostHeader: false,
    },
    listener,
  )
  // Node drops headers after the first thousand: a precondition or credentials among them. Their bytes are bounded.
  server.maxHeadersCount = 0
  // Unknown values of `Expect` are ignored; Node's own answer has no body.
  server.on('checkExpectation', listener)
  const connections = watchConnections(server, () => dispatcher.current.options.observer)
  answerUnparsed(server, () => dispatcher.current.options)
  const serving = {
    swap: async (next: DispatcherOptions) => swap(server, dispatcher, await openServerGeneration(next)),
    hold: () => holdRequests(dispatcher),
  }
  return {
    ...serving,
    async listen() {
      const problem = await listen(server, { ...settings, key: 'server.port (PORT)' })
      if (problem) return failed(problem)
      let closing: Promise<void> | undefined
      return ok({
        ...serving,
        url: urlOf(server),
        pending: () => countPending(dispatcher),
        close(milliseconds) {
          closing ??= close({ server, connections }, dispatcher, milliseconds)
          return closing
        },
        terminate: () => terminate(server),
      })
    },
  }
}

function swap(server: Server, dispatcher: Dispatcher, next: ServerGeneration): Draining {
  Object.assign(server, socketTimeouts(next.options.settings))
  return swapGenerations(dispatcher, next)
}

const socketTimeouts = ({ requestTimeout }: ServerSettings) => ({
  requestTimeout,
  headersTimeout: Math.min(HEADERS_TIMEOUT, requestTimeout),
})

interface Listening {
  readonly server: Server
  readonly connections: ReadonlySet<Socket>
}

async function close(
  { server, connections }: Listening,
  dispatcher: Dispatcher,
  milliseconds: number,
): Promise<void> {
  const { observer, drain = IDLE_DRAIN } = dispatcher.current.options
  for (const { inFlight } of [dispatcher.current, ...dispatcher.draining]) inFlight.isClosing = true
  observer.emit({ kind: 'stopping', waiting: countPending(dispatcher) })
  let cut = 0
  const timer = setTimeout(() => {
    cut = countPending(dispatcher)
    server.closeAllConnections()
  }, milliseconds)
  const closed = once(server, 'close')
  stopListening(server)
  const end = performance.now() + Math.min(drain, milliseconds)
  const sweep = setInterval(() => {
    if (performance.now() < end) return
    // For Node, a connection is idle as soon as its answer is buffered: its client would get a part of it.
    if (![...connections].some(socket => socket.writableLength > 0)) server.closeIdleConnections()
    // For Node, a connection that never sent a request is not idle. Browsers and proxies open some in advance.
    for (const socket of connections) if (socket.bytesRead === 0) socket.destroy()
  }, SWEEP_INTERVAL)
  // A request whose client has gone has no connection, but may still be writing.
  await Promise.all([closed, whenDrained(dispatcher.current.inFlight, milliseconds)])
  clearTimeout(timer)
  clearInterval(sweep)
  // Ends Node's timer that checks for expired connections.
  server.close()
  observer.emit({ kind: 'stopped', cut })
}

async function terminate(server: Server): Promise<void> {
  const closed = once(server, 'close')
  server.close()
  server.closeAllConnections()
  await closed
}

/**
 * Milliseconds that idle connections stay open. A client that reuses one is answered with `Connection: close`; if the
 * server closed it instead, a request that is already on its way would be lost.
 */
const IDLE_DRAIN = 2_000

/** Milliseconds between two sweeps for idle connections. */
const SWEEP_INTERVAL = 50

/** `close` of an HTTP server would also close idle connections at once. */
const stopListening = (server: Server): unknown => NetServer.prototype.close.call(server)

/** Requests of a connection that may wait for the answers before theirs. Clients that pipeline requests send fewer. */
const MAX_PIPELINED = 100

/**
 * Passes the requests of a connection on one after another (RFC 9112, 9.3.2). A packet can hold thousands: all of their answers would
 * be in memory until the client reads the first. Closes the connection of a client that sends too many.
 */
function inTurn(receiveNext: RequestListener, observer: () => Observer): RequestListener {
  const waiting = new WeakMap<Socket, number>()
  return (request, response) => {
    // A response gets its socket from Node when those before it have ended.
    if (response.socket !== null) {
      receiveNext(request, response)
      return
    }
    const { socket } = request
    const count = (waiting.get(socket) ?? 0) + 1
    waiting.set(socket, count)
    if (count <= MAX_PIPELINED)
      response.once('socket', () => {
        waiting.set(socket, (waiting.get(socket) ?? 0) - 1)
        receiveNext(request, response)
      })
    else if (!socket.destroyed) {
      observer().emit({ kind: 'malformed', code: 'TOO_MANY_PIPELINED' })
      socket.destroy()
    }
  }
}

/** Why a request that Node accepts is refused before anything reads it. */
interface Refusal {
  /** For the log. */
  readonly code: string
  readonly fault: Fault
}

/** null: the address, the caller and the end of the request are clear. */
export function refusalOf(request: IncomingMessage): Refusal | null {
  const unclear = headerProblem(request)
  if (unclear !== null) return { code: 'UNCLEAR_HEADERS', fault: fault('badRequest', unclear) }
  const coding = request.headers['transfer-encoding']
  // Node asks for `chunked` at the end alone, and decodes nothing that comes before it (RFC 9112, 6.1).
  if (coding === undefined || coding.toLowerCase() === 'chunked') return null
  const message = `Transfer-Encoding may be chunked, got ${coding}`
  return { code: 'UNKNOWN_TRANSFER_CODING', fault: fault('notImplemented', message) }
}

/** Why a header of a request is unclear (RFC 9112, 3.2); null: all are clear. */
function headerProblem({ headers, rawHeaders, httpVersion }: IncomingMessage): string | null {
  if (headers.host === undefined && httpVersion !== '1.0') return 'A request needs the header Host'
  const counts = new Map<string, number>()
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const sent = rawHeaders[at] ?? ''
    const name = SINGLE_HEADERS.get(sent.length)
    if (name !== undefined && sent.toLowerCase() === name.toLowerCase())
      counts.set(name, (counts.get(name) ?? 0) + 1)
  }
  for (const [name, count] of counts)
    if (count > 1) return `A request may have one header ${name}, got ${count}`
  return null
}

/** By length. Node takes the first of several; a proxy before it may check another one. */
const SINGLE_HEADERS: ReadonlyMap<number, string> = new Map(
  ['Host', 'Authorization', 'Content-Type'].map(name => [name.length, name]),
)

export function refuse(response: ServerResponse, refusal: Refusal, { observer }: UnparsedOptions): void {
  observer.emit({ kind: 'malformed', code: refusal.code })
  writeAnswer(response, toFaultResponse(refusal.fault), ['Connection', 'close'])
}

/** Answers what Node's parser passes to no request listener: malformed requests and CONNECT. */
export function answerUnparsed(server: Server, options: () => UnparsedOptions): void {
  const latest = new WeakMap<Duplex, Exchange>()
  const refused = new WeakSet<Duplex>()
  server.on('request', (request, response) => {
    const { socket } = request
    const before = latest.get(socket)
    latest.set(socket, { request, response, before: before?.request.complete ? before.response : null })
  })
  // Without a listener, Node closes the connection of a CONNECT request without an answer.
  server.on('connect', (_request, socket) => answerConnect(socket))
  server.on('clientError', (error: ParserError, socket) => {
    // The parser also refuses what follows, which must not close the connection before its answers are sent.
    if (refused.has(socket) && socket.writable) return
    refused.add(socket)
    const exchange = latest.get(socket)
    const url = requestedUrl(error) ?? exchange?.request.url ?? ''
    answerMalformed({ error, socket, url, running: exchange ? runningBefore(exchange) : null }, options())
  })
}

/** The latest request of a connection, which is the one that is refused in the middle of its body. */
interface Exchange {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  /** The response to the request before it. */
  readonly before: ServerResponse | null
}

/** The response that is due before refused bytes are answered; null: none. */
function runningBefore({ request, response, before }: Exchange): ServerResponse | null {
  const due = request.complete ? response : before
  return due?.writableFinished ? null : due
}

type UnparsedOptions = Pick<DispatcherOptions, 'observer' | 'graphql'>

interface ParserError extends Error {
  readonly code?: string
  /** The bytes that the parser refused. */
  readonly rawPacket?: Buffer
}

/** Characters of a request line that are looked at. */
const MAX_REQUEST_LINE = 2_000

/** The address in a request line that came with the refused bytes; undefined: they are a later part of a request. */
const requestedUrl = ({ rawPacket }: ParserError): string | undefined =>
  /^[A-Z]+ (\S+) HTTP\//.exec(rawPacket?.toString('latin1', 0, MAX_REQUEST_LINE) ?? '')?.[1]

interface Malformed {
  readonly error: ParserError
  readonly socket: Duplex
  readonly url: string
  readonly running: ServerResponse | null
}

/**
 * Answers bytes that are no HTTP request, and closes their connection. Requests before them are answered first: their
 * client would take the refusal for the answer to a write that is executed (RFC 9112, 9.3.2).
 */
function answerMalformed(
  { error, socket, url, running }: Malformed,
  { observer, graphql = {} }: UnparsedOptions,
): void {
  observer.emit({ kind: 'malformed', code: error.code ?? 'unknown' })
  if (!socket.writable) {
    socket.destroy()
    return
  }
  const answer = toFaultResponse(faultOfParserError(error.code))
  // The headers are not parsed: the answer has the media type that every client accepts.
  const refusal = toEndpointForm(answer, { path: url.split('?')[0] ?? '', headers: {} }, { graphql })
  if (running === null) endSocket(socket, refusal)
  else
    running.once('close', () => {
      // Node ends the connection of an answer with `Connection: close` itself.
      if (socket.writable) endSocket(socket, refusal)
    })
}

/** CONNECT is refused like any other method that is not implemented (reference/rest.md#1-envelope-and-status-codes). */
function answerConnect(socket: Duplex): void {
  socket.on('error', () => socket.destroy())
  endSocket(socket, notImplemented(ALLOWED_ANYWHERE))
}

function endSocket(socket: Duplex, { status, body, type = JSON_TYPE, headers = {} }: HttpResponse): void {
  const text = String(body)
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`,
    `Content-Type: ${type}`,
    `Content-Length: ${Buffer.byteLength(text)}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    'Connection: close',
  ]
  socket.end(`${head.join('\r\n')}\r\n\r\n${text}`)
  // Node has no time limit for what is no request any more: a client that does not close its end would keep the connection.
  const timer = setTimeout(() => socket.destroy(), LINGER)
  socket.once('close', () => clearTimeout(timer))
}

/** Milliseconds that a client gets to read the last answer of its connection. */
const LINGER = 5_000

function faultOfParserError(code: string | undefined): Fault {
  if (code === 'HPE_HEADER_OVERFLOW') return fault('headersTooLarge', 'Request Header Fields Too Large')
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return fault('requestTimeout', 'Request Timeout')
  return fault('badRequest', 'Bad Request')
}
