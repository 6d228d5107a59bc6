import { findOtherProcesses, printServing, type ServingProcess } from '../database/generations/processes.ts'
import type { DdlContext } from '../database/run-ddl.ts'
import type { PendingFiles } from './custom-migrations/migration-files.ts'
import { neededSteps } from './evaluate-plan.ts'
import type { MigrationOptions } from './migration-terms.ts'
import { MigrationRefused } from './migration-terms.ts'
import type { SchemaPlan } from './plan-steps.ts'
import {
  isBackwardCompatible,
  refusal,
  rolloutPhaseOf,
  type SchemaRefusal,
  type Step,
} from './schema/finding.ts'

interface Migrating extends Required<Pick<MigrationOptions, 'stage' | 'others'>> {
  readonly hash: string
}

/** Processes of other versions that may still serve. */
export const findOtherVersions = (
  { database: { schema }, transaction }: DdlContext,
  { hash, others: { deployment } }: Migrating,
): Promise<readonly ServingProcess[]> => findOtherProcesses(transaction, schema, { hash, deployment })

interface Planned {
  readonly plan: SchemaPlan
  readonly files: PendingFiles
}

/**
 * Adapts a task to processes of other versions that serve. Breaking steps are deferred if all of them can be. Otherwise they
 * are refused unless the other processes may become outdated.
 */
export async function checkOtherVersions<Task extends Migrating>(
  site: DdlContext,
  task: Task,
  { plan, files }: Planned,
): Promise<Task> {
  if (task.stage !== 'start' || task.others.mayOutdate) return task
  const steps = await neededSteps(site.transaction, plan.steps)
  if (steps.every(isBackwardCompatible) && files.after.length === 0) return task
  const serving = await findOtherVersions(site, task)
  if (serving.length === 0) return task
  if (steps.every(step => rolloutPhaseOf(step) === 'expand') && files.after.length === 0)
    return { ...task, stage: 'expand' }
  throw new MigrationRefused([othersServe(serving, steps)])
}

function othersServe(serving: readonly ServingProcess[], steps: readonly Step[]): SchemaRefusal {
  const breaking = steps.filter(step => !isBackwardCompatible(step)).map(({ summary }) => summary)
  const what = `processes of another version of the project serve from this database (${printServing(serving)}) and are not compatible with this: ${breaking.join('; ') || 'files of migrations/'}`
  const advice =
    'end them first, roll with `plinth migrate --expand`, or have them answer 503 from now on with `plinth start --replace-others`'
  return refusal('others-serving', null, `${what}: ${advice}`)
}
