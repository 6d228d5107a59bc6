import { statSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Blueprint } from '../../core/app/compile-app.ts'
import { openCommandStorage, registerApp } from '../../core/app/open-plugins.ts'
import { syncRolesAndLocales } from '../../core/app/prepare-database.ts'
import type { StartFault } from '../../core/app/start-fault.ts'
import { failed, ok, type Result } from '../../core/base/result.ts'
import type { Database } from '../../core/database/database.ts'
import { NO_OUTBOX, type Outbox } from '../../core/documents/outbox.ts'
import { openEvents } from '../../core/events/open-events.ts'
import { unknownName } from '../../core/explain/roles-project.ts'
import { refuseAssignedRoles } from '../../core/identity/sync-declared-rows.ts'
import { endSessionsOfChangedUsers } from '../../core/identity/users/user-documents.ts'
import { migrate } from '../../core/migrate/migrate.ts'
import { planMigration } from '../../core/migrate/plan-migration.ts'
import type { ContentType, Model } from '../../core/model/model.ts'
import { SILENT } from '../../core/observe/observation.ts'
import type { ImporterOptions } from '../transfer/import/import-options.ts'

/** Files and users first, because other types link to them. Roles and locales come from the project file. */
function transferableTypes({ contentTypes, builtIn }: Model): readonly ContentType[] {
  const own = [...contentTypes.values()].filter(type => !type.builtIn)
  return [builtIn.file, builtIn.user, ...own]
}

/** The types with these keys or uids, in stream order; all types for an empty list. */
export function pickTypes(names: readonly string[], model: Model): Result<readonly ContentType[], string> {
  const types = transferableTypes(model)
  if (names.length === 0) return ok(types)
  const isNamed = ({ key, uid }: ContentType) => names.includes(key) || names.includes(uid)
  const unknown = names.filter(name => !types.some(({ key, uid }) => key === name || uid === name))
  if (unknown.length === 0) return ok(types.filter(isNamed))
  const known = types.map(({ key }) => key)
  return failed(...unknown.map(name => unknownName('content-type', name, known)))
}

type PreparedTransfer = Omit<ImporterOptions, 'onConflict' | 'skipsInvalid' | 'filesFolder' | 'progress'>

/** Migrates tables and syncs roles and locales, as a start does, but does not load content/. */
export async function prepareTransfer(
  blueprint: Blueprint,
  database: Database,
  { events, dryRun }: { readonly events: boolean; readonly dryRun: boolean },
): Promise<Result<PreparedTransfer, StartFault>> {
  const { project, model, storage } = blueprint
  const inStep = dryRun ? await look(blueprint, database) : await bringInStep(blueprint, database)
  if (!inStep.ok) return inStep
  const files = await openCommandStorage(blueprint)
  if (!files.ok) return files
  const outbox = events ? await outboxOf(blueprint, database) : ok(NO_OUTBOX)
  if (!outbox.ok) return outbox
  return ok({
    database,
    model,
    storage,
    roles: new Set(Object.keys(project.settings.roles)),
    files: files.value,
    outbox: outbox.value,
    beforeUsers: (transaction, users) => endSessionsOfChangedUsers(transaction, users, { model, storage }),
  })
}

async function bringInStep(blueprint: Blueprint, database: Database): Promise<Result<null, StartFault>> {
  const migrated = await migrate(database, blueprint.storage.tables, {
    others: { deployment: null, mayOutdate: false },
    checkRows: refuseAssignedRoles(blueprint.project.settings.roles, blueprint),
  })
  if (!migrated.ok) return failed({ kind: 'schema', refusals: migrated.reasons })
  return syncRolesAndLocales(blueprint, database)
}

async function look({ storage }: Blueprint, database: Database): Promise<Result<null, StartFault>> {
  const { steps, refusals } = await planMigration(database, storage.tables)
  return steps.length + refusals.length === 0 ? ok(null) : failed({ kind: 'other', message: OUT_OF_STEP })
}

export const OUT_OF_STEP =
  'The tables do not match the project: `plinth plan` shows the difference, `plinth migrate` applies it'

/** The outbox for event listeners: the running server, or the next one, delivers the events. */
async function outboxOf(blueprint: Blueprint, database: Database): Promise<Result<Outbox, StartFault>> {
  const registered = await registerApp(blueprint, SILENT)
  if (!registered.ok) return registered
  const { listeners } = registered.value
  return ok(openEvents({ database, model: blueprint.model, listeners, observer: SILENT }).outbox)
}

/** Why the file of an import cannot be read; null: it can. `-` is the standard input. */
export function importPathFault(file: string, files: string | undefined): string | null {
  const found = file === '-' ? 'file' : kindOf(file)
  if (found === null) return `There is no file ${file}`
  if (found === 'folder') return `${file} is a folder: name the file to import`
  if (files !== undefined && kindOf(files) === null)
    return `There is no folder ${files} with the bytes of files`
  return folderFault(files)
}

/** Why the output of an export cannot be written; null: it can. `-` is the standard output. */
export function exportPathFault(out: string, files: string | undefined): string | null {
  if (out === '') return 'The file to write has no name'
  if (out !== '-' && kindOf(out) === 'folder') return `${out} is a folder: name the file to write`
  if (out !== '-' && kindOf(dirname(out)) !== 'folder') return `There is no folder ${dirname(out)} for ${out}`
  return folderFault(files)
}

/** Why a project cannot be written to a folder; null: it can. */
export const projectFolderFault = (folder: string): string | null =>
  kindOf(folder) === 'file' ? `${folder} is a file: --out names a folder` : null

const folderFault = (files: string | undefined): string | null =>
  files !== undefined && kindOf(files) === 'file' ? `${files} is a file: --files names a folder` : null

function kindOf(path: string): 'file' | 'folder' | null {
  const found = statSync(path, { throwIfNoEntry: false })
  if (found === undefined) return null
  return found.isDirectory() ? 'folder' : 'file'
}
