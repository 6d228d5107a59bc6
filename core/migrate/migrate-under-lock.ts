import { setTimeout as pause } from 'node:timers/promises'
import { PRODUCT_VERSION } from '../base/product.ts'
import type { Transaction } from '../database/database.ts'
import { toDatabaseFault } from '../database/database-fault.ts'
import { findOtherProcesses, printServing, type ServingProcess } from '../database/generations/processes.ts'
import { type DdlContext, runDdl } from '../database/run-ddl.ts'
import type { Table } from '../model/storage.ts'
import { qualified, quoteConstant } from '../sql/ddl.ts'
import { bootstrap, isMigrated } from './bootstrap.ts'
import {
  checkRowsBefore,
  type PendingFiles,
  runBefore,
  splitPendingFiles,
} from './custom-migrations/migration-files.ts'
import { runCustomMigrations, summaryOf } from './custom-migrations/run-migrations.ts'
import { type Cost, evaluatePlan, neededSteps } from './evaluate-plan.ts'
import { backoffDelays, isOvertaken, keptWaiting, type LockAttempt, tooBusy } from './migration-lock.ts'
import {
  type MigrationLimits,
  MigrationRefused,
  type MigrationReport,
  type RunMigrationOptions,
} from './migration-options.ts'
import { planSchema, type SchemaPlan } from './plan-steps.ts'
import { isRecorded, type MigrationRecord, recordMigration, recordTables } from './recorded-schema.ts'
import { type Catalogue, type LockedTable, lockedTables } from './schema/catalogue.ts'
import {
  expandSteps,
  isBackwardCompatible,
  type Leftover,
  type LockMode,
  permits,
  refusal,
  rolloutPhaseOf,
  type SchemaRefusal,
  type Step,
  sortByPhase,
  type TableLock,
} from './schema/finding.ts'
import { type Runner, readCatalogue } from './schema/read-catalogue.ts'
import { printVersionsMoved, printVersionsStorage } from './table-versions.ts'

export interface Task extends Required<RunMigrationOptions> {
  readonly tables: readonly Table[]
  readonly hash: string
  /** Steps executed outside of a transaction since the last round. */
  readonly done: readonly string[]
}

export interface Round extends MigrationReport {
  /** false: another round follows. */
  readonly complete: boolean
  /** Steps to execute before it, outside of a transaction. */
  readonly apart: readonly Step[]
}

/** New tables per transaction: each holds locks until the end, and PostgreSQL's lock table has some thousands of entries. */
const TABLES_AT_ONCE = 300

/** Recorded in `plinth_migrations` for a transaction that is not the last. */
const UNFINISHED = 'unfinished'

export const NO_CHANGES: MigrationReport = { steps: [], left: [], outdated: [] }

/** A start accepts what the last migration deferred. An explicit migration evaluates the current rows. */
export const isDone = async (
  runner: Runner,
  schema: string,
  { hash, allowing, stage }: Task,
): Promise<boolean> =>
  stage === 'start' && allowing !== 'destructive' && (await isRecorded(runner, schema, { hash, stage }))

/** The transaction of a migration, with its lock timeout. */
export interface MigrationSite extends DdlContext, LockAttempt {}

/** Executes one transaction of a migration: all steps, or a part of them that the next transaction continues. */
export async function migrateUnderLock(site: MigrationSite, task: Task): Promise<Round> {
  const { database, transaction } = site
  // Indexes that this process created outside of a transaction are recorded even if another process did the rest.
  const hasMade = task.done.length > 0
  if (!hasMade && (await isDone(transaction, database.schema, task)))
    return { ...NO_CHANGES, complete: true, apart: [] }
  const isNew = !(await isMigrated(site))
  await bootstrap(site, task.tables)
  const files = await splitPendingFiles(site, task.files, isNew)
  if (site.isRetry && files.before.length + files.after.length > 0) await holdForFiles(site, task)
  const findings = await find(site, { ...task, files }, await runBefore(site, files, task))
  const { catalogue, plan } = findings
  const otherVersions = await checkOtherVersions(site, task, { plan, files })
  const part = plan.renamedTables.size > 0 ? null : firstTables(task.tables, catalogue)
  if (part === null) return complete(site, otherVersions, { ...findings, files })
  const first = { ...findings, plan: planTables(part, catalogue), apart: new Set<Step>() }
  return unfinished(site, { ...otherVersions, tables: part }, { ...first, files })
}

/** The locks that custom migrations need are unknown. If another process migrated in between, writes are locked out. */
async function holdForFiles(site: MigrationSite, task: Task): Promise<void> {
  const catalogue = await readCatalogue(site.transaction, site.database.schema)
  await hold(site, [{ table: null, from: 'writers' }], { task, catalogue, isFree: true })
}

interface Holding {
  readonly task: Task
  readonly catalogue: Catalogue
  readonly isFree: boolean
}

/** An embedded database has one session, so no locks are needed. */
async function hold(
  place: MigrationSite,
  holds: readonly TableLock[],
  { task, catalogue, isFree }: Holding,
): Promise<void> {
  const { database, transaction, lockTimeout } = place
  if (database.kind === 'embedded') return
  const { schema } = database
  await lockTables(transaction, lockedTables(holds, catalogue), {
    schema,
    limits: task.limits,
    lockTimeout,
    isFree,
  })
}

interface Findings {
  readonly catalogue: Catalogue
  readonly plan: SchemaPlan
  /** Steps to be executed outside of a transaction. */
  readonly apart: ReadonlySet<Step>
  /** Objects that are kept and have no rows or values. */
  readonly empty: readonly Leftover[]
}

/** The plan. Rejects with a MigrationRefused if there are objections. */
async function find(
  { database, transaction }: DdlContext,
  task: Omit<Task, 'files'> & { readonly files: PendingFiles },
  catalogue: Catalogue,
): Promise<Findings> {
  const plan = planSchema(task.tables, catalogue)
  const { refusals, costs, empty } = await evaluatePlan(transaction, plan, task.stage)
  const dear = costs.filter(({ price }) => !permits(task.allowing, price.weight))
  const rows = await checkRowsBefore(task, transaction, catalogue)
  const against = [...refusals, ...rows, ...dear.map(cost => cost.refusal)]
  if (against.length > 0) throw new MigrationRefused(against)
  return { catalogue, plan, empty, apart: database.kind === 'server' ? stepsApart(costs) : new Set() }
}

/** An embedded database has one session: others wait in any case. */
const stepsApart = (costs: readonly Cost[]): ReadonlySet<Step> =>
  new Set(
    costs.flatMap(({ price }) =>
      price.weight === 'slow' ? price.steps.filter(({ concurrentIndex: apart }) => apart !== null) : [],
    ),
  )

/** The new tables to create first; null if they are few enough for one transaction. */
function firstTables(tables: readonly Table[], catalogue: Catalogue): readonly Table[] | null {
  const missing = tables.filter(table => !catalogue.tables.has(table.name))
  return missing.length > TABLES_AT_ONCE ? missing.slice(0, TABLES_AT_ONCE) : null
}

/** A plan for these tables only: nothing else counts as changed or removed. */
const planTables = (tables: readonly Table[], catalogue: Catalogue): SchemaPlan =>
  planSchema(tables, { ...catalogue, owned: new Map() })

interface Ready extends Findings {
  readonly files: PendingFiles
}

async function complete(site: MigrationSite, task: Task, ready: Ready): Promise<Round> {
  if (ready.apart.size > 0) return unfinished(site, task, ready)
  const { before, after } = ready.files
  const { steps, left, keepsOthers, ...applied } = await apply(site, task, ready)
  const rest = task.stage === 'expand' ? [] : after
  await runCustomMigrations(site, rest)
  if (rest.length > 0) await assertAsWanted(site, task)
  const against = await task.checkResult(site.transaction)
  if (against.length > 0) throw new MigrationRefused(against)
  const summaries = [...before.map(summaryOf), ...steps, ...rest.map(summaryOf)]
  const isIdle = summaries.length === 0 && task.done.length === 0
  if (isIdle && (await isRecorded(site.transaction, site.database.schema, task)))
    return { ...NO_CHANGES, left, complete: true, apart: [] }
  const outdated = keepsOthers && rest.length > 0 ? await findOtherVersions(site, task) : applied.outdated
  await recordSteps(site, task, {
    steps: [...task.done, ...summaries],
    keepsOthers: keepsOthers && rest.length === 0,
  })
  return { steps: summaries, left, outdated, complete: true, apart: [] }
}

async function unfinished(site: MigrationSite, task: Task, ready: Ready): Promise<Round> {
  const { steps, left, outdated, keepsOthers } = await apply(site, task, ready)
  const summaries = [...ready.files.before.map(summaryOf), ...steps]
  await recordSteps(site, { ...task, hash: UNFINISHED }, { steps: [...task.done, ...summaries], keepsOthers })
  return { steps: summaries, left, outdated, complete: false, apart: [...ready.apart] }
}

const recordSteps = (
  site: DdlContext,
  { hash, stage }: Task,
  done: Pick<MigrationRecord, 'steps' | 'keepsOthers'>,
): Promise<void> =>
  recordMigration(site, { product: PRODUCT_VERSION, hash, ...done, isOpen: stage === 'expand' })

/** `keepsOthers`: processes of the previous version may continue. */
async function apply(
  site: MigrationSite,
  task: Task,
  ready: Ready,
): Promise<MigrationReport & Pick<MigrationRecord, 'keepsOthers'>> {
  const { database, transaction } = site
  const { tables, allowing, stage } = task
  const { catalogue, plan, apart, files, empty } = ready
  const expands = stage === 'expand'
  const [left, dropped] = allowing === 'destructive' && !expands ? [[], plan.left] : [plan.left, []]
  const now = [...plan.steps.filter(step => !apart.has(step)), ...dropped.flatMap(one => one.drop)]
  const steps = await neededSteps(transaction, sortByPhase(expands ? expandSteps(now) : now))
  const holds = [...steps.flatMap(step => step.locks), VERSIONS]
  await hold(site, holds, { task, catalogue, isFree: files.before.length === 0 })
  await runDdl(site, [
    ...steps.flatMap(step => step.statements),
    ...printVersions(database.schema, catalogue),
  ])
  await recordTables(site, tables, { ...plan, left, dropped, isOpen: expands })
  const keepsOthers = expands || steps.every(isBackwardCompatible)
  const outdated = keepsOthers ? [] : await findOtherVersions(site, task)
  const seen = left.filter(one => empty.includes(one))
  const reported = steps.filter(step => !step.isImplied)
  return { steps: reported.map(step => step.summary), left: seen, keepsOthers, outdated }
}

/** It is vacuumed most often, because each write updates its rows. */
const VERSIONS: TableLock = { table: 'plinth_versions', from: 'vacuum' }

/** Other processes may have cached responses from the previous tables. */
const printVersions = (schema: string, { tables }: Catalogue): readonly string[] =>
  tables.has('plinth_versions')
    ? [printVersionsStorage(schema), printVersionsMoved(schema)]
    : [printVersionsStorage(schema)]

/** Custom migrations may do anything except change Plinth's tables away from the model. */
async function assertAsWanted({ database, transaction }: DdlContext, task: Task): Promise<void> {
  const catalogue = await readCatalogue(transaction, database.schema)
  const rows = await task.checkRows(transaction, catalogue)
  if (rows.length > 0) throw new MigrationRefused(rows)
  const plan = planSchema(task.tables, catalogue)
  const steps = await neededSteps(transaction, plan.steps)
  const against = [...plan.refusals.map(({ message }) => message), ...steps.map(({ summary }) => summary)]
  if (against.length === 0) return
  const what = 'after the files of migrations/ the tables would not be as the project wants them'
  throw new MigrationRefused([
    refusal('migration-failed', null, `${what}; this would be to do: ${against.join('; ')}`),
  ])
}

interface Migrating extends Required<Pick<RunMigrationOptions, 'stage' | 'others'>> {
  readonly hash: string
}

/** Processes of other versions that may still serve. */
const findOtherVersions = (
  { database: { schema }, transaction }: DdlContext,
  { hash, others: { deployment } }: Migrating,
): Promise<readonly ServingProcess[]> => findOtherProcesses(transaction, schema, { hash, deployment })

interface Planned {
  readonly plan: SchemaPlan
  readonly files: PendingFiles
}

/**
 * Adapts a task to processes of other versions that serve. Breaking steps are deferred if all of them can be. Otherwise they
 * are refused unless the other processes may become outdated.
 */
async function checkOtherVersions<Task extends Migrating>(
  site: DdlContext,
  task: Task,
  { plan, files }: Planned,
): Promise<Task> {
  if (task.stage !== 'start' || task.others.mayOutdate) return task
  const steps = await neededSteps(site.transaction, plan.steps)
  if (steps.every(isBackwardCompatible) && files.after.length === 0) return task
  const serving = await findOtherVersions(site, task)
  if (serving.length === 0) return task
  if (steps.every(step => rolloutPhaseOf(step) === 'expand') && files.after.length === 0)
    return { ...task, stage: 'expand' }
  throw new MigrationRefused([othersServe(serving, steps)])
}

function othersServe(serving: readonly ServingProcess[], steps: readonly Step[]): SchemaRefusal {
  const breaking = steps.filter(step => !isBackwardCompatible(step)).map(({ summary }) => summary)
  const what = `processes of another version of the project serve from this database (${printServing(serving)}) and are not compatible with this: ${breaking.join('; ') || 'files of migrations/'}`
  const advice =
    'end them first, roll with `plinth migrate --expand`, or have them answer 503 from now on with `plinth start --replace-others`'
  return refusal('others-serving', null, `${what}: ${advice}`)
}

interface LockTablesOptions {
  readonly schema: string
  readonly limits: MigrationLimits
  /** lock_timeout in milliseconds; see migration-lock.ts. */
  readonly lockTimeout: number
  /** True if the transaction holds no locks that others may wait for. Only then it may wait for them. */
  readonly isFree: boolean
}

/**
 * Takes all locks that a migration needs, before its first change. The holder of one lock may wait for another that this
 * transaction holds. So it waits for less than deadlock_timeout, releases all locks, lets the waiting sessions run, and tries
 * again. Rejects with MigrationRefused after `limits.lock`, or at once if the transaction must not wait.
 */
async function lockTables(
  transaction: Transaction,
  held: readonly LockedTable[],
  options: LockTablesOptions,
): Promise<void> {
  if (held.length === 0) return
  await keepVacuumAway(transaction, held, options)
  const deadline = performance.now() + options.limits.lock
  for (const wait of backoffDelays(options.lockTimeout / 2)) {
    if (await tryToHold(transaction, held, options)) return
    if (!options.isFree) throw keptWaiting(inUse(held))
    if (performance.now() >= deadline) throw new MigrationRefused([tooBusy(options.limits, inUse(held))])
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
