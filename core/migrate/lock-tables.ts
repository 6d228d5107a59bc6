import { setTimeout as pause } from 'node:timers/promises'
import type { Transaction } from '../database/database.ts'
import { toDatabaseFault } from '../database/database-fault.ts'
import { qualified, quoteConstant } from '../sql/ddl.ts'
import { backoffDelays, isOvertaken, keptWaiting, tooBusy } from './migration-lock.ts'
import type { MigrationLimits } from './migration-terms.ts'
import { MigrationRefused } from './migration-terms.ts'
import type { LockedTable } from './schema/catalogue.ts'
import type { LockMode } from './schema/finding.ts'

export interface LockTablesOptions {
  readonly schema: string
  readonly limits: MigrationLimits
  /** lock_timeout in milliseconds; see migration-lock.ts. */
  readonly lockTimeout: number
  /** True if the transaction holds no locks that others may wait for. Only then it may wait for them. */
  readonly isFree: boolean
}

/**
 * Takes all locks that a migration needs, before its first change. The holder of one lock may wait for another that we hold.
 * Takes all locks of a migration before its first change. The holder of one lock may wait for another that we hold. Thus
 * we wait for less than deadlock_timeout, release all locks, let the waiting sessions run, and try again. Rejects with a
 */
export async function lockTables(
  transaction: Transaction,
  held: readonly LockedTable[],
  terms: LockTablesOptions,
): Promise<void> {
  if (held.length === 0) return
  await keepVacuumAway(transaction, held, terms)
  const deadline = Date.now() + terms.limits.lock
  for (const wait of backoffDelays(terms.lockTimeout / 2)) {
    if (await tryToHold(transaction, held, terms)) return
    if (!terms.isFree) throw keptWaiting(inUse(held))
    if (Date.now() >= deadline) throw new MigrationRefused([tooBusy(terms.limits, inUse(held))])
    await pause(wait)
  }
}

const inUse = (held: readonly LockedTable[]): string => {
  const [first = '', ...others] = held.map(({ table }) => `"${table}"`)
  return others.length === 0 ? `${first} is in use` : `one of ${[first, ...others].join(', ')} is in use`
}

/**
 * Waits with a lock that conflicts with neither readers nor writers. PostgreSQL cancels a vacuum for a session that has waited
 * for deadlock_timeout, which is longer than the wait below.
 */
async function keepVacuumAway(
  transaction: Transaction,
  held: readonly LockedTable[],
  { schema, limits, lockTimeout, isFree }: LockTablesOptions,
): Promise<void> {
  const tables = held.map(({ table }) => qualified(schema, table)).join(', ')
  if (isFree) await setLocally(transaction, 'lock_timeout', limits.lock)
  const lock = { text: `LOCK TABLE ${tables} IN ${MODES.vacuum} MODE`, values: [] }
  await transaction.run(lock).catch((error: unknown) => {
    const fault = toDatabaseFault(error)
    if (isFree && fault?.kind === 'timeout') throw new MigrationRefused([tooBusy(limits, fault.message)])
    throw error
  })
  await setLocally(transaction, 'lock_timeout', lockTimeout)
}

/** Returns whether all locks were acquired in time. */
async function tryToHold(
  transaction: Transaction,
  held: readonly LockedTable[],
  { schema, limits, lockTimeout }: LockTablesOptions,
): Promise<boolean> {
  await transaction.run({ text: 'SAVEPOINT plinth_hold', values: [] })
  try {
    // statement_timeout bounds all locks together; lock_timeout bounds each.
    await setLocally(transaction, 'statement_timeout', lockTimeout)
    await transaction.run({ text: printHold(schema, held), values: [] })
    await setLocally(transaction, 'statement_timeout', limits.statement)
    await transaction.run({ text: 'RELEASE SAVEPOINT plinth_hold', values: [] })
    return true
  } catch (error) {
    if (!isOvertaken(error) && toDatabaseFault(error)?.kind !== 'timeout') throw error
    await transaction.run({ text: 'ROLLBACK TO SAVEPOINT plinth_hold', values: [] })
    return false
  }
}

const MODES: Readonly<Record<LockMode, string>> = {
  vacuum: 'SHARE UPDATE EXCLUSIVE',
  writers: 'SHARE ROW EXCLUSIVE',
  everybody: 'ACCESS EXCLUSIVE',
}

/** One statement, so that one timeout applies. */
const printHold = (schema: string, held: readonly LockedTable[]): string =>
  `DO ${quoteConstant(`BEGIN ${held.map(({ table, from }) => `LOCK TABLE ${qualified(schema, table)} IN ${MODES[from]} MODE;`).join(' ')} END`)}`

const setLocally = async (transaction: Transaction, setting: string, value: number): Promise<void> =>
  void (await transaction.run({ text: `SELECT set_config($1, $2, true)`, values: [setting, String(value)] }))
