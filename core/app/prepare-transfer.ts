import { failed, ok, type Result } from '../base/result.ts'
import type { Database } from '../database/database.ts'
import { migrate } from '../database/migrate.ts'
import { planMigration } from '../database/plan-migration.ts'
import { NOBODY_LISTENS, type Outbox } from '../documents/outbox.ts'
import { openEvents } from '../events/open-events.ts'
import { endMovedUsers } from '../identity/end-sessions.ts'
import { openStorage } from '../media/open-storage.ts'
import { SILENT } from '../observe/observation.ts'
import type { ImportTerms } from '../transfer/import-terms.ts'
import type { Blueprint } from './compile-app.ts'
import { mirrorAll } from './fill-database.ts'
import { registerApp } from './open-plugins.ts'
import type { StartFault } from './start-fault.ts'

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
