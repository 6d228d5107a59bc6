import { setTimeout as pause } from 'node:timers/promises'
import type { Database, Transaction } from '../database/database.ts'
import { DatabaseFailure, toDatabaseFault } from '../database/database-fault.ts'
import type { MigrationLimits } from './migration-options.ts'
import { MigrationRefused } from './migration-options.ts'
import { refusal, type SchemaRefusal } from './schema/finding.ts'

export const lockName = (schema: string): string => `plinth migration of ${schema}`

/** A transaction that holds the migration lock. */
export interface LockAttempt {
  readonly transaction: Transaction
  /** lock_timeout in milliseconds: half of deadlock_timeout. */
  readonly lockTimeout: number
  /** True if an earlier attempt failed because of other sessions. */
  readonly isRetry: boolean
}

/**
 * Runs the work in a transaction when no other process migrates. It is repeated after serialization failures. The lock is
 * polled, each time in a new transaction: an open transaction, even one that only waits for the lock, would block the owner's
 * CREATE INDEX CONCURRENTLY.
 */
export const withMigrationLock = <Value>(
  database: Database,
  limits: MigrationLimits,
  work: (turn: LockAttempt) => Promise<Value>,
): Promise<Value> => untilNotOvertaken(limits, isRetry => tryWithLock(database, limits, { work, isRetry }))

interface Work<Value> extends Pick<LockAttempt, 'isRetry'> {
  readonly work: (turn: LockAttempt) => Promise<Value>
}

async function tryWithLock<Value>(
  database: Database,
  limits: MigrationLimits,
  { work, isRetry }: Work<Value>,
): Promise<Value> {
  let done: { readonly value: Value } | undefined
  const attempt = async (transaction: Transaction) => {
    if (!(await transaction.tryLock(lockName(database.schema)))) return false
    const lockTimeout = await waitBriefly(transaction, limits)
    done = { value: await work({ transaction, lockTimeout, isRetry }) }
    return true
  }
  await untilFree(() => database.transaction(attempt, { statementTimeout: limits.statement }), limits)
  if (done === undefined) throw new TypeError('a turn that was taken did nothing')
  return done.value
}

/**
 * Sets lock_timeout and returns it. A session that waits for us checks for deadlocks after deadlock_timeout. By then we have
 * stopped waiting, so it never finds a deadlock with us and is never cancelled because of us.
 */
export async function waitBriefly(
  transaction: Transaction,
  { lock }: Pick<MigrationLimits, 'lock'>,
): Promise<number> {
  const { rows } = await transaction.run({ text: WAIT_BRIEFLY, values: [lock] })
  return Number(rows[0]?.[0])
}

/** The minimum in milliseconds: even taking free locks takes time. */
const LOCK_TIMEOUT = `greatest(50, least(setting::integer / 2, $1::integer))`
const WAIT_BRIEFLY = `SELECT ${LOCK_TIMEOUT}, set_config('lock_timeout', ${LOCK_TIMEOUT}::text, true)
  FROM pg_settings WHERE name = 'deadlock_timeout'`

/** Milliseconds between polls. */
const MIN_DELAY = 10
const MAX_DELAY = 200

export async function untilFree(
  tryLock: () => Promise<boolean>,
  { turn }: Pick<MigrationLimits, 'turn'>,
): Promise<void> {
  const deadline = performance.now() + turn
  for (let wait = MIN_DELAY; !(await tryLock()); wait = Math.min(MAX_DELAY, wait * 2)) {
    if (performance.now() >= deadline) throw new MigrationRefused([tooLong(turn)])
    await pause(wait)
  }
}

/**
 * Retries the work after conflicts with other sessions, with backoff, until the time is over. Also retries violated
 * constraints: the next attempt sees the rows that caused the violation, and fails for good if it persists.
 */
export async function untilNotOvertaken<Value>(
  { lock }: Pick<MigrationLimits, 'lock'>,
  work: (isRetry: boolean) => Promise<Value>,
): Promise<Value> {
  let deadline: number | undefined
  for (const wait of backoffDelays(MIN_DELAY)) {
    try {
      return await work(deadline !== undefined)
    } catch (error) {
      if (!isOvertaken(error) && (deadline !== undefined || !isOfRows(error))) throw error
      deadline ??= performance.now() + lock
      if (performance.now() >= deadline) throw error
    }
    await pause(wait)
  }
  throw new TypeError('there is always another pause')
}

/** Delays in milliseconds, with jitter: two processes in conflict do not retry at the same time. */
export function* backoffDelays(first: number): Generator<number, never> {
  for (let wait = first; ; wait = Math.min(MAX_BACKOFF, wait * 2)) yield wait * (0.5 + Math.random())
}

const MAX_BACKOFF = 1_000

/** A deadlock, a serialization failure or a lock timeout: the next attempt may succeed. */
export function isOvertaken(error: unknown): boolean {
  const fault = toDatabaseFault(error)
  if (fault?.kind === 'timeout') return fault.code === LOCK_NOT_AVAILABLE
  return fault?.kind === 'serialization'
}

function isOfRows(error: unknown): boolean {
  const fault = toDatabaseFault(error)
  return fault !== undefined && 'constraint' in fault
}

export const keptWaiting = (message: string): DatabaseFailure =>
  new DatabaseFailure({ kind: 'timeout', message, code: LOCK_NOT_AVAILABLE })

const LOCK_NOT_AVAILABLE = '55P03'

const tooLong = (turn: number) =>
  refusal(
    'busy',
    null,
    `another process has been migrating this database for over ${seconds(turn)}: start again when it is done`,
  )

export function tooBusy({ lock, statement }: MigrationLimits, why: string): SchemaRefusal {
  const bounds = `a table was in use for over ${seconds(lock)}, or a change took over ${seconds(statement)}`
  const advice = 'nothing was changed; start again when the database is less busy'
  return refusal('busy', null, `${bounds} (${why}): ${advice}`)
}

const seconds = (milliseconds: number): string => `${milliseconds / 1000} s`
