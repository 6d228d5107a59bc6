import type { Rows, Transaction } from '../../database/database.ts'
import type { Storage } from '../../model/storage.ts'
import type { Assertion, ReturningQuery } from '../sql/print-changes.ts'

/** What every stage of a write knows. */
export interface WriteTerms {
  readonly transaction: Pick<Transaction, 'run' | 'send'>
  readonly storage: Storage
  /** The schema of the tables. */
  readonly schema: string
  readonly defaultLocale: string
  /** The moment that stamps say; ISO 8601 in UTC with milliseconds. */
  readonly now: string
  /** Which component an item changes: the one that it names by id, or the one that stands in its place. */
  readonly componentMatch: ComponentMatch
  /** What has to hold for the write: else the database fails it. */
  readonly proof?: Assertion | undefined
  /** What is asked of a document that is made: the statement that makes it answers that too, where one does. */
  readonly answer?: ExtraAnswer | undefined
  /** Rows that stay as they are get new stamps too. */
  readonly touch: boolean
}

export interface ExtraAnswer {
  readonly question: ReturningQuery
  tell(rows: Promise<Rows>): void
}

/** A write that may have to wait for others. */
export interface LockingTerms extends WriteTerms {
  readonly transaction: Pick<Transaction, 'run' | 'send' | 'lock'>
}

export type ComponentMatch = 'by-id' | 'by-place'
