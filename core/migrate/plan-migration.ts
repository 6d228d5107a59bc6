import type { Database, Transaction } from '../database/database.ts'
import type { Site } from '../database/run-ddl.ts'
import type { Table } from '../model/storage.ts'
import { bootstrap } from './bootstrap.ts'
import { readyFiles, runBefore } from './custom-migration-files.ts'
import type { Handwritten } from './custom-migrations.ts'
import { type Cost, judge, needed } from './evaluate-plan.ts'
import { untilNotOvertaken, waitBriefly } from './migration-lock.ts'
import { MigrationRefused } from './migration-refused.ts'
import { LIMITS, type MigrationTerms } from './migration-terms.ts'
import { planSchema } from './plan-steps.ts'
import { hasRecord } from './recorded-schema.ts'
import { takeBack } from './run-and-roll-back.ts'
import { summaryOf, workOf } from './run-custom-migrations.ts'
import type { Catalogue } from './schema/catalogue.ts'
import {
  inOrder,
  type Left,
  type SchemaRefusal,
  type Step,
  WEIGHTS,
  type Weight,
  type Window,
} from './schema/finding.ts'
import { windowOf } from './schema/rollout-phase.ts'

/** What a migration would do. */
export interface MigrationPlan {
  /** In the order to do them in. */
  readonly steps: readonly PlannedStep[]
  /** Why nothing can be done, whatever is allowed. */
  readonly refusals: readonly SchemaRefusal[]
  /** Empty, no longer wanted, and left as it is unless what is destructive is allowed. */
  readonly left: readonly Left[]
}

export interface PlannedStep {
  readonly weight: Weight
  readonly window: Window
  /** One line for a reader: `add column "rating" to "articles"`. */
  readonly summary: string
  /** What writers wait for, or what is lost: `loses 12 rows`. */
  readonly notes: readonly string[]
  readonly statements: readonly string[]
}

/** Milliseconds that counting the rows of a table may take. */
const LONGEST = 300_000

type PlanTerms = Pick<MigrationTerms, 'allowing' | 'manyRows' | 'files'>

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
    return await untilNotOvertaken(LIMITS, () => takeBack(database, work, { statementTimeout: LONGEST }))
  } catch (error) {
    if (error instanceof MigrationRefused) return { steps: [], refusals: error.refusals, left: [] }
    throw error
  }
}

interface Asked {
  readonly tables: readonly Table[]
  readonly allowing: Weight
  readonly manyRows: number | undefined
  readonly files: readonly Handwritten[]
}

async function planIn(site: Site, asked: Asked): Promise<MigrationPlan> {
  const { database, transaction } = site
  const isNew = !(await hasRecord(transaction, database.schema))
  if (isNew || asked.files.length > 0) await bootstrap(site)
  const files = await readyFiles(site, asked.files, isNew)
  const generated = await planTables(site, asked, await runBefore(site, files, asked))
  const byHand = (files: readonly Handwritten[]) => Promise.all(files.map(plannedFile))
  return {
    ...generated,
    steps: [...(await byHand(files.before)), ...generated.steps, ...(await byHand(files.after))],
  }
}

async function plannedFile(file: Handwritten): Promise<PlannedStep> {
  const work = await workOf(file)
  const statements = work.kind === 'sql' ? [work.text.trim().replace(/;$/, '')] : []
  const window = file.moment === 'before' ? 'expand' : 'contract'
  return { weight: 'safe', window, summary: summaryOf(file), notes: ['written by hand'], statements }
}

async function planTables(
  { transaction }: Site,
  { tables, allowing }: Asked,
  catalogue: Catalogue,
): Promise<MigrationPlan> {
  const plan = planSchema(tables, catalogue)
  const { refusals, costs } = await judge(transaction, plan)
  // Who allows what is destructive has all of it dropped, whether or not it is empty (migrate-under-lock.ts).
  const drops = allowing === 'destructive' || costs.some(({ price }) => price.weight === 'destructive')
  const [left, dropped] = drops ? [[], plan.left.flatMap(({ drop }) => drop)] : [plan.left, []]
  const steps = await needed(transaction, inOrder([...plan.steps, ...dropped]))
  return { steps: steps.map(step => toPlanned(step, costs)), refusals, left }
}

function toPlanned(step: Step, costs: readonly Cost[]): PlannedStep {
  const prices = costs.map(({ price }) => price).filter(({ steps }) => steps.includes(step))
  const weights = prices.map(({ weight }) => WEIGHTS.indexOf(weight))
  const weight = WEIGHTS[Math.max(0, ...weights)] ?? 'safe'
  return {
    weight,
    window: windowOf(step),
    summary: step.summary,
    notes: prices.map(({ note }) => note),
    statements: weight === 'slow' && step.apart !== null ? [step.apart.make] : step.statements,
  }
}
