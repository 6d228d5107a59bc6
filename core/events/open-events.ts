import type { EventAction, Outbox } from '../documents/outbox.ts'
import type { ContentType } from '../model/model.ts'
import type { Observer } from '../observe/observation.ts'
import { isMeant } from './event-names.ts'
import { type EventRows, eventRows } from './event-rows.ts'
import type { EventListener, Events, EventTerms, Pace } from './events.ts'
import { openQueue, type Queue } from './open-queue.ts'

const PACE: Pace = {
  poll: 5_000,
  patience: 30_000,
  slack: 30_000,
  delay: 5_000,
  attempts: 8,
  farewell: 5_000,
}

/** Throws TypeError where two listeners have the same key. */
export function openEvents(terms: EventTerms): Events {
  const { database, model, listeners, observer } = terms
  const pace = { ...PACE, ...terms.pace }
  const rows = eventRows(database)
  const ending = new AbortController()
  const reached = toReached(observer)
  const queues = new Map(
    listeners.map(listener => [
      listener.key,
      openQueue(listener, { model, rows, pace, observer, ending: ending.signal, reached }),
    ]),
  )
  if (queues.size < listeners.length) throw new TypeError('Two listeners have the same key')
  let timer: NodeJS.Timeout | undefined
  let asked = Promise.resolve()
  const wakeAll = () => {
    for (const queue of queues.values()) queue.wake()
  }
  return {
    outbox: toOutbox(listeners, keys => {
      if (timer) for (const key of keys) queues.get(key)?.wake()
    }),
    start() {
      timer ??= setInterval(wakeAll, pace.poll).unref()
      wakeAll()
      asked = tellOthers([...queues.keys()], rows, { observer, reached })
    },
    settled: () => (timer ? settle(queues.values()) : Promise.resolve()),
    async close() {
      clearInterval(timer)
      for (const queue of queues.values()) queue.close()
      const farewell = setTimeout(() => ending.abort(), pace.farewell)
      await Promise.all([asked, ...[...queues.values()].map(queue => queue.idle())])
      clearTimeout(farewell)
    },
  }
}

/** Looked up at every write: who listens to what is found out once. */
function toOutbox(listeners: readonly EventListener[], wake: Outbox['wake']): Outbox {
  const known = new Map<ContentType, Map<EventAction, readonly string[]>>()
  const find = (type: ContentType, action: EventAction) =>
    listeners.filter(({ pattern }) => isMeant(pattern, type, action)).map(({ key }) => key)
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

/** What a listener does may be an event of another's. */
async function settle(queues: Iterable<Queue>): Promise<void> {
  const all = [...queues]
  let isBusy = true
  while (isBusy) isBusy = (await Promise.all(all.map(queue => queue.idle()))).includes(true)
}

/** Tells once that the outbox cannot be reached, and again only after it could be. */
function toReached(observer: Observer): (error?: unknown) => void {
  let isAway = false
  return error => {
    if (error !== undefined && !isAway) observer.emit({ kind: 'eventsStalled', error })
    isAway = error !== undefined
  }
}

interface Told {
  readonly observer: Observer
  readonly reached: (error?: unknown) => void
}

/** Events that wait for listeners of files that were renamed or removed would wait for ever without a word. */
async function tellOthers(
  keys: readonly string[],
  rows: EventRows,
  { observer, reached }: Told,
): Promise<void> {
  try {
    for (const [listener, events] of await rows.countOthers(keys))
      observer.emit({ kind: 'eventsUnheard', listener, events })
  } catch (error) {
    reached(error)
  }
}
