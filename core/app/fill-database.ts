import { relative } from 'node:path'
import { failed, ok, type Result } from '../base/result.ts'
import { writeContent } from '../content/write-content.ts'
import type { Database } from '../database/database.ts'
import { NOBODY_LISTENS, type Outbox } from '../documents/outbox.ts'
import { endSessionsOfChangedUsers } from '../identity/end-sessions.ts'
import { type AssignedRole, syncLocales, syncRoles } from '../identity/sync-declared-rows.ts'
import type { FileStorage } from '../media/storage/file-storage.ts'
import type { Blueprint } from './compile-app.ts'
import type { StartFault } from './start-fault.ts'

export interface Filled {
  /** What was written, a sentence each. */
  readonly news: readonly string[]
}

/** Mirrors what other rows point at (roles, locales), then writes what is due of content/. */
export async function fillDatabase(
  { project, model, storage, content }: Blueprint,
  database: Database,
  files: FileStorage,
  outbox: Outbox = NOBODY_LISTENS,
): Promise<Result<Filled, StartFault>> {
  const mirrored = await mirrorAll({ project, model, storage }, database)
  if (!mirrored.ok) return mirrored
  const written = await writeContent(content, {
    ...{ database, model, storage, files, outbox },
    beforeUsers: (transaction, users) => endSessionsOfChangedUsers(transaction, users, { model, storage }),
  })
  if (!written.ok) return failed({ kind: 'files', diagnostics: written.reasons })
  const counts = [...written.value.written].map(([uid, count]) => `${count} of ${uid}`)
  const wrote = counts.length === 0 ? [] : [`Wrote documents of content/: ${counts.join(', ')}`]
  const kept = [...written.value.kept].map(([file, count]) => printKept(relative(project.root, file), count))
  return ok({ news: [...wrote, ...kept] })
}

/** What a file says now, and the database does not. */
function printKept(file: string, count: number): string {
  const entries = count === 1 ? '1 entry was' : `${count} entries were`
  return `${file}: ${entries} edited after being written, and the documents are kept as they are in the database (on: create); \`on: sync\` writes the file's changes`
}

/** Roles and locales as rows that other rows point at. */
export async function mirrorAll(
  { project, model, storage }: Pick<Blueprint, 'project' | 'model' | 'storage'>,
  database: Database,
): Promise<Result<null, StartFault>> {
  const roles = await syncRoles(project.settings.roles, { database, model, storage })
  if (!roles.ok)
    return failed(...roles.reasons.map((held): StartFault => ({ kind: 'other', message: printHeld(held) })))
  await syncLocales({ database, model, storage })
  return ok(null)
}

const printHeld = ({ role, users }: AssignedRole): string =>
  `role \`${role}\` is no longer in the project, but ${users} ${users === 1 ? 'user has' : 'users have'} it: give them another one first`
