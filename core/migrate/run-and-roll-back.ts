import type { Database, Transaction, TransactionOptions } from '../database/database.ts'

/** Does work in a transaction that is rolled back, and answers what it came to. Rejects as the work does. */
export async function takeBack<Value>(
  database: Pick<Database, 'transaction'>,
  work: (transaction: Transaction) => Promise<Value>,
  options?: TransactionOptions,
): Promise<Value> {
  /** Carries it out of the transaction, which is rolled back by that. */
  class TakenBack extends Error {
    override readonly name = 'TakenBack'
    readonly value: Value

    constructor(value: Value) {
      super('done, and taken back')
      this.value = value
    }
  }
  try {
    return await database.transaction(async transaction => {
      throw new TakenBack(await work(transaction))
    }, options)
  } catch (error) {
    if (error instanceof TakenBack) return error.value
    throw error
  }
}
