import { setTimeout as pause } from 'node:timers/promises'
import type { Database, Transaction } from './database.ts'
import { MigrationRefused } from './migration-refused.ts'
import type { MigrationLimits } from './migration-terms.ts'
import { refusal } from './schema-finding.ts'

export const lockName = (schema: string): string => `plinth migration of ${schema}`

/**
 * Does the work in a transaction of its own, once no other process migrates. It asks again and again, each time in
 * another transaction: for one that is open, though it only waits for the lock, the lock's owner would wait in turn to
 * make an index concurrently.
 */
export async function inTurn<Value>(
  database: Database,
  limits: MigrationLimits,
  work: (transaction: Transaction) => Promise<Value>,
): Promise<Value> {
  let done: { readonly value: Value } | undefined
  const attempt = async (transaction: Transaction) => {
    if (!(await transaction.tryLock(lockName(database.schema)))) return false
    const values = [String(limits.lock)]
    await transaction.run({ text: `SELECT set_config('lock_timeout', $1, true)`, values })
    done = { value: await work(transaction) }
    return true
  }
  await untilFree(() => database.transaction(attempt, { statementTimeout: limits.statement }), limits)
  if (done === undefined) throw new TypeError('a turn that was taken did nothing')
  return done.value
}

/** Milliseconds between two questions. */
const SHORTEST = 10
const LONGEST = 200

export async function untilFree(
  tryLock: () => Promise<boolean>,
  { turn }: Pick<MigrationLimits, 'turn'>,
): Promise<void> {
  const deadline = Date.now() + turn
  for (let wait = SHORTEST; !(await tryLock()); wait = Math.min(LONGEST, wait * 2)) {
    if (Date.now() >= deadline) throw new MigrationRefused([tooLong(turn)])
    await pause(wait)
  }
}

const tooLong = (turn: number) =>
  refusal(
    'busy',
    null,
    `another process has been migrating this database for over ${seconds(turn)}: start again when it is done`,
  )

export const seconds = (milliseconds: number): string => `${milliseconds / 1000} s`
