import type { Blueprint } from '../../core/app/compile-app.ts'
import { mirrorAll } from '../../core/app/fill-database.ts'
import { registerApp } from '../../core/app/open-plugins.ts'
import type { StartFault } from '../../core/app/start-fault.ts'
import { failed, ok, type Result } from '../../core/base/result.ts'
import type { Database } from '../../core/database/database.ts'
import { NOBODY_LISTENS, type Outbox } from '../../core/documents/outbox.ts'
import { openEvents } from '../../core/events/open-events.ts'
import { endMovedUsers } from '../../core/identity/end-sessions.ts'
import { openStorage } from '../../core/media/storage/open-storage.ts'
import { migrate } from '../../core/migrate/migrate.ts'
import { planMigration } from '../../core/migrate/plan-migration.ts'
import { SILENT } from '../../core/observe/observation.ts'
import type { ImportTerms } from '../transfer/import/import-terms.ts'

export type Prepared = Omit<ImportTerms, 'onConflict' | 'skipsInvalid' | 'filesFolder' | 'progress'>

/** Brings a database's tables, roles and locales in step with the project, as a start does; content/ is left alone. */
export async function prepareTransfer(
  blueprint: Blueprint,
  database: Database,
  { events, dryRun }: { readonly events: boolean; readonly dryRun: boolean },
): Promise<Result<Prepared, StartFault>> {
  const { project, model, storage } = blueprint
  const inStep = dryRun ? await look(blueprint, database) : await bringInStep(blueprint, database)
  if (!inStep.ok) return inStep
  const outbox = events ? await outboxOf(blueprint, database) : ok(NOBODY_LISTENS)
  if (!outbox.ok) return outbox
  return ok({
    database,
    model,
    storage,
    roles: new Set(Object.keys(project.settings.roles)),
    files: openStorage(project.settings.upload, project.root),
    outbox: outbox.value,
    beforeUsers: (transaction, users) => endMovedUsers(transaction, users, { model, storage }),
  })
}

async function bringInStep(blueprint: Blueprint, database: Database): Promise<Result<null, StartFault>> {
  const migrated = await migrate(database, blueprint.storage.tables, {
    others: { deployment: null, mayOutdate: false },
  })
  if (!migrated.ok) return failed({ kind: 'schema', refusals: migrated.reasons })
  return mirrorAll(blueprint, database)
}

async function look({ storage }: Blueprint, database: Database): Promise<Result<null, StartFault>> {
  const { steps, refusals } = await planMigration(database, storage.tables)
  return steps.length + refusals.length === 0 ? ok(null) : failed({ kind: 'other', message: OUT_OF_STEP })
}

export const OUT_OF_STEP =
  'The database is not as the project wants it: `plinth plan` tells what it lacks, `plinth migrate` does it'

/** Of the project's listeners: the server that runs, or the next that starts, tells them. */
async function outboxOf(blueprint: Blueprint, database: Database): Promise<Result<Outbox, StartFault>> {
  const registered = await registerApp(blueprint, SILENT)
  if (!registered.ok) return registered
  const { listeners } = registered.value
  return ok(openEvents({ database, model: blueprint.model, listeners, observer: SILENT }).outbox)
}
