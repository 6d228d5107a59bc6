import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { type DatabaseTerms, openProjectDatabase } from '../../core/app/open-project-database.ts'
import { printReason } from '../../core/app/start-fault.ts'
import { failed, ok, type Result } from '../../core/base/result.ts'
import type { Database } from '../../core/database/database.ts'
import { toDatabaseFault } from '../../core/database/database-fault.ts'
import type { Project } from '../../core/project/project.ts'

/** Whether the project has an embedded database that no start has made yet. */
export const isNeverStarted = ({ root, settings }: Project): boolean =>
  settings.database.url === 'embedded' && !existsSync(join(root, '.plinth', 'database'))

interface Opening extends Pick<DatabaseTerms, 'embedded'> {
  /** How to say that the database did not do its part; why comes behind it. */
  readonly trouble: string
}

/** A command asks nobody who may be behind. */
const onPrimary = ({ settings, ...project }: Project): Project => ({
  ...project,
  settings: { ...settings, database: { ...settings.database, replicas: [] } },
})

/** Does the work over the project's database, and closes it. Fails with why it could not be done, a sentence each. */
export async function withDatabase<Value>(
  project: Project,
  work: (database: Database) => Promise<Value>,
  { trouble, embedded }: Opening,
): Promise<Result<Value, string>> {
  let lost: string | undefined
  const opened = await openProjectDatabase(onPrimary(project), {
    observe: seen => {
      if (seen.event === 'database.connection-lost') lost ??= seen.message
    },
    mayBeStandby: true,
    embedded: { access: 'join', ...embedded },
  })
  if (!opened.ok) return failed(...opened.reasons.map(printReason))
  const database = opened.value
  try {
    return ok(await work(database))
  } catch (error) {
    const fault = toDatabaseFault(error)
    if (!fault) throw error
    // What the server said when it ended the connection explains more than the statement that found it ended.
    return failed(`${trouble}: ${(fault.kind === 'unavailable' && lost) || fault.message}`)
  } finally {
    await database.close()
  }
}
