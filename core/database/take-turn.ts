import { setTimeout as pause } from 'node:timers/promises'
import type { Transaction } from './database.ts'
import { MigrationRefused } from './migration-refused.ts'
import type { MigrationLimits } from './migration-terms.ts'
import { refusal } from './schema-finding.ts'

export const lockName = (schema: string): string => `plinth migration of ${schema}`

/**
 * Waits until no other process migrates. It asks again and again: a statement that waits for the lock would keep its
 * snapshot, for which an index that is made concurrently by the lock's owner waits in turn.
 */
export async function takeTurn(
  transaction: Transaction,
  schema: string,
  limits: MigrationLimits,
): Promise<void> {
  await untilFree(() => transaction.tryLock(lockName(schema)), limits)
  await transaction.run({
    text: `SELECT set_config('lock_timeout', $1, true)`,
    values: [String(limits.lock)],
  })
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
