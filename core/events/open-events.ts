import type { EventAction, Outbox } from '../documents/outbox.ts'
import type { ContentType } from '../model/model.ts'
import type { Observer } from '../observe/observation.ts'
import {
  type EventListener,
  type Events,
  type EventTerms,
  type EventTiming,
  matchesPattern,
} from './events.ts'
import { type ListenerQueue, openListenerQueue } from './listener-queue.ts'
import { type OutboxRows, openOutboxRows } from './outbox-rows.ts'

const DEFAULT_TIMING: EventTiming = {
  pollInterval: 5_000,
  timeout: 30_000,
  leaseMargin: 30_000,
  retryDelay: 5_000,
  maxAttempts: 8,
  drainTimeout: 5_000,
}

/** Throws a TypeError if two listeners have the same key. */
export function openEvents(terms: EventTerms): Events {
  const { database, model, listeners, observer } = terms
  const timing = { ...DEFAULT_TIMING, ...terms.timing }
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

interface ReportTerms {
  readonly observer: Observer
  readonly reportReachable: (error?: unknown) => void
}

/** Warns of events whose listener was renamed or removed: they would wait forever unnoticed. */
async function reportUnheard(
  keys: readonly string[],
  rows: OutboxRows,
  { observer, reportReachable }: ReportTerms,
): Promise<void> {
  try {
    for (const [listener, events] of await rows.countOthers(keys))
      observer.emit({ kind: 'eventsUnheard', listener, events })
  } catch (error) {
    reportReachable(error)
  }
}
