import { failed, ok, type Result } from '../base/result.ts'
import type { Database, DedicatedSession } from '../database/database.ts'
import {
  type ConstraintFault,
  DatabaseFailure,
  type DatabaseFault,
  isOutage,
  toDatabaseFault,
  toDriverError,
} from '../database/database-fault.ts'
import type { Table } from '../model/storage.ts'
import { isDone, migrateUnderLock, NO_CHANGES, type Task } from './migrate-under-lock.ts'
import {
  isOvertaken,
  type LockAttempt,
  lockName,
  tooBusy,
  untilFree,
  untilNotOvertaken,
  withMigrationLock,
} from './migration-lock.ts'
import {
  LIMITS,
  type MigrationLimits,
  MigrationRefused,
  type MigrationReport,
  NO_RESULT_CHECK,
  NO_ROW_CHECK,
  type RunMigrationOptions,
} from './migration-options.ts'
import { type ConcurrentIndex, refusal, type SchemaRefusal, type Step } from './schema/finding.ts'
import { MANY_ROWS } from './schema/pair-tables.ts'
import { hashSchema } from './schema-hash.ts'

/**
 * Migrates the database to the model's tables in one transaction, under an advisory lock. If a step is not allowed, nothing is
 * changed and all refusals are returned. Two cases take several transactions: some of very many new tables are created
 * before, and indexes of large tables after it. The next start continues after an interruption. Rejects if the database is
 * unreachable.
 */
export async function migrate(
  database: Database,
  tables: readonly Table[],
  {
    limits = LIMITS,
    allowing = 'safe',
    manyRows = MANY_ROWS,
    files = [],
    checkRows = NO_ROW_CHECK,
    checkResult = NO_RESULT_CHECK,
    stage = 'start',
    others = { deployment: null, mayOutdate: true },
  }: RunMigrationOptions = {},
): Promise<Result<MigrationReport, SchemaRefusal>> {
  const hash = hashSchema(database.schema, tables, files)
  const task: Task = {
    tables,
    hash,
    limits,
    allowing,
    manyRows,
    files,
    checkRows,
    checkResult,
    stage,
    others,
    done: [],
  }
  if (await isDone(database, database.schema, task)) return ok(NO_CHANGES)
  try {
    return ok(await migrateInRounds(database, task))
  } catch (error) {
    return failed(...refusalsOf(error, limits))
  }
}

async function migrateInRounds(database: Database, task: Task): Promise<MigrationReport> {
  const work = (turn: LockAttempt) => migrateUnderLock({ database, ...turn }, task)
  const round = await withMigrationLock(database, task.limits, work)
  const { left, outdated } = round
  if (round.complete) return { steps: [...task.done, ...round.steps], left, outdated }
  const rest = await goOn(database, task, round.apart).catch((error: unknown) => {
    const refusals = refusalsOf(error, task.limits)
    throw new MigrationRefused(refusals.map(one => ({ ...one, partly: true })))
  })
  return {
    steps: [...task.done, ...round.steps, ...rest.steps],
    left: rest.left,
    outdated: [...outdated, ...rest.outdated],
  }
}

async function goOn(database: Database, task: Task, apart: readonly Step[]): Promise<MigrationReport> {
  const done = await createIndexesConcurrently(database, apart, task.limits)
  return migrateInRounds(database, { ...task, done })
}

function refusalsOf(error: unknown, limits: MigrationLimits): readonly SchemaRefusal[] {
  if (error instanceof MigrationRefused) return error.refusals
  const fault = toDatabaseFault(error)
  if (fault === undefined || isOutage(fault)) throw error
  if (fault.kind === 'unique') return [notUnique(fault)]
  return fault.kind === 'timeout' || isOvertaken(error)
    ? [tooBusy(limits, fault.message)]
    : [
        refusal(
          'database',
          null,
          `PostgreSQL refused a change: ${fault.message}${dependentsOf(error)}${hintOf(fault)}`,
        ),
      ]
}

/** Errors whose detail names the objects that need a column or a table. Details of others may contain values. */
const DEPENDENTS: ReadonlySet<unknown> = new Set(['2BP01', '0A000'])

function dependentsOf(error: unknown): string {
  const driver = toDriverError(error instanceof DatabaseFailure ? error.cause : error)
  if (typeof driver?.detail !== 'string' || !DEPENDENTS.has(driver.code)) return ''
  return `: ${driver.detail.replaceAll('\n', '; ')}`
}

/** Converted rows that collide, which the preconditions cannot know of: the locales of nested components. */
const notUnique = ({ table, constraint }: ConstraintFault): SchemaRefusal =>
  refusal(
    'not-unique',
    table,
    `rows of table "${table}" would share a value that must be unique (index "${constraint}"): change these first`,
  )

/** The public schema of a new database allows only its owner to create tables, since PostgreSQL 15. */
const hintOf = (fault: DatabaseFault): string =>
  fault.kind === 'other' && fault.code === '42501'
    ? '. The user of database.url has to own the tables of Plinth and be allowed to create them: GRANT CREATE ON SCHEMA <database.schema> TO <user>'
    : ''

/**
 * Creates indexes of large tables concurrently with writes, outside of a transaction, in a session of its own. If the process
 * dies meanwhile, an invalid index remains: the next migration drops it and starts again. Resolves to the executed steps,
 * without those of other processes.
 */
async function createIndexesConcurrently(
  database: Database,
  steps: readonly Step[],
  limits: MigrationLimits,
): Promise<readonly string[]> {
  if (steps.length === 0) return []
  const session = await database.openSession(0)
  const made: string[] = []
  try {
    if (session.isPooled) throw new MigrationRefused([refusal('database', null, POOLED)])
    await takeSession(session, database.schema, limits)
    for (const step of steps)
      if (await untilNotOvertaken(limits, () => makeOne(session, step))) made.push(step.summary)
  } finally {
    await session.close()
  }
  return made
}

const POOLED =
  'indexes of large tables are made outside of a transaction, which a pooler cannot keep a server for: migrate once (`plinth migrate`) with a database.url that leads to PostgreSQL itself; all before it was done'

/** Takes the migration lock for the whole session, because there is no transaction. */
async function takeSession(
  session: DedicatedSession,
  schema: string,
  limits: MigrationLimits,
): Promise<void> {
  await session.run(sql('SET statement_timeout = 0'))
  await session.run(sql('SET lock_timeout = 0'))
  await untilFree(async () => {
    const { rows } = await session.run(
      sql('SELECT pg_try_advisory_lock(hashtextextended($1::text, 0))', lockName(schema)),
    )
    return rows[0]?.[0] === true
  }, limits)
}

/**
 * Returns false if the previous holder of the lock has created the index. A half-built one is dropped first. The statement may
 * be chosen as a deadlock's victim.
 */
async function makeOne(
  session: DedicatedSession,
  { concurrentIndex: apart, summary }: Step,
): Promise<boolean> {
  if (apart === null || (await isThere(session, apart))) return false
  if (apart.undo !== null) await session.run(sql(apart.undo))
  try {
    await session.run(sql(apart.make))
    return true
  } catch (error) {
    const fault = toDatabaseFault(error)
    if (fault === undefined || fault.kind === 'unavailable' || fault.kind === 'busy') throw error
    if (apart.undo !== null) await session.run(sql(apart.undo))
    if (isOvertaken(error)) throw error
    const code = fault.kind === 'unique' ? 'not-unique' : 'database'
    throw new MigrationRefused([refusal(code, null, `${summary}: PostgreSQL refused it: ${fault.message}`)])
  }
}

async function isThere(session: DedicatedSession, { index }: ConcurrentIndex): Promise<boolean> {
  if (index === null) return false
  const text = 'SELECT count(*) > 0 FROM pg_index WHERE indexrelid = to_regclass($1) AND indisvalid'
  const { rows } = await session.run(sql(text, index))
  return rows[0]?.[0] === true
}

const sql = (text: string, ...values: readonly unknown[]) => ({ text, values })
