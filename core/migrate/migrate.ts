import { failed, ok, type Result } from '../base/result.ts'
import type { Database } from '../database/database.ts'
import { toDatabaseFault } from '../database/database-fault.ts'
import type { Table } from '../model/storage.ts'
import { makeApart } from './create-indexes-concurrently.ts'
import { isDone, migrateInTurn, NOTHING, type Task } from './migrate-under-lock.ts'
import { inTurn, isOvertaken, type Turn, tooBusy } from './migration-lock.ts'
import { MigrationRefused } from './migration-refused.ts'
import { LIMITS, type MigrationLimits, type MigrationReport, type MigrationTerms } from './migration-terms.ts'
import { refusal, type SchemaRefusal, type Step } from './schema/finding.ts'
import { MANY_ROWS } from './schema/pair-tables.ts'
import { hashSchema } from './schema-hash.ts'

/**
 * Brings the database to the model's tables: everything that costs no more than is allowed, in one transaction, under
 * an advisory lock; or nothing at all, and every reason why not. (Two things take more than one: of very many new
 * tables some are made before, and indexes of large tables after it. The next start goes on from any of them.)
 * Rejects where the database is not reachable.
 */
export async function migrate(
  database: Database,
  tables: readonly Table[],
  {
    limits = LIMITS,
    allowing = 'safe',
    manyRows = MANY_ROWS,
    files = [],
    stage = 'start',
    others = { deployment: null, mayOutdate: true },
  }: MigrationTerms = {},
): Promise<Result<MigrationReport, SchemaRefusal>> {
  const hash = hashSchema(database.schema, tables, files)
  const task: Task = { tables, hash, limits, allowing, manyRows, files, stage, others, done: [] }
  if (await isDone(database, database.schema, task)) return ok(NOTHING)
  try {
    return ok(await migrateInRounds(database, task))
  } catch (error) {
    return failed(...refusalsOf(error, limits))
  }
}

async function migrateInRounds(database: Database, task: Task): Promise<MigrationReport> {
  const work = (turn: Turn) => migrateInTurn({ database, ...turn }, task)
  const round = await inTurn(database, task.limits, work)
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
  const done = await makeApart(database, apart, task.limits)
  return migrateInRounds(database, { ...task, done })
}

function refusalsOf(error: unknown, limits: MigrationLimits): readonly SchemaRefusal[] {
  if (error instanceof MigrationRefused) return error.refusals
  const fault = toDatabaseFault(error)
  if (fault === undefined || fault.kind === 'unavailable' || fault.kind === 'busy') throw error
  return fault.kind === 'timeout' || isOvertaken(error)
    ? [tooBusy(limits, fault.message)]
    : [refusal('database', null, `PostgreSQL refused a change: ${fault.message}`)]
}
