import { planMigration } from '../database/plan-migration.ts'
import { printPlan } from './plan-print.ts'
import { complain, loadSchema, type SchemaTerms, toLookAt, withDatabase } from './schema-project.ts'

export interface PlanTerms extends SchemaTerms {
  readonly form: 'text' | 'json' | 'sql'
}

/**
 * `plinth plan`: what the database needs to be as the project wants it; nothing is changed. Answers the exit code: 0
 * where there is nothing to do, 2 where there is, 1 where it cannot be done or told.
 */
export async function runPlan(terms: PlanTerms): Promise<0 | 1 | 2> {
  const loaded = await loadSchema(terms)
  if (!loaded.ok) return complain(terms, loaded.reasons)
  const { project, tables } = loaded.value
  const planned = await withDatabase(project, one => planMigration(one, tables), toLookAt(project))
  if (!planned.ok) return complain(terms, planned.reasons)
  const plan = planned.value
  terms.write(printPlan(plan, terms))
  if (plan.refusals.length > 0) return 1
  return plan.steps.length > 0 ? 2 : 0
}
