import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { ExpressMiddleware } from '../plugins/middleware.ts'
import { withGlobalMiddlewares } from './global-middlewares.ts'
import { type InFlight, openInFlight, whenDrained } from './in-flight.ts'
import { createListener, type ListenerOptions } from './listener.ts'

export interface DispatcherOptions extends ListenerOptions {
  /** Express middlewares around every request, the first outermost. */
  readonly middlewares?: readonly ExpressMiddleware[]
  /** The paths of the API; only a server that is part of another application needs them. */
  readonly paths?: readonly string[]
  /** Milliseconds that idle connections stay open once the server closes. */
  readonly drain?: number
}

/** One generation of the app, as the server sees it: its listener and its requests in flight. */
export interface ServerGeneration {
  readonly options: DispatcherOptions
  readonly listener: RequestListener
  readonly inFlight: InFlight
}

/** Passes each request to the current generation. */
export interface Dispatcher {
  current: ServerGeneration
  /** Replaced generations that still have requests in flight. */
  readonly draining: Set<ServerGeneration>
  /** Requests that wait until `holdRequests` is released; null: requests are not held. */
  held: [IncomingMessage, ServerResponse][] | null
}

/** A generation that was replaced. */
export interface Draining {
  /** Resolves when its last request has ended, or after the request timeout. */
  drained(): Promise<void>
}

export const openDispatcher = async (options: DispatcherOptions): Promise<Dispatcher> => ({
  current: await openServerGeneration(options),
  draining: new Set(),
  held: null,
})

export async function openServerGeneration(options: DispatcherOptions): Promise<ServerGeneration> {
  const { settings, observer, projectRoot, graphql, middlewares = [] } = options
  const inFlight = openInFlight()
  const around = { requestTimeout: settings.requestTimeout, observer, projectRoot, graphql, inFlight }
  const listener = await withGlobalMiddlewares(middlewares, createListener(options, inFlight), around)
  return { options, inFlight, listener }
}

export function receive(dispatcher: Dispatcher, request: IncomingMessage, response: ServerResponse): void {
  if (dispatcher.held) dispatcher.held.push([request, response])
  else dispatcher.current.listener(request, response)
}

/** Gives all later requests to `next`. */
export function swapGenerations(dispatcher: Dispatcher, next: ServerGeneration): Draining {
  const before = dispatcher.current
  next.inFlight.isClosing = before.inFlight.isClosing
  dispatcher.current = next
  dispatcher.draining.add(before)
  const drained = whenDrained(before.inFlight, before.options.settings.requestTimeout)
  const removed = drained.then(() => void dispatcher.draining.delete(before))
  return { drained: () => removed }
}

/** Milliseconds that requests in flight get to end before the hold counts as complete. */
const HOLD_DRAIN_TIMEOUT = 1_000

/** Milliseconds after which held requests are released in any case. */
const MAX_HOLD = 5_000

/**
 * Holds new requests until the returned function is called, at most MAX_HOLD. Resolves when no request is in flight, or
 * after HOLD_DRAIN_TIMEOUT.
 */
export async function holdRequests(dispatcher: Dispatcher): Promise<() => void> {
  const held: NonNullable<Dispatcher['held']> = []
  dispatcher.held = held
  const release = () => {
    clearTimeout(timer)
    if (dispatcher.held === held) dispatcher.held = null
    for (const [request, response] of held.splice(0)) dispatcher.current.listener(request, response)
  }
  const timer = setTimeout(release, MAX_HOLD)
  await whenDrained(dispatcher.current.inFlight, HOLD_DRAIN_TIMEOUT)
  return release
}

/** The number of requests that are in flight or held. */
export const countPending = ({ current, draining, held }: Dispatcher): number =>
  [current, ...draining].reduce((sum, { inFlight }) => sum + inFlight.count, held?.length ?? 0)
