import { setTimeout as pause } from 'node:timers/promises'
import { toReadableError } from '../base/project-frame.ts'
import type { EventAction, Outbox } from '../documents/outbox.ts'
import type { ContentType, Model } from '../model/model.ts'
import type { Observer } from '../observe/observation.ts'
import type { Actor } from '../query/command.ts'
import type { Status } from '../query/query.ts'
import {
  type DocumentEvent,
  type EventHandler,
  type EventListener,
  type EventOptions,
  type Events,
  type EventTiming,
  matchesPattern,
} from './events.ts'
import { type Claim, type ClaimedEvent, type OutboxRows, openOutboxRows } from './outbox-rows.ts'

const DEFAULT_TIMING: EventTiming = {
  pollInterval: 5_000,
  timeout: 30_000,
  leaseMargin: 30_000,
  retryDelay: 5_000,
  maxAttempts: 8,
  drainTimeout: 5_000,
}

/** Throws a TypeError if two listeners have the same key. */
export function openEvents(options: EventOptions): Events {
  const { database, model, listeners, observer } = options
  const timing = { ...DEFAULT_TIMING, ...options.timing }
  const rows = openOutboxRows(database)
  const shutdown = new AbortController()
  const reportReachable = openOutageReporter(observer)
  const queues = new Map(
    listeners.map(listener => [
      listener.key,
      openListenerQueue(listener, {
        model,
        rows,
        timing,
        observer,
        shutdown: shutdown.signal,
        reportReachable,
      }),
    ]),
  )
  if (queues.size < listeners.length) throw new TypeError('Two listeners have the same key')
  let timer: NodeJS.Timeout | undefined
  let report = Promise.resolve()
  const wakeAll = () => {
    for (const queue of queues.values()) queue.wake()
  }
  return {
    outbox: toOutbox(listeners, keys => {
      if (timer) for (const key of keys) queues.get(key)?.wake()
    }),
    start() {
      timer ??= setInterval(wakeAll, timing.pollInterval).unref()
      wakeAll()
      report = reportUnheard([...queues.keys()], rows, { observer, reportReachable })
    },
    settled: () => (timer ? drain(queues.values()) : Promise.resolve()),
    async close() {
      clearInterval(timer)
      for (const queue of queues.values()) queue.close()
      const drainTimer = setTimeout(() => shutdown.abort(), timing.drainTimeout)
      await Promise.all([report, ...[...queues.values()].map(queue => queue.idle())])
      clearTimeout(drainTimer)
    },
  }
}

/** Every write looks up listeners, so the matches are computed once per content-type and action. */
function toOutbox(listeners: readonly EventListener[], wake: Outbox['wake']): Outbox {
  const known = new Map<ContentType, Map<EventAction, readonly string[]>>()
  const find = (type: ContentType, action: EventAction) =>
    listeners.filter(({ pattern }) => matchesPattern(pattern, type, action)).map(({ key }) => key)
  return {
    wake,
    listenersOf(type, action) {
      const actions = known.get(type) ?? new Map<EventAction, readonly string[]>()
      const found = actions.get(action) ?? find(type, action)
      known.set(type, actions.set(action, found))
      return found
    },
  }
}

/** A listener's writes can cause events for another listener: repeats until all queues are idle. */
async function drain(queues: Iterable<ListenerQueue>): Promise<void> {
  const all = [...queues]
  let isBusy = true
  while (isBusy) isBusy = (await Promise.all(all.map(queue => queue.idle()))).includes(true)
}

/** Reports an outage of the outbox once, and the next outage only after a recovery. */
function openOutageReporter(observer: Observer): (error?: unknown) => void {
  let isDown = false
  return error => {
    if (error !== undefined && !isDown) observer.emit({ kind: 'eventsStalled', error })
    isDown = error !== undefined
  }
}

interface ReportOptions {
  readonly observer: Observer
  readonly reportReachable: (error?: unknown) => void
}

/** Warns of events whose listener was renamed or removed: they would wait forever unnoticed. */
async function reportUnheard(
  keys: readonly string[],
  rows: OutboxRows,
  { observer, reportReachable }: ReportOptions,
): Promise<void> {
  try {
    for (const [listener, events] of await rows.countOthers(keys))
      observer.emit({ kind: 'eventsUnheard', listener, events })
  } catch (error) {
    reportReachable(error)
  }
}

interface ListenerQueueOptions {
  readonly model: Model
  readonly rows: OutboxRows
  readonly timing: EventTiming
  readonly observer: Observer
  /** Aborted when shutdown stops waiting for listeners. */
  readonly shutdown: AbortSignal
  /** Reports that the outbox could be read, or the error that prevented it. */
  reportReachable(error?: unknown): void
}

/** Delivers the events of one listener. */
interface ListenerQueue {
  /** Looks for due events. */
  wake(): void
  /** Resolves when no delivery is running; true if there was any. */
  idle(): Promise<boolean>
  /** Claims no more events. */
  close(): void
}

/** Concurrent deliveries to one listener in one process, of different documents. */
const CONCURRENCY = 4

function openListenerQueue(listener: EventListener, options: ListenerQueueOptions): ListenerQueue {
  const running = new Set<Promise<void>>()
  let polls = Promise.resolve()
  let isPollQueued = false
  let isOpen = true
  const wake = () => {
    if (isPollQueued || !isOpen) return
    isPollQueued = true
    polls = polls.then(poll)
  }
  const poll = async () => {
    isPollQueued = false
    if (!isOpen) return
    const { claimed, hasMore } = await claim(listener, CONCURRENCY - running.size, options)
    for (const each of claimed) begin(each)
    if (hasMore && running.size < CONCURRENCY) wake()
  }
  const begin = (claimed: ClaimedEvent) => {
    const work = processEvent(claimed, listener, options).then(() => {
      running.delete(work)
      wake()
    })
    running.add(work)
  }
  return {
    wake,
    async idle() {
      wake()
      let isBusy = false
      let seen: Promise<void> | undefined
      // A finished delivery unblocks the next event of its document, so it polls again.
      while (seen !== polls || running.size > 0) {
        seen = polls
        await seen
        isBusy ||= running.size > 0
        await Promise.all(running)
      }
      return isBusy
    },
    close() {
      isOpen = false
    },
  }
}

async function claim(
  { key }: EventListener,
  most: number,
  { rows, timing, reportReachable }: ListenerQueueOptions,
): Promise<Claim> {
  if (most <= 0) return NOTHING_CLAIMED
  try {
    const found = await rows.claim(key, most, timing.timeout + timing.leaseMargin)
    reportReachable()
    return found
  } catch (error) {
    reportReachable(error)
    return NOTHING_CLAIMED
  }
}

const NOTHING_CLAIMED: Claim = { claimed: [], hasMore: false }

/** Never rejects: if the outcome cannot be stored, the claim expires and the event is delivered again. */
async function processEvent(
  claimed: ClaimedEvent,
  listener: EventListener,
  options: ListenerQueueOptions,
): Promise<void> {
  const event = toEvent(claimed, options.model)
  const delivery = { claimed, listener, name: event?.name ?? claimed.uid }
  try {
    if (event === null) await fail(delivery, UNKNOWN_EVENT, options)
    else if (claimed.attempts > options.timing.maxAttempts) await fail(delivery, PROCESS_DIED, options)
    else await settle(delivery, await deliver(event, listener.handle, deliveryOptions(options)), options)
  } catch (error) {
    if (!options.shutdown.aborted) options.reportReachable(error)
  }
}

const UNKNOWN_EVENT = new Error('The project has no such content-type, or no such event, any more')
const PROCESS_DIED = new Error('The process ended while the listener was at work')

const deliveryOptions = ({ timing, shutdown }: ListenerQueueOptions) => ({
  timeout: timing.timeout,
  shutdown,
})

interface Delivery {
  readonly claimed: ClaimedEvent
  readonly listener: EventListener
  readonly name: string
}

function settle(delivery: Delivery, outcome: DeliveryOutcome, options: ListenerQueueOptions): Promise<void> {
  const { claimed } = delivery
  switch (outcome.kind) {
    case 'handled':
      return store(() => options.rows.remove(claimed), options)
    case 'interrupted':
      return options.rows.release(claimed)
    case 'failed':
      return claimed.attempts < options.timing.maxAttempts
        ? postpone(delivery, outcome.error, options)
        : fail(delivery, outcome.error, options)
  }
}

/**
 * Repeats the change of a claimed row while the database is not reachable, until shutdown or the claim expires: a listener
 * should not get an event again that it has handled. Rejects with the last failure.
 */
async function store(change: () => Promise<void>, options: ListenerQueueOptions): Promise<void> {
  const { timing, shutdown, reportReachable } = options
  for (let left = timing.leaseMargin; ; left -= timing.pollInterval) {
    try {
      await change()
      return
    } catch (error) {
      if (left <= 0) throw error
      reportReachable(error)
      await pause(timing.pollInterval, undefined, { signal: shutdown })
    }
  }
}

const MAX_DELAY = 3_600_000

async function postpone(delivery: Delivery, error: Error, options: ListenerQueueOptions): Promise<void> {
  const { attempts } = delivery.claimed
  const delay = Math.min(options.timing.retryDelay * 3 ** (attempts - 1), MAX_DELAY)
  options.observer.emit({ kind: 'eventPostponed', ...toObservation(delivery), delay, error })
  await store(() => options.rows.postpone(delivery.claimed, error.message, delay), options)
}

async function fail(delivery: Delivery, error: Error, options: ListenerQueueOptions): Promise<void> {
  options.observer.emit({ kind: 'eventFailed', ...toObservation(delivery), error })
  await store(() => options.rows.markFailed(delivery.claimed, error.message), options)
}

const toObservation = ({ claimed, listener, name }: Delivery) => ({
  eventId: claimed.id,
  name,
  documentId: claimed.documentId,
  listener: listener.key,
  attempts: claimed.attempts,
})

/** null if the project no longer has the content-type, or this version does not know the action. */
function toEvent({ attempts, action, origin, ...claimed }: ClaimedEvent, model: Model): DocumentEvent | null {
  const type = model.contentTypes.get(claimed.uid)
  if (!type || !action) return null
  const { user, role, token } = origin.by ?? NO_ACTOR
  const attributes = WRITES.has(action) ? origin.attributes : []
  const status = statusOf(type, action)
  return {
    ...claimed,
    action,
    name: eventName(type.key, action),
    status,
    attributes,
    caller: origin.by,
    user,
    role,
    token,
  }
}

const NO_ACTOR: Actor = { user: null, role: null, token: null }

const WRITES: ReadonlySet<EventAction> = new Set<EventAction>(['create', 'update'])

/** Writes go to the draft: only `publish` and `unpublish` change the published version. */
function statusOf({ draftAndPublish }: ContentType, action: EventAction): Status | null {
  if (!draftAndPublish) return 'published'
  if (action === 'delete') return null
  return action === 'publish' || action === 'unpublish' ? 'published' : 'draft'
}

const eventName = (key: string, action: EventAction): DocumentEvent['name'] => `${key}.${action}`

/** The result of one delivery. */
type DeliveryOutcome =
  | { readonly kind: 'handled' }
  | { readonly kind: 'failed'; readonly error: Error }
  /** The server stopped before the listener finished. */
  | { readonly kind: 'interrupted' }

interface DeliverOptions {
  /** Milliseconds. */
  readonly timeout: number
  /** Aborted when shutdown stops waiting for listeners. */
  readonly shutdown: AbortSignal
}

/** Calls a handler with an event. Ends within the timeout, whatever the handler does, and never rejects. */
async function deliver(
  event: DocumentEvent,
  handle: EventHandler,
  { timeout, shutdown }: DeliverOptions,
): Promise<DeliveryOutcome> {
  const stop = new AbortController()
  const late = () => stop.abort(new Error(`It took longer than ${timeout / 1_000} s`))
  const end = () => stop.abort(SHUTDOWN)
  const timer = setTimeout(late, timeout)
  shutdown.addEventListener('abort', end)
  if (shutdown.aborted) end()
  try {
    return await Promise.race([whenStopped(stop.signal), handleEvent(event, handle, stop.signal)])
  } finally {
    clearTimeout(timer)
    shutdown.removeEventListener('abort', end)
  }
}

const SHUTDOWN = new Error('The server ends')

async function handleEvent(
  event: DocumentEvent,
  handle: EventHandler,
  signal: AbortSignal,
): Promise<DeliveryOutcome> {
  if (signal.aborted) return { kind: 'interrupted' }
  try {
    await handle(event, { signal })
    return { kind: 'handled' }
  } catch (error) {
    if (signal.reason === SHUTDOWN) return { kind: 'interrupted' }
    return { kind: 'failed', error: toReadableError(error) }
  }
}

const whenStopped = (signal: AbortSignal): Promise<DeliveryOutcome> =>
  new Promise(resolve => {
    const outcome = (): DeliveryOutcome =>
      signal.reason === SHUTDOWN
        ? { kind: 'interrupted' }
        : { kind: 'failed', error: toReadableError(signal.reason) }
    if (signal.aborted) resolve(outcome())
    else signal.addEventListener('abort', () => resolve(outcome()), { once: true })
  })
