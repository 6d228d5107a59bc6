import type { Transaction } from '../database/database.ts'
import type { ContentType } from '../model/model.ts'
import { quoteIdentifier as name } from '../sql/identifier.ts'

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

export const NOBODY_LISTENS: Outbox = { listenersOf: () => [], wake: () => {} }

/** What one write did to one document. */
export interface News {
  readonly type: ContentType
  readonly documentId: string
  readonly changes: readonly VersionNews[]
}

interface VersionNews {
  /** null on types without locales. */
  readonly locale: string | null
  readonly action: EventAction
}

/** Tells what a write did, inside its transaction and after all that it wrote: rows of one document come in order. */
export type Tell = (news: News) => Promise<void>

/** What one write tells. */
export interface Telling {
  within(transaction: Pick<Transaction, 'run'>): Tell
  /** After the commit. */
  done(): void
}

/** `now`: ISO 8601, what events say of when they happened. */
export function openTelling(outbox: Outbox, schema: string, now: string): Telling {
  const told = new Set<string>()
  return {
    within: transaction => async news => {
      const rows = toRows(news, outbox)
      if (rows.length === 0) return
      for (const { listener } of rows) told.add(listener)
      await transaction.run(insertion(news, rows, { schema, now }))
    },
    done: () => {
      if (told.size > 0) outbox.wake(told)
    },
  }
}

interface OutboxRow extends VersionNews {
  readonly listener: string
}

const toRows = ({ type, changes }: News, outbox: Outbox): readonly OutboxRow[] =>
  changes.flatMap(change =>
    outbox.listenersOf(type, change.action).map(listener => ({ ...change, listener })),
  )
