import type { IncomingMessage, ServerResponse } from 'node:http'
import { ok } from '../base/result.ts'
import type { ExpressMiddleware } from '../plugins/middleware.ts'
import {
  countPending,
  type Dispatcher,
  type DispatcherOptions,
  holdRequests,
  openDispatcher,
  openServerGeneration,
  receive,
  swapGenerations,
} from './dispatcher.ts'
import { whenDrained } from './in-flight.ts'
import { toRequestId } from './incoming-request.ts'
import { type HttpServer, refusalOf, refuse } from './server.ts'

/** A part of another HTTP server: it binds no port. */
export interface AttachedServer extends HttpServer {
  /** An Express middleware. Requests to other paths, and those that the API does not know, go to `next`. */
  readonly handle: ExpressMiddleware
}

/** `options.paths`: the paths of the API. */
export async function openAttachedServer(options: DispatcherOptions): Promise<AttachedServer> {
  const passes = new WeakMap<IncomingMessage, () => void>()
  const attach = (next: DispatcherOptions): DispatcherOptions => ({
    ...next,
    passOn: incoming => passes.get(incoming)?.(),
  })
  const dispatcher = await openDispatcher(attach(options))
  const serving = {
    swap: async (next: DispatcherOptions) =>
      swapGenerations(dispatcher, await openServerGeneration(attach(next))),
    hold: () => holdRequests(dispatcher),
  }
  let closing: Promise<void> | undefined
  return {
    ...serving,
    handle(request, response, next) {
      if (closing || !isOwnPath(request.url ?? '/', dispatcher.current.options.paths ?? [])) {
        next()
        return
      }
      const refusal = refusalOf(request)
      if (refusal !== null) {
        refuse(response, refusal, dispatcher.current.options)
        return
      }
      passes.set(request, takeRequest(request, response, next))
      receive(dispatcher, request, response)
    },
    listen: async () =>
      ok({
        ...serving,
        url: '',
        pending: () => countPending(dispatcher),
        close(milliseconds) {
          closing ??= drain(dispatcher, milliseconds)
          return closing
        },
        terminate: () => drain(dispatcher, 0),
      }),
  }
}

function isOwnPath(url: string, paths: readonly string[]): boolean {
  const [path = ''] = url.split('?', 1)
  const requested = `${path}/`.toLowerCase()
  return paths.some(own => requested.startsWith(`${own === '/' ? '' : own}/`.toLowerCase()))
}

/**
 * Sets the request id, which also makes the response keep headers that were set before. Returns what passes the request
 * on as it came.
 */
function takeRequest(request: IncomingMessage, response: ServerResponse, next: () => void): () => void {
  const input = response.getHeader('X-Request-Id')
  const sent = request.headers['x-request-id']
  const id = toRequestId(typeof input === 'string' ? input : sent)
  request.headers['x-request-id'] = id
  response.setHeader('X-Request-Id', id)
  // Middlewares of the project run in an Express application of their own.
  const prototypes = [Object.getPrototypeOf(request), Object.getPrototypeOf(response)] as const
  return () => {
    if (input === undefined) response.removeHeader('X-Request-Id')
    else response.setHeader('X-Request-Id', input)
    if (sent === undefined) delete request.headers['x-request-id']
    Object.setPrototypeOf(request, prototypes[0])
    Object.setPrototypeOf(response, prototypes[1])
    next()
  }
}

async function drain(dispatcher: Dispatcher, milliseconds: number): Promise<void> {
  const { current, draining } = dispatcher
  const generations = [current, ...draining]
  for (const { inFlight } of generations) inFlight.isClosing = true
  const { observer } = current.options
  observer.emit({ kind: 'stopping', waiting: countPending(dispatcher) })
  await Promise.all(generations.map(({ inFlight }) => whenDrained(inFlight, milliseconds)))
  observer.emit({ kind: 'stopped', cut: countPending(dispatcher) })
}
