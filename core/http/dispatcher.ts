import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import type { ExpressMiddleware } from '../plugins/middleware.ts'
import { aroundListener } from './global-middlewares.ts'
import { drained, openTraffic, type Traffic } from './in-flight.ts'
import { createListener, type ListenerTerms } from './listener.ts'

export interface ServedTerms extends ListenerTerms {
  /** Express middlewares round every request, the first outermost. */
  readonly middlewares?: readonly ExpressMiddleware[]
  /** Milliseconds that idle connections stay open once the server is to end. */
  readonly drain?: number
}

/** Those who answer, with their requests. */
export interface Shift {
  readonly terms: ServedTerms
  readonly listener: RequestListener
  readonly traffic: Traffic
}

/** Where requests come in. */
export interface Desk {
  current: Shift
  /** Those who still have requests under way. */
  readonly leaving: Set<Shift>
  /** Requests that wait for whoever answers next; null: none has to. */
  held: [IncomingMessage, ServerResponse][] | null
}

/** Who answered until a swap. */
export interface Outgoing {
  /** Resolves once the last of their requests has ended, or has had its time. */
  drained(): Promise<void>
}

export const openDesk = async (terms: ServedTerms): Promise<Desk> => ({
  current: await openShift(terms),
  leaving: new Set(),
  held: null,
})

export async function openShift(terms: ServedTerms): Promise<Shift> {
  const { settings, observer, middlewares = [] } = terms
  const traffic = openTraffic()
  const around = { requestTimeout: settings.requestTimeout, observer, traffic }
  const listener = await aroundListener(middlewares, createListener(terms, traffic), around)
  return { terms, traffic, listener }
}

export function receive(desk: Desk, request: IncomingMessage, response: ServerResponse): void {
  if (desk.held) desk.held.push([request, response])
  else desk.current.listener(request, response)
}

/** From the next request on the next ones answer. */
export function swapShifts(desk: Desk, next: Shift): Outgoing {
  const before = desk.current
  next.traffic.closing = before.traffic.closing
  desk.current = next
  desk.leaving.add(before)
  const over = drained(before.traffic, before.terms.settings.requestTimeout)
  const left = over.then(() => void desk.leaving.delete(before))
  return { drained: () => left }
}

/** Milliseconds that requests under way have to end before those that come later wait for nothing. */
const QUIET = 1_000

/** Milliseconds that a request waits at most. */
const PATIENCE = 5_000

/** New requests wait, not for ever, until the answered function is called. Resolves once none is under way, or soon. */
export async function holdRequests(desk: Desk): Promise<() => void> {
  const held: NonNullable<Desk['held']> = []
  desk.held = held
  const release = () => {
    clearTimeout(patience)
    if (desk.held === held) desk.held = null
    for (const [request, response] of held.splice(0)) desk.current.listener(request, response)
  }
  const patience = setTimeout(release, PATIENCE)
  await drained(desk.current.traffic, QUIET)
  return release
}

/** How many requests are under way, or wait to be. */
export const waitingAt = ({ current, leaving, held }: Desk): number =>
  [current, ...leaving].reduce((sum, { traffic }) => sum + traffic.waiting, held?.length ?? 0)
