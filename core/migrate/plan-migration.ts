import type { Database, Transaction, TransactionOptions } from '../database/database.ts'
import type { DdlContext } from '../database/run-ddl.ts'
import type { Table } from '../model/storage.ts'
import { bootstrap } from './bootstrap.ts'
import { runBefore, splitPendingFiles } from './custom-migration-files.ts'
import type { CustomMigration } from './custom-migrations.ts'
import { type Cost, evaluatePlan, neededSteps } from './evaluate-plan.ts'
import { untilNotOvertaken, waitBriefly } from './migration-lock.ts'
import { LIMITS, type MigrationOptions, MigrationRefused } from './migration-terms.ts'
import { planSchema } from './plan-steps.ts'
import { hasRecord } from './recorded-schema.ts'
import { loadCustomMigration, summaryOf } from './run-custom-migrations.ts'
import type { Catalogue } from './schema/catalogue.ts'
import {
  type Leftover,
  RISKS,
  type Risk,
  type RolloutPhase,
  rolloutPhaseOf,
  type SchemaRefusal,
  type Step,
  sortByPhase,
} from './schema/finding.ts'

/** What a migration would do. */
export interface MigrationPlan {
  /** In the order to do them in. */
  readonly steps: readonly PlannedStep[]
  /** Why nothing can be done, whatever is allowed. */
  readonly refusals: readonly SchemaRefusal[]
  /** Empty, no longer wanted, and left as it is unless what is destructive is allowed. */
  readonly left: readonly Leftover[]
}

export interface PlannedStep {
  readonly weight: Risk
  readonly window: RolloutPhase
  /** One line for a reader: `add column "rating" to "articles"`. */
  readonly summary: string
  /** What writers wait for, or what is lost: `loses 12 rows`. */
  readonly notes: readonly string[]
  readonly statements: readonly string[]
}

/** Milliseconds that counting the rows of a table may take. */
const COUNT_TIMEOUT = 300_000

type PlanTerms = Pick<MigrationOptions, 'allowing' | 'manyRows' | 'files'>

/**
 * The model's tables minus the database's, and what the rows say to it, once the files of migrations/ that come before
 * have run: all of it is taken back. Rejects where the database is not reachable.
 */
export async function planMigration(
  database: Database,
  tables: readonly Table[],
  { allowing = 'safe', manyRows, files = [] }: PlanTerms = {},
): Promise<MigrationPlan> {
  const work = async (transaction: Transaction) => {
    await waitBriefly(transaction, LIMITS)
    return planIn({ database, transaction }, { tables, allowing, manyRows, files })
  }
  try {
    return await untilNotOvertaken(LIMITS, () =>
      runAndRollBack(database, work, { statementTimeout: COUNT_TIMEOUT }),
    )
  } catch (error) {
    if (error instanceof MigrationRefused) return { steps: [], refusals: error.refusals, left: [] }
    throw error
  }
}

interface Asked {
  readonly tables: readonly Table[]
  readonly allowing: Risk
  readonly manyRows: number | undefined
  readonly files: readonly CustomMigration[]
}

async function planIn(site: DdlContext, asked: Asked): Promise<MigrationPlan> {
  const { database, transaction } = site
  const isNew = !(await hasRecord(transaction, database.schema))
  if (isNew || asked.files.length > 0) await bootstrap(site)
  const files = await splitPendingFiles(site, asked.files, isNew)
  const generated = await planTables(site, asked, await runBefore(site, files, asked))
  const byHand = (files: readonly CustomMigration[]) => Promise.all(files.map(plannedFile))
  return {
    ...generated,
    steps: [...(await byHand(files.before)), ...generated.steps, ...(await byHand(files.after))],
  }
}

async function plannedFile(file: CustomMigration): Promise<PlannedStep> {
  const work = await loadCustomMigration(file)
  const statements = work.kind === 'sql' ? [work.text.trim().replace(/;$/, '')] : []
  const window = file.moment === 'before' ? 'expand' : 'contract'
  return { weight: 'safe', window, summary: summaryOf(file), notes: ['written by hand'], statements }
}

async function planTables(
  { transaction }: DdlContext,
  { tables, allowing }: Asked,
  catalogue: Catalogue,
): Promise<MigrationPlan> {
  const plan = planSchema(tables, catalogue)
  const { refusals, costs } = await evaluatePlan(transaction, plan)
  // Who allows what is destructive has all of it dropped, whether or not it is empty (migrate-under-lock.ts).
  const drops = allowing === 'destructive' || costs.some(({ price }) => price.weight === 'destructive')
  const [left, dropped] = drops ? [[], plan.left.flatMap(({ drop }) => drop)] : [plan.left, []]
  const steps = await neededSteps(transaction, sortByPhase([...plan.steps, ...dropped]))
  return { steps: steps.map(step => toPlanned(step, costs)), refusals, left }
}

function toPlanned(step: Step, costs: readonly Cost[]): PlannedStep {
  const prices = costs.map(({ price }) => price).filter(({ steps }) => steps.includes(step))
  const weights = prices.map(({ weight }) => RISKS.indexOf(weight))
  const weight = RISKS[Math.max(0, ...weights)] ?? 'safe'
  return {
    weight,
    window: rolloutPhaseOf(step),
    summary: step.summary,
    notes: prices.map(({ note }) => note),
    statements:
      weight === 'slow' && step.concurrentIndex !== null ? [step.concurrentIndex.make] : step.statements,
  }
}

/** Does work in a transaction that is rolled back, and answers what it came to. Rejects as the work does. */
export async function runAndRollBack<Value>(
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
