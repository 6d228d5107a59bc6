import type { Database, Transaction, TransactionOptions } from './database.ts'
import { isOutcomeUnknown, toDatabaseFault } from './database-fault.ts'
import { currentRequestTransaction } from './request-scope.ts'

const TRIES = 5

/** Runs a transaction again after serialization failures. Its work must be repeatable. */
export async function retryTransaction<Value>(
  database: Pick<Database, 'transaction'>,
  work: (transaction: Transaction) => Promise<Value>,
  options?: TransactionOptions,
): Promise<Value> {
  for (let tries = 1; ; tries++) {
    try {
      return await database.transaction(work, options)
    } catch (error) {
      if (tries >= TRIES || isOutcomeUnknown(error) || toDatabaseFault(error)?.kind !== 'serialization')
        throw error
      if (currentRequestTransaction()?.isDeadlocked) throw error
    }
  }
}
