import type { Database } from '../database/database.ts'
import { DatabaseFailure } from '../database/database-fault.ts'
import { examine } from '../doctor/examine.ts'
import type { SlowRead } from '../doctor/slow-reads.ts'
import { listFailedEvents } from '../events/outbox-rows.ts'
import type { RolesProject } from '../explain/roles-project.ts'
import { type MigrationPlan, planMigration } from '../migrate/plan-migration.ts'

export interface OperationsTerms {
  readonly roles: Pick<RolesProject, 'project' | 'model' | 'storage'>
  readonly database: Database
  readonly production: boolean
  /** The project's code, and where it applies. */
  readonly plugins: unknown
  /** Of this process since its start. */
  slowReads(): readonly SlowRead[]
  /** Removes secrets from texts of project code. */
  redact(text: string): string
}

/** Milliseconds that one part may take in the database. */
const PART_TIMEOUT = 5_000

/** Plugins, the pending migration, slow reads with advice, and failed events. One part that fails does not hide the others. */
export async function describeOperations(terms: OperationsTerms) {
  const { roles, database, production, redact } = terms
  const plan = await partOf(() => pendingPlan(terms))
  const reads = terms.slowReads()
  const settings = roles.project.settings
  const advice = await partOf(() =>
    examine({
      ...{ settings, production, workers: 1, database },
      ...{ model: roles.model, storage: roles.storage, analyze: false, tries: false },
      ...{ reads, plan: plan.value ?? { steps: [], refusals: [] } },
    }),
  )
  const events = await partOf(() => listFailedEvents(database))
  return {
    plugins: terms.plugins,
    plan: plan.value && describePlan(plan.value),
    slowReads: reads,
    advice: advice.value,
    failedEvents: events.value?.map(event => ({ ...event, reason: redact(event.reason) })) ?? null,
    faults: [plan, advice, events].flatMap(({ message }) => message ?? []),
  }
}

const pendingPlan = ({ roles, database }: OperationsTerms): Promise<MigrationPlan> =>
  planMigration(database, roles.storage.tables, { countTimeout: PART_TIMEOUT })

const describePlan = ({ steps, refusals }: MigrationPlan) => ({
  steps: steps.map(({ weight, window, summary, notes, statements }) => ({
    ...{ weight, window, summary, notes, statements },
  })),
  refusals: refusals.map(({ code, message }) => ({ code, message })),
})

interface Part<Value> {
  readonly value: Value | null
  readonly message: string | null
}

async function partOf<Value>(read: () => Promise<Value>): Promise<Part<Value>> {
  try {
    return { value: await read(), message: null }
  } catch (error) {
    if (!(error instanceof DatabaseFailure)) throw error
    return { value: null, message: error.message }
  }
}
