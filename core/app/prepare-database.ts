import { failed, ok, type Result } from '../base/result.ts'
import { unlessAborted, withTimeout } from '../base/with-timeout.ts'
import type { Database } from '../database/database.ts'
import type { StartStep } from '../http/service-unavailable.ts'
import type { IdentityTerms } from '../identity/identity.ts'
import type { FileStorage } from '../media/storage/file-storage.ts'
import { removeAbandoned, stagingFolder } from '../media/storage/staging.ts'
import { migrate } from '../migrate/migrate.ts'
import type { Others } from '../migrate/migration-terms.ts'
import type { Observer } from '../observe/observation.ts'
import type { Blueprint } from './compile-app.ts'
import { type Filled, fillDatabase } from './fill-database.ts'
import { tellSteps } from './report-steps.ts'
import { printLeft, START_ENDED, type StartFault } from './start-fault.ts'

export interface StepTerms {
  /** Processes of other versions; absent: a migration does not mind them. */
  readonly others?: Others
  /** Ends the opening, which then rejects or fails: a migration in progress is rolled back, and nothing stays open. */
  readonly signal?: AbortSignal | undefined
  /** Called at each step. */
  readonly enter?: (step: StartStep) => void
}

export interface PrepareTerms extends StepTerms {
  /** The database that nobody watches. */
  readonly bare: Database
  readonly identity: IdentityTerms
  readonly observer: Observer
}

/**
 * Brings tables, roles, locales and content in step with the files. An abort cancels what the database is doing; code of
 * a migration that waits for something else is left behind.
 */
export async function prepareDatabase(
  blueprint: Blueprint,
  terms: PrepareTerms,
  files: FileStorage,
): Promise<Result<readonly string[], StartFault>> {
  const { bare, signal } = terms
  const preparing = prepare(blueprint, terms, files)
  return unlessAborted(signal, preparing).catch(async (error: unknown) => {
    if (!signal?.aborted) throw error
    bare.abort()
    return withTimeout(ABORT_PATIENCE, preparing, failed({ kind: 'other', message: START_ENDED }))
  })
}

/** Milliseconds that a migration has to notice that it was aborted. */
const ABORT_PATIENCE = 500

async function prepare(
  blueprint: Blueprint,
  { bare, identity: { database, outbox }, observer, others, enter }: PrepareTerms,
  files: FileStorage,
): Promise<Result<readonly string[], StartFault>> {
  const began = performance.now()
  enter?.('migrating')
  const migrated = await migrate(bare, blueprint.storage.tables, {
    files: blueprint.migrations,
    ...(others && { others }),
  })
  if (!migrated.ok) return failed({ kind: 'schema', refusals: migrated.reasons })
  const { steps, left } = migrated.value
  if (steps.length > 0)
    observer.emit({ kind: 'migrated', steps: steps.length, milliseconds: performance.now() - began })
  enter?.('filling')
  const filled: Result<Filled, StartFault> = await fillDatabase(blueprint, database, files, outbox)
  if (!filled.ok) return filled
  await bare.replicas?.startFromHere()
  await removeAbandoned(stagingFolder(blueprint.project.root))
  return ok([...tellSteps(steps), ...left.map(printLeft), ...filled.value.news])
}
