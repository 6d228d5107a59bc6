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
  /** Milliseconds for which others may wait for us while we wait for others; see migration-lock.ts. */
  readonly lockTimeout: number
  /** Whether the transaction holds nothing that others might wait for: then it may wait for them. */
  readonly isFree: boolean
}

/**
 * Takes at once all the locks that a migration needs, before its first change. A holder of one of them may be waiting
 * for another that is ours already: so we wait for less long than it takes until somebody looks for a deadlock, then let
 * go of all of them, let those through who waited meanwhile, and try again. Rejects with a MigrationRefused where a
 * table is never free.
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
 * With a lock that conflicts with no reader and no writer. PostgreSQL ends a vacuum for a session that waits for it as long as it takes to
 * look for a deadlock: longer than we could wait below.
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

/** Whether they were to be had in time. */
async function tryToHold(
  transaction: Transaction,
  held: readonly LockedTable[],
  { schema, limits, lockTimeout }: LockTablesOptions,
): Promise<boolean> {
  await transaction.run({ text: 'SAVEPOINT plinth_hold', values: [] })
  try {
    // Bounds all of them together, where a lock's own would bound each.
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

/** One statement, for the sake of its timeout. */
const printHold = (schema: string, held: readonly LockedTable[]): string =>
  `DO ${quoteConstant(`BEGIN ${held.map(({ table, from }) => `LOCK TABLE ${qualified(schema, table)} IN ${MODES[from]} MODE;`).join(' ')} END`)}`

const setLocally = async (transaction: Transaction, setting: string, value: number): Promise<void> =>
  void (await transaction.run({ text: `SELECT set_config($1, $2, true)`, values: [setting, String(value)] }))
