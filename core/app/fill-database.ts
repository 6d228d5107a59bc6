import { relative } from 'node:path'
import { failed, ok, type Result } from '../base/result.ts'
import { writeContent } from '../content/write-content.ts'
import type { Database } from '../database/database.ts'
import { NO_OUTBOX, type Outbox } from '../documents/outbox.ts'
import { endSessionsOfChangedUsers } from '../identity/end-sessions.ts'
import { type AssignedRole, syncLocales, syncRoles } from '../identity/sync-declared-rows.ts'
import type { FileStorage } from '../media/storage/file-storage.ts'
import type { Blueprint } from './compile-app.ts'
import type { StartFault } from './start-fault.ts'

export interface Filled {
  /** What was written, one sentence each. */
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
  if (!roles.ok)
    return failed(
      ...roles.reasons.map((held): StartFault => ({ kind: 'other', message: describeAssignedRole(held) })),
    )
  await syncLocales({ database, model, storage })
  return ok(null)
}

const describeAssignedRole = ({ role, users }: AssignedRole): string =>
  `role \`${role}\` is no longer in the project, but ${users} ${users === 1 ? 'user has' : 'users have'} it: give them another one first`
