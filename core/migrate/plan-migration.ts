import type { Database, Transaction, TransactionOptions } from '../database/database.ts'
import type { DdlContext } from '../database/run-ddl.ts'
import type { Table } from '../model/storage.ts'
import { bootstrap, isMigrated } from './bootstrap.ts'
import type { CustomMigration } from './custom-migrations/custom-migration.ts'
import {
  checkRowsBefore,
  type PendingFiles,
  runBefore,
  splitPendingFiles,
} from './custom-migrations/migration-files.ts'
import { loadCustomMigration, summaryOf } from './custom-migrations/run-migrations.ts'
import { type Cost, evaluatePlan, neededSteps, possibleObjections } from './evaluate-plan.ts'
import { untilNotOvertaken, waitBriefly } from './migration-lock.ts'
import {
  LIMITS,
  MigrationRefused,
  NO_RESULT_CHECK,
  NO_ROW_CHECK,
  type ResultCheck,
  type RowCheck,
  type RunMigrationOptions,
  type Stage,
} from './migration-options.ts'
import { planSchema } from './plan-steps.ts'
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

/** The steps of a migration and their risks. */
export interface MigrationPlan {
  /** In the order of execution. */
  readonly steps: readonly PlannedStep[]
  /** Objections that no permission overrides. */
  readonly refusals: readonly SchemaRefusal[]
  /** Empty objects that are no longer declared: kept unless destructive steps are allowed. */
  readonly left: readonly Leftover[]
  /** With `assumesRows`: objections and losses that depend on the rows. Those of dropped objects are `left`. */
  readonly possible?: readonly SchemaRefusal[]
}

export interface PlannedStep {
  readonly weight: Risk
  readonly window: RolloutPhase
  /** One line for a reader: `add column "rating" to "articles"`. */
  readonly summary: string
  /** How it blocks writers, or what is lost: `loses 12 rows`. */
  readonly notes: readonly string[]
  readonly statements: readonly string[]
}

/** Milliseconds for counting the rows of a table. */
const COUNT_TIMEOUT = 300_000

interface PlanOptions
  extends Pick<RunMigrationOptions, 'allowing' | 'manyRows' | 'files' | 'checkRows' | 'checkResult'> {
  /** Default: all. */
  readonly stage?: Exclude<Stage, 'start'>
  /** The database has the tables, but not the rows: the plan is that of tables with rows. */
  readonly assumesRows?: boolean
  /** Milliseconds that a statement may take: steps that may lose rows count them. */
  readonly countTimeout?: number
}

/**
 * Plans the migration: runs the custom migrations that come first, compares the model's tables with the database's, checks the
 * rows, and rolls everything back. `checkResult` runs if the tables need no other steps. Rejects if the database is unreachable.
 */
export async function planMigration(
  database: Database,
  tables: readonly Table[],
  {
    allowing = 'safe',
    manyRows,
    files = [],
    checkRows = NO_ROW_CHECK,
    checkResult = NO_RESULT_CHECK,
    stage = 'all',
    assumesRows = false,
    countTimeout = COUNT_TIMEOUT,
  }: PlanOptions = {},
): Promise<MigrationPlan> {
  const work = async (transaction: Transaction) => {
    await waitBriefly(transaction, LIMITS)
    const request = { tables, allowing, manyRows, files, checkRows, checkResult, stage, assumesRows }
    return planIn({ database, transaction }, request)
  }
  try {
    return await untilNotOvertaken(LIMITS, () =>
      runAndRollBack(database, work, { statementTimeout: countTimeout }),
    )
  } catch (error) {
    if (error instanceof MigrationRefused) return { steps: [], refusals: error.refusals, left: [] }
    throw error
  }
}

interface PlanRequest {
  readonly tables: readonly Table[]
  readonly allowing: Risk
  readonly manyRows: number | undefined
  readonly files: readonly CustomMigration[]
  readonly checkRows: RowCheck
  readonly checkResult: ResultCheck
  readonly stage: Stage
  readonly assumesRows: boolean
}

async function planIn(site: DdlContext, request: PlanRequest): Promise<MigrationPlan> {
  const isNew = !(await isMigrated(site))
  if (isNew || request.files.length > 0) await bootstrap(site, request.tables)
  const files = await splitPendingFiles(site, request.files, isNew)
  const generated = await planTables(site, { ...request, files }, await runBefore(site, files, request))
  const planFiles = (files: readonly CustomMigration[]) => Promise.all(files.map(plannedFile))
  const after = request.stage === 'expand' ? [] : files.after
  // The result of other steps is known only to the migration: they lock the tables that they change.
  const isResult = generated.steps.length + generated.refusals.length + after.length === 0
  const against = isResult ? await request.checkResult(site.transaction) : []
  return {
    ...generated,
    refusals: [...generated.refusals, ...against],
    steps: [...(await planFiles(files.before)), ...generated.steps, ...(await planFiles(after))],
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
  request: Omit<PlanRequest, 'files'> & { readonly files: PendingFiles },
  catalogue: Catalogue,
): Promise<MigrationPlan> {
  const { tables, allowing, stage, assumesRows } = request
  const plan = planSchema(tables, catalogue)
  const { refusals: own, costs, empty } = await evaluatePlan(transaction, plan, stage)
  const refusals = [...own, ...(await checkRowsBefore(request, transaction, catalogue))]
  if (stage === 'expand') {
    const steps = await neededSteps(transaction, sortByPhase(plan.steps.filter(isExpand)))
    const planned = foldImplied(steps, step => toExpand(toPlanned(step, costs), step))
    return { steps: planned, refusals, left: empty }
  }
  // If destructive steps are allowed, empty objects are dropped as well (migrate-under-lock.ts).
  const drops = allowing === 'destructive' || costs.some(({ price }) => price.weight === 'destructive')
  const [left, dropped] = drops ? [[], plan.left.flatMap(({ drop }) => drop)] : [empty, []]
  const all = sortByPhase([...plan.steps, ...dropped])
  const steps = assumesRows ? all : await neededSteps(transaction, all)
  const planned = foldImplied(steps, step => toPlanned(step, costs))
  return { steps: planned, refusals, left, ...(assumesRows && { possible: possibleObjections(plan) }) }
}

/** The statements of an implied step are listed with the last step of its table. By itself it needs no attention. */
function foldImplied(steps: readonly Step[], plan: (step: Step) => PlannedStep): readonly PlannedStep[] {
  const tablesOf = ({ locks }: Step) => locks.map(({ table }) => table)
  const listed = steps.filter(step => !step.isImplied)
  const lastOf = (implied: Step) =>
    listed.findLast(step => tablesOf(step).some(table => tablesOf(implied).includes(table)))
  const folded = steps
    .filter(step => step.isImplied)
    .map(step => [lastOf(step), plan(step).statements] as const)
  return listed.map(step => {
    const more = folded.flatMap(([last, statements]) => (last === step ? statements : []))
    const planned = plan(step)
    return { ...planned, statements: [...planned.statements, ...more] }
  })
}

const isExpand = (step: Step): boolean => rolloutPhaseOf(step) === 'expand'

const toExpand = (planned: PlannedStep, { expands }: Step): PlannedStep =>
  expands === undefined ? planned : { ...planned, statements: expands }

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

/** Runs the work in a transaction that is rolled back, and resolves to its result. */
export async function runAndRollBack<Value>(
  database: Pick<Database, 'transaction'>,
  work: (transaction: Transaction) => Promise<Value>,
  options?: TransactionOptions,
): Promise<Value> {
  /** Rolls back the transaction and carries the result. */
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
