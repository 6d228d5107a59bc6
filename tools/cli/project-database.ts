import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { openProjectDatabase, type ProjectDatabaseOptions } from '../../core/app/open-project-database.ts'
import { printReason } from '../../core/app/start-fault.ts'
import { failed, ok, type Result } from '../../core/base/result.ts'
import type { Database } from '../../core/database/database.ts'
import { toDatabaseFault } from '../../core/database/database-fault.ts'
import type { Project } from '../../core/project/project.ts'

/** True if the embedded database does not exist yet, because the project was never started. */
export const isNeverStarted = ({ root, settings }: Project): boolean =>
  settings.database.url === 'embedded' && !existsSync(join(root, '.plinth', 'database'))

interface Opening extends Pick<ProjectDatabaseOptions, 'embedded'> {
  /** The beginning of the message for a database error; the reason follows. */
  readonly trouble: string
}

/** Commands read from the primary only, because replicas may lag. */
const onPrimary = ({ settings, ...project }: Project): Project => ({
  ...project,
  settings: { ...settings, database: { ...settings.database, replicas: [] } },
})

/** Opens the project's database, runs the work, and closes it. Fails with one sentence per reason. */
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
    // The server's message at disconnect explains more than the error of the next statement.
    return failed(`${trouble}: ${(fault.kind === 'unavailable' && lost) || fault.message}`)
  } finally {
    await database.close()
  }
}
