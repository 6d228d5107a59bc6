import type { ExecutionContext } from 'ava'
import type { Database } from '../../core/database/database.ts'
import {
  type DocumentEvent,
  type EventHandler,
  type EventListener,
  type EventPattern,
  type Events,
  type EventTiming,
  listenerKey,
} from '../../core/events/events.ts'
import { openEvents } from '../../core/events/open-events.ts'
import type { Observation, ObservationKind, Observer } from '../../core/observe/observation.ts'
import { openWriting } from '../documents/writing.ts'
import { modelOf } from '../model/compiled.ts'

export const PROJECT = `
i18n: { defaultLocale: en, locales: [en, fr] }
contentTypes:
  article:
    draftAndPublish: true
    attributes: { title: { type: string, required: true } }
  page:
    draftAndPublish: true
    localized: true
    attributes: { title: string }
  note:
    attributes: { text: { type: string, unique: true } }
  audit:
    attributes: { line: string }
`

export const model = await modelOf(PROJECT)

/** Short intervals for tests, and a short wait for listeners at shutdown. */
export const TEST_TIMING: Partial<EventTiming> = {
  pollInterval: 50,
  retryDelay: 25,
  maxAttempts: 3,
  drainTimeout: 100,
}

export const listener = (pattern: EventPattern, handle: EventHandler, extension = 'test'): EventListener => ({
  key: listenerKey(extension, pattern, 0),
  pattern,
  handle,
})

export interface Notes extends Observer {
  readonly seen: readonly Observation[]
  count(kind: ObservationKind): number
}

export function takeNotes(): Notes {
  const seen: Observation[] = []
  return {
    seen,
    isEnabled: () => true,
    emit: observation => void seen.push(observation),
    count: kind => seen.filter(each => each.kind === kind).length,
  }
}

/**
 * Opens event delivery to these listeners, for writes of this process. Delivery is not started. It is below the app,
 * because tests set the timing and act as several processes.
 */
export async function openListening(
  t: ExecutionContext,
  listeners: readonly EventListener[],
  timing: Partial<EventTiming> = {},
) {
  const notes = takeNotes()
  const opened: Events[] = []
  const open = (database: Database, heard: readonly EventListener[]): Events => {
    const events = openEvents({
      database,
      model,
      listeners: heard,
      observer: notes,
      timing: { ...TEST_TIMING, ...timing },
    })
    opened.push(events)
    return events
  }
  const writing = await openWriting(t, model, database => open(database, listeners).outbox)
  const [events] = opened
  if (!events) throw new Error('the outbox was not asked for')
  // Runs before the database is closed: teardowns run in reverse order.
  t.teardown(async () => {
    for (const each of opened) await each.close()
  })
  return {
    ...writing,
    events,
    notes,
    /** Acts as another process on the same database. */
    openAnother: (heard: readonly EventListener[]) => open(writing.database, heard),
    /** All remaining rows, oldest first. */
    left: () =>
      writing.rows('SELECT listener, action, state, attempts, last_error FROM plinth_outbox ORDER BY id'),
  }
}

export const reported = ({ name, locale }: DocumentEvent): string =>
  `${name}${locale === null ? '' : ` ${locale}`}`

/** Waits until the condition is met; fails after a timeout. */
export async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = Date.now() + 60_000
  while (!(await isSo())) {
    if (Date.now() > deadline) throw new Error('it never came to be so')
    await new Promise(resolve => setTimeout(resolve, 10))
  }
}
