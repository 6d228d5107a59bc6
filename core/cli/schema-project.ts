import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { openProjectDatabase } from '../app/open-project-database.ts'
import { printReason } from '../app/start-fault.ts'
import { failed, ok, type Result } from '../base/result.ts'
import type { Database } from '../database/database.ts'
import { toDatabaseFault } from '../database/database-fault.ts'
import { printDiagnostic } from '../faults/diagnostic.ts'
import { compileModel } from '../model/compile-model.ts'
import { compileStorage } from '../model/compile-storage.ts'
import type { Table } from '../model/storage.ts'
import type { Environment } from '../project/environment.ts'
import { loadProject } from '../project/load-project.ts'
import type { Project } from '../project/project.ts'
import type { Paint } from './roles-output.ts'

/** Where the commands about the database's tables find the project, and how they answer. */
export interface SchemaTerms {
  readonly folder: string
  readonly env: Environment
  readonly paint: Paint
  /** What was asked for. */
  readonly write: (text: string) => void
  /** Why there is no answer. */
  readonly complain: (text: string) => void
}

/** A project as far as its tables need it. */
export interface SchemaProject {
  readonly project: Project
  readonly tables: readonly Table[]
}

export async function loadSchema({ folder, env }: SchemaTerms): Promise<Result<SchemaProject, string>> {
  const project = await loadProject(folder, env)
  if (!project.ok) return failed(...project.reasons.map(printDiagnostic))
  const model = compileModel(project.value)
  if (!model.ok) return failed(...model.reasons.map(printDiagnostic))
  return ok({ project: project.value, tables: compileStorage(model.value).tables })
}

/** An embedded database that was never started stays so: what would be made is told of an empty one. */
export const toLookAt = ({ root, settings }: Project) =>
  settings.database.url === 'embedded' && !existsSync(join(root, '.plinth', 'database'))
    ? { embedded: { dataDir: 'memory://' } }
    : {}

/** Does the work over the project's database, and closes it. Fails with why it could not be done, a sentence each. */
export async function withDatabase<Value>(
  project: Project,
  work: (database: Database) => Promise<Value>,
  options: ReturnType<typeof toLookAt> = {},
): Promise<Result<Value, string>> {
  const opened = await openProjectDatabase(project, { observe: () => {}, ...options })
  if (!opened.ok) return failed(...opened.reasons.map(printReason))
  const database = opened.value
  try {
    return ok(await work(database))
  } catch (error) {
    const fault = toDatabaseFault(error)
    if (!fault) throw error
    return failed(`The database did not answer as it should: ${fault.message}`)
  } finally {
    await database.close()
  }
}

/** Answers the exit code of a command that could not do its work. */
export function complain({ complain: tell }: SchemaTerms, reasons: readonly string[]): 1 {
  tell(`${reasons.join('\n\n')}\n`)
  return 1
}
