import type { Transaction } from '../database/database.ts'
import { afterCommit } from '../database/request-scope.ts'
import type { ContentType } from '../model/model.ts'
import type { Actor, PermittedCommand } from '../query/command.ts'
import type { Statement } from '../sql/statement.ts'

/** Actions on a version of a document. */
export const EVENT_ACTIONS = ['create', 'update', 'delete', 'publish', 'unpublish', 'discardDraft'] as const

export type EventAction = (typeof EVENT_ACTIONS)[number]

/** Receives the change events of writes. */
export interface Outbox {
  /** Keys of the listeners of an action. The outbox gets one row per listener. */
  listenersOf(type: ContentType, action: EventAction): readonly string[]
  /** Called after rows for these listeners are committed. Must not throw or block. */
  wake(listeners: ReadonlySet<string>): void
}

export const NO_OUTBOX: Outbox = { listenersOf: () => [], wake: () => {} }

/** The changes of one write to one document. */
export interface ChangeEvent {
  readonly type: ContentType
  readonly documentId: string
  readonly changes: readonly VersionChangeEvent[]
  readonly origin: Origin
}

/** The actor of a write and the names of its attributes. The outbox never stores values. */
export interface Origin {
  readonly by: Actor | null
  readonly attributes: readonly string[]
}

export const originOf = (command: PermittedCommand): Origin => ({
  by: command.by,
  attributes: 'values' in command ? Object.keys(command.values) : [],
})

/** The origin of writes by the server itself. */
export const OWN_ORIGIN: Origin = { by: null, attributes: [] }

interface VersionChangeEvent {
  /** null on types without locales. */
  readonly locale: string | null
  readonly action: EventAction
}

/** Records an event inside the transaction, after its writes: events of one document are ordered. */
export type RecordChange = (event: ChangeEvent) => void

/** Records the change events of one write. */
export interface ChangeRecorder {
  /** `now`: the time of the write, ISO 8601 in UTC. */
  within(transaction: Pick<Transaction, 'send'>, now: string): RecordChange
  /** Wakes the listeners. Call it after the commit. */
  done(): void
}

/** Without listeners a write costs nothing. Otherwise it costs one statement. */
export function openChangeRecorder(outbox: Outbox): ChangeRecorder {
  const listeners = new Set<string>()
  return {
    within: (transaction, now) => event => {
      const rows = toRows(event, outbox)
      if (rows.length === 0) return
      for (const { listener } of rows) listeners.add(listener)
      transaction.send(insertion(event, rows, now))
    },
    done: () => {
      if (listeners.size > 0) void afterCommit(() => outbox.wake(listeners))
    },
  }
}

interface OutboxRow extends VersionChangeEvent {
  readonly listener: string
}

const toRows = ({ type, changes }: ChangeEvent, outbox: Outbox): readonly OutboxRow[] =>
  changes.flatMap(change =>
    outbox.listenersOf(type, change.action).map(listener => ({ ...change, listener })),
  )

const insertion = (
  { type, documentId, origin }: ChangeEvent,
  rows: readonly OutboxRow[],
  now: string,
): Statement => ({
  name: 'record change events',
  text: INSERT,
  values: [
    type.uid,
    documentId,
    now,
    rows.map(({ listener }) => listener),
    rows.map(({ locale }) => locale),
    rows.map(({ action }) => action),
    JSON.stringify(origin),
  ],
})

/** `due_at` uses the database's clock. It is truncated: rounding up to milliseconds would delay the row. */
const INSERT = `INSERT INTO plinth_outbox (listener, content_type, document_id, locale, action, origin, written_at, due_at, state, attempts)
SELECT n.listener, $1::text, $2::text, n.locale, n.action, $7::jsonb, $3::timestamptz, date_trunc('milliseconds', now()), 'waiting', 0
FROM unnest($4::text[], $5::text[], $6::text[]) WITH ORDINALITY AS n (listener, locale, action, place) ORDER BY n.place`
