import { failed, ok, type Result } from '../base/result.ts'
import { unlessAborted, withTimeout } from '../base/with-timeout.ts'
import type { Database } from '../database/database.ts'
import type { StartStep } from '../http/service-unavailable.ts'
import type { IdentityTerms } from '../identity/identity.ts'
import type { FileStorage } from '../media/storage/file-storage.ts'
import { removeAbandoned, stagingFolder } from '../media/storage/staging.ts'
import { migrate } from '../migrate/migrate.ts'
import type { OtherProcesses } from '../migrate/migration-terms.ts'
import type { Observer } from '../observe/observation.ts'
import type { Blueprint } from './compile-app.ts'
import { type Filled, fillDatabase } from './fill-database.ts'
import { describeLeftover, START_ENDED, type StartFault } from './start-fault.ts'

export interface PreparationOptions {
  /** Serving processes of other versions; absent: a migration ignores them. */
  readonly others?: OtherProcesses
  /** Aborts the start, which then rejects or fails: a running migration is rolled back, and nothing stays open. */
  readonly signal?: AbortSignal | undefined
  /** Called when a step begins. */
  readonly onStep?: (step: StartStep) => void
}

export interface PrepareOptions extends PreparationOptions {
  /** The database without observation of its statements. */
  readonly unwatched: Database
  readonly identity: IdentityTerms
  readonly observer: Observer
}

/**
 * Migrates tables, then writes roles, locales and content. Resolves to the messages for the log. An abort cancels running
 * statements; a custom migration that awaits something else is abandoned.
 */
export async function prepareDatabase(
  blueprint: Blueprint,
  options: PrepareOptions,
  files: FileStorage,
): Promise<Result<readonly string[], StartFault>> {
  const { unwatched, signal } = options
  const preparing = prepare(blueprint, options, files)
  return unlessAborted(signal, preparing).catch(async (error: unknown) => {
    if (!signal?.aborted) throw error
    unwatched.abort()
    return withTimeout(ABORT_TIMEOUT, preparing, failed({ kind: 'other', message: START_ENDED }))
  })
}

/** Milliseconds that a migration gets to react to an abort. */
const ABORT_TIMEOUT = 500

async function prepare(
  blueprint: Blueprint,
  { unwatched, identity: { database, outbox }, observer, others, onStep }: PrepareOptions,
  files: FileStorage,
): Promise<Result<readonly string[], StartFault>> {
  const began = performance.now()
  onStep?.('migrating')
  const migrated = await migrate(unwatched, blueprint.storage.tables, {
    files: blueprint.migrations,
    ...(others && { others }),
  })
  if (!migrated.ok) return failed({ kind: 'schema', refusals: migrated.reasons })
  const { steps, left } = migrated.value
  if (steps.length > 0)
    observer.emit({ kind: 'migrated', steps: steps.length, milliseconds: performance.now() - began })
  onStep?.('filling')
  const filled: Result<Filled, StartFault> = await fillDatabase(blueprint, database, files, outbox)
  if (!filled.ok) return filled
  await unwatched.replicas?.startFromHere()
  await removeAbandoned(stagingFolder(blueprint.project.root))
  return ok([...summarizeSteps(steps), ...left.map(describeLeftover), ...filled.value.messages])
}

/** If more tables were created, only their number and the first few names are logged. */
const MAX_LISTED_TABLES = 5

const NEW_TABLE = /^create table "(.*?)"/

/** The steps of a migration for the log: one line each, but many new tables in one line. */
function summarizeSteps(steps: readonly string[]): readonly string[] {
  const tables = steps.flatMap(step => NEW_TABLE.exec(step)?.[1] ?? [])
  if (tables.length <= MAX_LISTED_TABLES) return steps
  const others = steps.filter(step => !NEW_TABLE.test(step))
  const named = tables.slice(0, MAX_LISTED_TABLES).join(', ')
  return [
    `Created ${tables.length} tables: ${named} and ${tables.length - MAX_LISTED_TABLES} more`,
    ...others,
  ]
}
