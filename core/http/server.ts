import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { Server as NetServer } from 'node:net'
import { failed, ok, type Result } from '../base/result.ts'
import type { ServerSettings } from '../project/settings/settings.ts'
import {
  type Desk,
  holdRequests,
  type Outgoing,
  openDesk,
  openShift,
  receive,
  type ServedTerms,
  type Shift,
  swapShifts,
  waitingAt,
} from './dispatcher.ts'
import { handleErrors } from './handle-errors.ts'
import { drained } from './in-flight.ts'
import { listen, urlOf } from './listen.ts'
import { answerConnect, answerMalformed } from './malformed.ts'

/** A server that need not listen yet. */
export interface OpenServer {
  /** Binds the port; or says, in one sentence, why it cannot. */
  listen(): Promise<Result<RunningServer, string>>
  /** From the next request on these answer. What is under way is answered by those before, whom `Outgoing` tells of. */
  swap(terms: ServedTerms): Promise<Outgoing>
  /**
   * Has new requests wait until the answered function is called, some seconds at most. Resolves once none is under way
   * any more, or has had a second: for changes that neither those before nor those after a swap can live with.
   */
  hold(): Promise<() => void>
}

/** A server that listens. */
export interface RunningServer extends Omit<OpenServer, 'listen'> {
  /** `http://127.0.0.1:1337` */
  readonly url: string
  /** Requests that are being answered, or wait to be. */
  waiting(): number
  /**
   * Takes no more connections, answers what is under way for at most so many milliseconds, then cuts the rest. What
   * clients asked for that are gone is under way, too. A second call waits for the first.
   */
  close(milliseconds: number): Promise<void>
  /** Ends at once, whatever is under way: of a start that failed. */
  cut(): Promise<void>
}

/** Milliseconds. Headers that take longer are somebody holding connections open. */
const HEADERS_TIMEOUT = 10_000
/** Longer than balancers keep theirs, so that none sends into a connection that is just being closed. */
const KEEP_ALIVE_TIMEOUT = 65_000

/** `swap` does not change the host and the port of the first terms. */
export async function openServer(terms: ServedTerms): Promise<OpenServer> {
  const { settings } = terms
  const desk = await openDesk(terms)
  const server = createServer(
    {
      ...timeoutsOf(settings),
      keepAliveTimeout: KEEP_ALIVE_TIMEOUT,
      connectionsCheckingInterval: Math.min(5_000, settings.requestTimeout),
    },
    (request, response) => receive(desk, request, response),
  )
  handleErrors(server, () => desk.current.terms.observer)
  // Node drops the connection of a CONNECT that nobody listens to, without a word.
  server.on('connect', (_request, socket) => answerConnect(socket))
  server.on('clientError', (error: Error, socket) =>
    answerMalformed(error, socket, desk.current.terms.observer),
  )
  const serving = {
    swap: async (next: ServedTerms) => swap(server, desk, await openShift(next)),
    hold: () => holdRequests(desk),
  }
  return {
    ...serving,
    async listen() {
      const trouble = await listen(server, { ...settings, key: 'server.port (PORT)' })
      if (trouble) return failed(trouble)
      let closing: Promise<void> | undefined
      return ok({
        ...serving,
        url: urlOf(server),
        waiting: () => waitingAt(desk),
        close(milliseconds) {
          closing ??= close(server, desk, milliseconds)
          return closing
        },
        cut: () => cut(server),
      })
    },
  }
}

function swap(server: Server, desk: Desk, next: Shift): Outgoing {
  Object.assign(server, timeoutsOf(next.terms.settings))
  return swapShifts(desk, next)
}

/** What sockets are held to. */
const timeoutsOf = ({ requestTimeout }: ServerSettings) => ({
  requestTimeout,
  headersTimeout: Math.min(HEADERS_TIMEOUT, requestTimeout),
})

async function close(server: Server, desk: Desk, milliseconds: number): Promise<void> {
  const { observer, drain = DRAIN } = desk.current.terms
  for (const { traffic } of [desk.current, ...desk.leaving]) traffic.closing = true
  observer.emit({ kind: 'stopping', waiting: waitingAt(desk) })
  let cut = 0
  const patience = setTimeout(() => {
    cut = waitingAt(desk)
    server.closeAllConnections()
  }, milliseconds)
  const closed = once(server, 'close')
  stopListening(server)
  const end = performance.now() + Math.min(drain, milliseconds)
  const sweep = setInterval(() => {
    if (performance.now() >= end) server.closeIdleConnections()
  }, SWEEP)
  // Whose client is gone has no connection any more, and may be in the middle of a write.
  await Promise.all([closed, drained(desk.current.traffic, milliseconds)])
  clearTimeout(patience)
  clearInterval(sweep)
  // Ends the timer of Node's that looks after its connections.
  server.close()
  observer.emit({ kind: 'stopped', cut })
}

async function cut(server: Server): Promise<void> {
  const closed = once(server, 'close')
  server.close()
  server.closeAllConnections()
  await closed
}

/**
 * Milliseconds that idle connections stay open. A client that uses one of them again is answered, and told to close it;
 * an end by the server could cross its next request, which would be lost.
 */
const DRAIN = 2_000

/** Milliseconds between two looks for connections that have become idle. */
const SWEEP = 50

/** `close` of a server of HTTP would end idle connections at once. */
const stopListening = (server: Server): unknown => NetServer.prototype.close.call(server)
