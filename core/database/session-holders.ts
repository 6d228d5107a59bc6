import { DatabaseFailure } from './database-fault.ts'

interface Holder {
  /** In milliseconds of performance.now(). */
  readonly since: number
  /** Where code of the project has begun it; null: not known. */
  place: string | null
}

/** Seconds from which on a transaction counts as the reason why others waited. */
const LONG = 1

/**
 * Transactions of project code, which hold the one session of the embedded database. The failure of work
 * that has waited for it in vain names the transaction.
 */
export class SessionHolders {
  readonly #holders = new Map<object, Holder>()

  async during<Value>(transaction: object, work: () => Promise<Value>): Promise<Value> {
    this.#holders.set(transaction, { since: performance.now(), place: null })
    try {
      return await work()
    } finally {
      this.#holders.delete(transaction)
    }
  }

  name(transaction: object, place: string | null): void {
    const holder = this.#holders.get(transaction)
    if (holder) holder.place = place
  }

  /** Rethrows a failure of other work; the message names the transaction that it has waited for. */
  explain(error: unknown): never {
    const [holder] = this.#holders.values()
    const seconds = holder ? (performance.now() - holder.since) / 1000 : 0
    if (!holder || seconds < LONG || !(error instanceof DatabaseFailure) || !WAITED.has(error.fault.kind))
      throw error
    const transaction =
      holder.place === null ? 'a transaction of `app.sequelize`' : `the transaction of ${holder.place}`
    const message = `The embedded database has one session, and ${transaction} has held it for ${Math.floor(seconds)} s: await nothing but the database in it`
    throw new DatabaseFailure({ kind: 'busy', message }, error, error.outcome)
  }
}

const WAITED: ReadonlySet<string> = new Set(['unavailable', 'busy', 'timeout'])
