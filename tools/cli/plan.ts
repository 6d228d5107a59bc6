import { planMigration } from '../../core/migrate/plan-migration.ts'
import type { CommandContext } from './command-terms.ts'
import { printPlan } from './plan-print.ts'
import { printReasons, withSchemaReadOnly } from './schema-project.ts'

export interface PlanCommandContext extends CommandContext {
  readonly form: 'text' | 'json' | 'sql'
}

/**
 * `plinth plan`: prints the migration plan without applying it. Returns the exit code: 0
 * if there is nothing to do, 2 if there is, 1 if the plan is refused or fails.
 */
export async function runPlan(terms: PlanCommandContext): Promise<0 | 1 | 2> {
  const planned = await withSchemaReadOnly(terms, (database, { tables, files }) =>
    planMigration(database, tables, { files }),
  )
  if (!planned.ok) return printReasons(terms, planned.reasons)
  const plan = planned.value
  terms.write(printPlan(plan, terms))
  if (plan.refusals.length > 0) return 1
  return plan.steps.length > 0 ? 2 : 0
}
