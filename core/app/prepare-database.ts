import { relative } from 'node:path'
import { failed, ok, type Result } from '../base/result.ts'
import { unlessAborted, withTimeout } from '../base/with-timeout.ts'
import { refuseContentConflicts, writeContent } from '../content/write-content.ts'
import type { Database } from '../database/database.ts'
import { NO_OUTBOX, type Outbox } from '../documents/outbox.ts'
import type { StartStep } from '../http/service-unavailable.ts'
import type { IdentityOptions } from '../identity/identity.ts'
import {
  type AssignedRole,
  describeAssignedRole,
  refuseAssignedRoles,
  syncLocales,
  syncRoles,
} from '../identity/sync-declared-rows.ts'
import { endSessionsOfChangedUsers } from '../identity/users/user-documents.ts'
import type { FileStorage } from '../media/storage/file-storage.ts'
import { removeUnfinished } from '../media/storage/open-storage.ts'
import { migrate } from '../migrate/migrate.ts'
import type { OtherProcesses } from '../migrate/migration-options.ts'
import type { Observer } from '../observe/observation.ts'
import type { Blueprint } from './compile-app.ts'
import { describeLeftover, START_ENDED, type StartFault } from './start-fault.ts'

export interface CommonPrepareOptions {
  /** Serving processes of other versions; absent: a migration ignores them. */
  readonly others?: OtherProcesses
  /** Aborts the start, which then rejects or fails: a running migration is rolled back, and nothing stays open. */
  readonly signal?: AbortSignal | undefined
  /** Called when a step begins. */
  readonly onStep?: (step: StartStep) => void
}

export interface PrepareOptions extends CommonPrepareOptions {
  /** The database without observation of its statements. */
  readonly unwatched: Database
  readonly identity: IdentityOptions
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
    checkRows: refuseAssignedRoles(blueprint.project.settings.roles, blueprint),
    checkResult: refuseContentConflicts(blueprint.content, {
      ...blueprint,
      database: unwatched,
      root: blueprint.project.root,
    }),
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
  await removeUnfinished(blueprint.project.root)
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

interface Filled {
  /** The entries that were written, one sentence each. */
  readonly messages: readonly string[]
}

/** Synchronizes roles and locales, then writes the due entries of content/. */
export async function fillDatabase(
  { project, model, storage, content }: Blueprint,
  database: Database,
  files: FileStorage,
  outbox: Outbox = NO_OUTBOX,
): Promise<Result<Filled, StartFault>> {
  const mirrored = await syncRolesAndLocales({ project, model, storage }, database)
  if (!mirrored.ok) return mirrored
  const written = await writeContent(content, {
    ...{ database, model, storage, files, outbox },
    beforeUsers: (transaction, users) => endSessionsOfChangedUsers(transaction, users, { model, storage }),
  })
  if (!written.ok) return failed({ kind: 'files', diagnostics: written.reasons })
  const counts = [...written.value.written].map(([uid, count]) => `${count} of ${uid}`)
  const wrote = counts.length === 0 ? [] : [`Wrote documents of content/: ${counts.join(', ')}`]
  const kept = [...written.value.kept].map(([file, count]) =>
    describeKept(relative(project.root, file), count),
  )
  return ok({ messages: [...wrote, ...kept] })
}

/** Entries of a file that differ from their documents. */
function describeKept(file: string, count: number): string {
  const entries = count === 1 ? '1 entry was' : `${count} entries were`
  return `${file}: ${entries} edited after being written, and the documents are kept as they are in the database (on: create); \`on: sync\` writes the file's changes`
}

/** Writes roles and locales as rows, so that other rows can reference them. */
export async function syncRolesAndLocales(
  { project, model, storage }: Pick<Blueprint, 'project' | 'model' | 'storage'>,
  database: Database,
): Promise<Result<null, StartFault>> {
  const roles = await syncRoles(project.settings.roles, { database, model, storage })
  if (!roles.ok) return failed(...roles.reasons.map(toStartFault))
  await syncLocales({ database, model, storage })
  return ok(null)
}

const toStartFault = (held: AssignedRole): StartFault => ({
  kind: 'other',
  message: describeAssignedRole(held),
})
