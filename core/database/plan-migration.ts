import type { Table } from '../model/storage.ts'
import { bootstrap } from './bootstrap.ts'
import type { Database, Transaction } from './database.ts'
import type { MigrationTerms } from './migrate.ts'
import type { Site } from './run-plain.ts'
import { readCatalogue } from './schema-catalogue-read.ts'
import { inOrder, type Left, type SchemaRefusal, type Step, WEIGHTS, type Weight } from './schema-finding.ts'
import { type Cost, judge, needed } from './schema-judge.ts'
import { planSchema } from './schema-plan.ts'
import { hasRecord } from './schema-record.ts'

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
  /** One line for a reader: `add column "rating" to "articles"`. */
  readonly summary: string
  /** What writers wait for, or what is lost: `loses 12 rows`. */
  readonly notes: readonly string[]
  readonly statements: readonly string[]
}

/** The model's tables minus the database's, and what the rows say to it. Changes nothing. Rejects where the database is not reachable. */
export async function planMigration(
  database: Database,
  tables: readonly Table[],
  { allowing = 'safe', manyRows }: Pick<MigrationTerms, 'allowing' | 'manyRows'> = {},
): Promise<MigrationPlan> {
  const work = async (transaction: Transaction) => {
    throw new Planned(await planIn({ database, transaction }, { tables, allowing, manyRows }))
  }
  try {
    return await database.transaction(work)
  } catch (error) {
    if (error instanceof Planned) return error.plan
    throw error
  }
}

/** Carries the plan out of its transaction, which is rolled back by it. */
class Planned extends Error {
  override readonly name = 'Planned'
  readonly plan: MigrationPlan

  constructor(plan: MigrationPlan) {
    super('planned, and nothing done')
    this.plan = plan
  }
}

interface Asked {
  readonly tables: readonly Table[]
  readonly allowing: Weight
  readonly manyRows: number | undefined
}

async function planIn(site: Site, { tables, allowing, manyRows }: Asked): Promise<MigrationPlan> {
  const { database, transaction } = site
  if (!(await hasRecord(transaction, database.schema))) await bootstrap(site)
  const plan = planSchema(tables, await readCatalogue(transaction, database.schema, manyRows))
  const { refusals, costs } = await judge(transaction, plan)
  const paid = new Set(costs.flatMap(({ price }) => price.steps))
  const goes = ({ drop }: Left) => allowing === 'destructive' || drop.some(step => paid.has(step))
  const dropped = plan.left.filter(goes).flatMap(({ drop }) => drop)
  const steps = await needed(transaction, inOrder([...plan.steps, ...dropped]))
  const left = plan.left.filter(one => !goes(one))
  return { steps: steps.map(step => toPlanned(step, costs)), refusals, left }
}

function toPlanned(step: Step, costs: readonly Cost[]): PlannedStep {
  const prices = costs.map(({ price }) => price).filter(({ steps }) => steps.includes(step))
  const weights = prices.map(({ weight }) => WEIGHTS.indexOf(weight))
  return {
    weight: WEIGHTS[Math.max(0, ...weights)] ?? 'safe',
    summary: step.summary,
    notes: prices.map(({ note }) => note),
    statements: step.statements,
  }
}
