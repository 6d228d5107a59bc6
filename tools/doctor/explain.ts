import type { Transaction } from '../../core/database/database.ts'
import type { Storage } from '../../core/model/storage.ts'
import { planQuery } from '../../core/plan/plan-query.ts'
import type { RestrictedQuery } from '../../core/query/query.ts'
import { printAnswerStatement } from '../../core/sql/print.ts'

/** The used part of a node of PostgreSQL's plan. */
export interface PlanNode {
  readonly 'Node Type': string
  readonly 'Relation Name'?: string
  readonly 'Plan Rows': number
  readonly 'Total Cost': number
  readonly 'Actual Rows'?: number
  readonly 'Rows Removed by Filter'?: number
  readonly 'Sort Space Type'?: string
  readonly Plans?: readonly PlanNode[]
}

export interface ExplainTerms {
  readonly storage: Storage
  readonly defaultLocale: string
  /** Run the statement and measure it. */
  readonly analyze: boolean
}

/** PostgreSQL's plan of a query. */
export async function explain(
  query: RestrictedQuery,
  transaction: Pick<Transaction, 'run'>,
  { storage, defaultLocale, analyze }: ExplainTerms,
): Promise<PlanNode> {
  await transaction.run({ text: ALONE, values: [] })
  const { text, values } = printAnswerStatement(planQuery(query, { storage, defaultLocale, shape: 'flat' }))
  const options = analyze ? 'FORMAT JSON, ANALYZE, TIMING OFF' : 'FORMAT JSON'
  const { rows } = await transaction.run({ text: `EXPLAIN (${options}) ${text}`, values, name: 'explain' })
  const plans: readonly { readonly Plan: PlanNode }[] = JSON.parse(String(rows[0]?.[0]))
  const [plan] = plans
  if (!plan) throw new TypeError('PostgreSQL explained nothing')
  return plan.Plan
}

/** Row counts are totals over all parallel workers. */
const ALONE = `SELECT set_config('max_parallel_workers_per_gather', '0', true)`

/** The node and all its descendants. */
export const planNodes = (node: PlanNode): readonly PlanNode[] => [
  node,
  ...(node.Plans ?? []).flatMap(planNodes),
]
