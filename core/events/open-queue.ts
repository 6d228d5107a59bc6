import type { EventAction } from '../documents/outbox.ts'
import type { ContentType, Model } from '../model/model.ts'
import type { Observer } from '../observe/observation.ts'
import type { Actor } from '../query/command.ts'
import type { Status } from '../query/query.ts'
import { deliver, type Outcome } from './deliver.ts'
import type { EventRows, Taken } from './event-rows.ts'
import type { DocumentEvent, EventListener, Pace } from './events.ts'

export interface QueueTerms {
  readonly model: Model
  readonly rows: EventRows
  readonly pace: Pace
  readonly observer: Observer
  /** Aborted when no listener is waited for any longer. */
  readonly ending: AbortSignal
  /** The outbox could be reached, or not (an error). */
  reached(error?: unknown): void
}

/** The events of one listener. */
export interface Queue {
  /** Looks for events that are due. */
  wake(): void
  /** Resolves once those at work are through; whether there were any. */
  idle(): Promise<boolean>
  /** Takes no more. */
  close(): void
}

/** Events of different documents that a listener gets at the same time, in one process. */
const AT_ONCE = 4

export function openQueue(listener: EventListener, terms: QueueTerms): Queue {
  const atWork = new Set<Promise<void>>()
  let looks = Promise.resolve()
  let isLookDue = false
  let isOpen = true
  const wake = () => {
    if (isLookDue || !isOpen) return
    isLookDue = true
    looks = looks.then(look)
  }
  const look = async () => {
    isLookDue = false
    if (!isOpen) return
    for (const taken of await take(listener, AT_ONCE - atWork.size, terms)) begin(taken)
  }
  const begin = (taken: Taken) => {
    const work = bring(taken, listener, terms).then(() => {
      atWork.delete(work)
      wake()
    })
    atWork.add(work)
  }
  return {
    wake,
    async idle() {
      wake()
      let isBusy = false
      let seen: Promise<void> | undefined
      // What is through makes way for the next event of its document, and so for another look.
      while (seen !== looks || atWork.size > 0) {
        seen = looks
        await seen
        isBusy ||= atWork.size > 0
        await Promise.all(atWork)
      }
      return isBusy
    },
    close() {
      isOpen = false
    },
  }
}

async function take(
  { key }: EventListener,
  most: number,
  { rows, pace, reached }: QueueTerms,
): Promise<readonly Taken[]> {
  if (most <= 0) return []
  try {
    const taken = await rows.take(key, most, pace.patience + pace.slack)
    reached()
    return taken
  } catch (error) {
    reached(error)
    return []
  }
}

/** Never rejects: where its end cannot be written down, the event comes again. */
async function bring(taken: Taken, listener: EventListener, terms: QueueTerms): Promise<void> {
  const event = toEvent(taken, terms.model)
  const delivery = { taken, listener, name: event?.name ?? taken.uid }
  try {
    if (event === null) await fail(delivery, UNKNOWN, terms)
    else if (taken.attempts > terms.pace.attempts) await fail(delivery, DIED, terms)
    else await end(delivery, await deliver(event, listener.handle, deliveryTerms(terms)), terms)
  } catch (error) {
    terms.reached(error)
  }
}

const UNKNOWN = new Error('The project has no such content-type, or no such event, any more')
const DIED = new Error('The process ended while the listener was at work')

const deliveryTerms = ({ pace, ending }: QueueTerms) => ({ patience: pace.patience, ending })

interface Delivery {
  readonly taken: Taken
  readonly listener: EventListener
  readonly name: string
}

function end(delivery: Delivery, outcome: Outcome, terms: QueueTerms): Promise<void> {
  const { taken } = delivery
  switch (outcome.kind) {
    case 'heard':
      return terms.rows.remove(taken)
    case 'cut':
      return terms.rows.putBack(taken)
    case 'refused':
      return taken.attempts < terms.pace.attempts
        ? postpone(delivery, outcome.error, terms)
        : fail(delivery, outcome.error, terms)
  }
}

const LONGEST_DELAY = 3_600_000

async function postpone(delivery: Delivery, error: unknown, terms: QueueTerms): Promise<void> {
  const { attempts } = delivery.taken
  const delay = Math.min(terms.pace.delay * 3 ** (attempts - 1), LONGEST_DELAY)
  terms.observer.emit({ kind: 'eventPostponed', ...observed(delivery), delay, error })
  await terms.rows.postpone(delivery.taken, messageOf(error), delay)
}

async function fail(delivery: Delivery, error: unknown, terms: QueueTerms): Promise<void> {
  terms.observer.emit({ kind: 'eventFailed', ...observed(delivery), error })
  await terms.rows.giveUp(delivery.taken, messageOf(error))
}

const observed = ({ taken, listener, name }: Delivery) => ({
  eventId: taken.id,
  name,
  documentId: taken.documentId,
  listener: listener.key,
  attempts: taken.attempts,
})

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/** null: of a type or an action that is not there. */
function toEvent({ attempts, action, origin, ...taken }: Taken, model: Model): DocumentEvent | null {
  const type = model.contentTypes.get(taken.uid)
  if (!type || !action) return null
  const { user, role, token } = origin.by ?? NOBODY
  const attributes = WRITES.has(action) ? origin.attributes : []
  const status = statusOf(type, action)
  return { ...taken, action, name: nameOf(type.key, action), status, attributes, user, role, token }
}

const NOBODY: Actor = { user: null, role: null, token: null }

const WRITES: ReadonlySet<EventAction> = new Set<EventAction>(['create', 'update'])

/** What is published is written as a draft before. */
function statusOf({ draftAndPublish }: ContentType, action: EventAction): Status | null {
  if (!draftAndPublish) return 'published'
  if (action === 'delete') return null
  return action === 'publish' || action === 'unpublish' ? 'published' : 'draft'
}

const nameOf = (key: string, action: EventAction): DocumentEvent['name'] => `${key}.${action}`
