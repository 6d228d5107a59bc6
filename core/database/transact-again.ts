import type { Database, Transaction, TransactionOptions } from './database.ts'
import { isUnclear, toDatabaseFault } from './database-fault.ts'

const TRIES = 5

/**
 * A transaction that is begun again where others came between, as often as that may well be chance. Its work does nothing
 * outside of it that may not be done twice.
 */
export async function transactAgain<Value>(
  database: Pick<Database, 'transaction'>,
  work: (transaction: Transaction) => Promise<Value>,
  options?: TransactionOptions,
): Promise<Value> {
  for (let tries = 1; ; tries++) {
    try {
      return await database.transaction(work, options)
    } catch (error) {
      if (tries >= TRIES || isUnclear(error) || toDatabaseFault(error)?.kind !== 'serialization') throw error
    }
  }
}
