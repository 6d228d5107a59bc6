import { existsSync } from 'node:fs'
import { join, relative } from 'node:path'
import { openProjectDatabase, type ProjectDatabaseOptions } from '../../core/app/open-project-database.ts'
import { printReason } from '../../core/app/start-fault.ts'
import { failed, ok, type Result } from '../../core/base/result.ts'
import { parsePrimary } from '../../core/database/connect/target-url.ts'
import type { Database } from '../../core/database/database.ts'
import { type DatabaseFault, toDatabaseFault } from '../../core/database/database-fault.ts'
import type { Environment } from '../../core/project/environment.ts'
import type { Project } from '../../core/project/project.ts'
import type { CommandContext } from './command-options.ts'

/** True if the embedded database does not exist yet, because the project was never started. */
export const isNeverStarted = ({ root, settings }: Project): boolean =>
  settings.database.url === 'embedded' && !existsSync(join(root, '.plinth', 'database'))

/** Names a project's database, without user and password: `shop on db.example.org:5432`. */
export async function describeDatabase(project: Project): Promise<string> {
  const { root, settings } = project
  const { url } = settings.database
  if (url === 'embedded') {
    const folder = relative(process.cwd(), join(root, '.plinth', 'database'))
    return isNeverStarted(project) ? 'embedded, not created yet' : `embedded in ${folder}`
  }
  // A faulty URL is reported when it is opened.
  const target = await parsePrimary(url).catch(() => null)
  if (target === null) return 'unknown: database.url is not valid'
  const hosts = (target.hosts ?? [target]).map(({ host, port }) =>
    host.startsWith('/') ? `socket ${host}` : `${host.includes(':') ? `[${host}]` : host}:${port}`,
  )
  return `${target.database} on ${hosts.join(', ')}`
}

export const modeOf = (env: Environment): 'production' | 'development' =>
  env.NODE_ENV === 'production' ? 'production' : 'development'

interface Opening
  extends Pick<ProjectDatabaseOptions, 'embedded'>,
    Pick<CommandContext, 'writeError' | 'env'> {
  /** What to do after a database error, for the end of its message. */
  readonly advice?: string
}

/** Commands read from the primary only, because replicas may lag. */
const onPrimary = ({ settings, ...project }: Project): Project => ({
  ...project,
  settings: { ...settings, database: { ...settings.database, replicas: [] } },
})

function describeFailure(fault: DatabaseFault, connectionError: string | undefined): string {
  if (fault.kind !== 'unavailable') return `The database did not answer as it should: ${fault.message}`
  if (fault.isOverwhelmed) return `PostgreSQL cannot do this now: ${fault.message}`
  // The server's message at disconnect explains more than the error of the next statement.
  return `The database does not answer: ${connectionError ?? fault.message}`
}

/** Opens the project's database, runs the work, and closes it. Fails with one sentence per reason. */
export async function withDatabase<Value>(
  project: Project,
  work: (database: Database) => Promise<Value>,
  { advice, embedded, writeError, env }: Opening,
): Promise<Result<Value, string>> {
  writeError(`Database: ${await describeDatabase(project)} (${modeOf(env)})\n`)
  let connectionError: string | undefined
  const opened = await openProjectDatabase(onPrimary(project), {
    observe: seen => {
      if (seen.event === 'database.connection-lost') connectionError ??= seen.message
    },
    mayBeStandby: true,
    embedded: { access: 'join', ...embedded },
  })
  if (!opened.ok) return failed(...opened.reasons.map(printReason))
  const database = opened.value
  const interrupt = () => {
    writeError(
      '\nInterrupted: the transaction in progress is rolled back; what was committed before stays.\n',
    )
    process.exit(130)
  }
  process.once('SIGINT', interrupt)
  try {
    return ok(await work(database))
  } catch (error) {
    const fault = toDatabaseFault(error)
    if (!fault) throw error
    return failed(`${describeFailure(fault, connectionError)}${advice === undefined ? '' : `. ${advice}`}`)
  } finally {
    process.off('SIGINT', interrupt)
    await database.close()
  }
}
