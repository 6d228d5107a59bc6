import type { Transaction } from '../database/database.ts'
import { afterCommit } from '../database/generations/write-storage.ts'
import type { ContentType } from '../model/model.ts'
import type { Actor, PermittedCommand } from '../query/command.ts'
import type { Statement } from '../sql/statement.ts'

/** What can happen to a version of a document. */
export const EVENT_ACTIONS = ['create', 'update', 'delete', 'publish', 'unpublish', 'discardDraft'] as const

export type EventAction = (typeof EVENT_ACTIONS)[number]

/** Who is to hear of what writes do. */
export interface Outbox {
  /** The keys of all that listen to it; a row is written for each. */
  listenersOf(type: ContentType, action: EventAction): readonly string[]
  /** Rows for these listeners were committed. Must not throw, nor wait. */
  wake(listeners: ReadonlySet<string>): void
}

export const NO_OUTBOX: Outbox = { listenersOf: () => [], wake: () => {} }

/** What one write did to one document. */
export interface ChangeEvent {
  readonly type: ContentType
  readonly documentId: string
  readonly changes: readonly VersionChangeEvent[]
  readonly origin: Origin
}

/** Where a write comes from, and which attributes it names: never what stands in them, which rows of the outbox keep nothing of. */
export interface Origin {
  readonly by: Actor | null
  readonly attributes: readonly string[]
}

export const originOf = (command: PermittedCommand): Origin => ({
  by: command.by,
  attributes: 'values' in command ? Object.keys(command.values) : [],
})

/** Of the server's own code. */
export const OWN_ORIGIN: Origin = { by: null, attributes: [] }

interface VersionChangeEvent {
  /** null on types without locales. */
  readonly locale: string | null
  readonly action: EventAction
}

/** Tells what a write did, inside its transaction and after all that it wrote: rows of one document come in order. */
export type RecordChange = (news: ChangeEvent) => void

/** What one write tells. */
export interface ChangeRecorder {
  /** `now`: when it happened, ISO 8601 in UTC. */
  within(transaction: Pick<Transaction, 'send'>, now: string): RecordChange
  /** After the commit. */
  done(): void
}

/** Costs a write that nobody listens to nothing, any other one statement. */
export function openChangeRecorder(outbox: Outbox): ChangeRecorder {
  const told = new Set<string>()
  return {
    within: (transaction, now) => news => {
      const rows = toRows(news, outbox)
      if (rows.length === 0) return
      for (const { listener } of rows) told.add(listener)
      transaction.send(insertion(news, rows, now))
    },
    done: () => {
      if (told.size > 0) void afterCommit(() => outbox.wake(told))
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
  name: 'tell of a write',
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

/** The database's clock says what is due, and its columns hold milliseconds: rounded up, a row would be due a moment later. */
const INSERT = `INSERT INTO plinth_outbox (listener, content_type, document_id, locale, action, origin, written_at, due_at, state, attempts)
SELECT n.listener, $1::text, $2::text, n.locale, n.action, $7::jsonb, $3::timestamptz, date_trunc('milliseconds', now()), 'waiting', 0
FROM unnest($4::text[], $5::text[], $6::text[]) WITH ORDINALITY AS n (listener, locale, action, place) ORDER BY n.place`
