import type { Database, Rows, Transaction } from '../../database/database.ts'
import type { Model } from '../../model/model.ts'
import type { Storage } from '../../model/storage.ts'
import type { Slot } from '../desired-state.ts'
import type { Assertion, ReturningQuery } from '../sql/print-changes.ts'

/** Parameters shared by all stages of a write. */
export interface WriteOptions<Placeholder = never> {
  readonly transaction: Pick<Transaction, 'run' | 'send'>
  readonly storage: Storage
  /** The schema of the tables. */
  readonly schema: string
  readonly defaultLocale: string
  /** The time for createdAt and updatedAt; ISO 8601 in UTC with milliseconds. */
  readonly now: string | Placeholder
  /** Decides if an item updates the component with its id or the one at its position. */
  readonly componentMatch: ComponentMatch
  /** Assertion in the write statement. The database fails the write if it is false. */
  readonly assertion?: Assertion<Placeholder> | undefined
  /** Reads a new document in the statement that inserts it, if the document is created by one statement. */
  readonly answer?: ReturnedAnswer | undefined
  /** Sets updatedAt on unchanged rows, too. */
  readonly touch: boolean
}

interface WriteServices {
  readonly database: Pick<Database, 'schema'>
  readonly model: Pick<Model, 'defaultLocale'>
  readonly storage: Storage
}

/** The parameters of a write by the server itself, which does not go through the document service. */
export const writeOptions = (
  transaction: WriteOptions['transaction'],
  { database, model, storage }: WriteServices,
  { touch }: Pick<WriteOptions, 'touch'>,
): WriteOptions => ({
  transaction,
  storage,
  schema: database.schema,
  defaultLocale: model.defaultLocale,
  now: new Date().toISOString(),
  componentMatch: 'by-id',
  touch,
})

/** A query that the inserting statement runs on its new rows. `receive` gets the result; it is not called if several statements insert. */
export interface ReturnedAnswer {
  readonly query: ReturningQuery
  receive(rows: Promise<Rows>): void
}

/** Parameters of planning. A template has slots in place of its values. */
export type WritePlanOptions = Omit<WriteOptions<Slot>, 'answer'>

/** Parameters of a write that may wait for locks. */
export interface LockingOptions extends WriteOptions {
  readonly transaction: Pick<Transaction, 'run' | 'send' | 'lock'>
}

export type ComponentMatch = 'by-id' | 'by-position'
