import type { Rows, Transaction } from '../../database/database.ts'
import type { Storage } from '../../model/storage.ts'
import type { Assertion, ReturningQuery } from '../sql/print-changes.ts'

/** Parameters shared by all stages of a write. */
export interface WriteTerms {
  readonly transaction: Pick<Transaction, 'run' | 'send'>
  readonly storage: Storage
  /** The schema of the tables. */
  readonly schema: string
  readonly defaultLocale: string
  /** The time for createdAt and updatedAt; ISO 8601 in UTC with milliseconds. */
  readonly now: string
  /** Whether an item updates the component with its id, or the one at its position. */
  readonly componentMatch: ComponentMatch
  /** Assertion in the write statement. The database fails the write if it is false. */
  readonly proof?: Assertion | undefined
  /** Query on a new document. The statement that creates the document answers it, if one statement does. */
  readonly answer?: ExtraAnswer | undefined
  /** Unchanged rows get new timestamps too. */
  readonly touch: boolean
}

export interface ExtraAnswer {
  readonly question: ReturningQuery
  tell(rows: Promise<Rows>): void
}

/** A write that may wait for locks. */
export interface LockingTerms extends WriteTerms {
  readonly transaction: Pick<Transaction, 'run' | 'send' | 'lock'>
}

export type ComponentMatch = 'by-id' | 'by-place'
