import { checkedProjectStorage } from '../../core/access/compile/compile-access.ts'
import { failed, ok, type Result } from '../../core/base/result.ts'
import type { Content } from '../../core/content/content.ts'
import { loadContent } from '../../core/content/load-content.ts'
import { refuseContentConflicts } from '../../core/content/write-content.ts'
import type { Database } from '../../core/database/database.ts'
import { checkDeclaredValues } from '../../core/documents/values/check-declared-values.ts'
import { fromWorkingDirectory, printDiagnostic } from '../../core/faults/diagnostic.ts'
import { refuseAssignedRoles } from '../../core/identity/sync-declared-rows.ts'
import { loadTemplates } from '../../core/mail/load-templates.ts'
import type { CustomMigration } from '../../core/migrate/custom-migrations/custom-migration.ts'
import { NO_RESULT_CHECK, type ResultCheck, type RowCheck } from '../../core/migrate/migration-options.ts'
import { compileModel } from '../../core/model/compile-model.ts'
import type { Model } from '../../core/model/model.ts'
import type { Storage, Table } from '../../core/model/storage.ts'
import { loadMigrations } from '../../core/plugins/load/load-migrations.ts'
import { loadProject } from '../../core/project/load-project.ts'
import type { Project } from '../../core/project/project.ts'
import type { CommandContext } from './command-options.ts'
import { isNeverStarted, withDatabase } from './project-database.ts'

type SchemaWork<Value> = (database: Database, schema: SchemaProject & ContentCheck) => Promise<Value>

interface ContentCheck {
  /** Entries of content/ that could not be written after a migration; without `isDeploy` no objections. */
  readonly checkResult: ResultCheck
}

/**
 * Runs a migration with the project's database and its declared tables. Fails with the reasons, also with faults in
 * content/ and mails/: the start that follows would be refused, while the former version no longer suits the tables.
 */
export const withSchema = async <Value>(
  options: CommandContext,
  work: SchemaWork<Value>,
): Promise<Result<Value, string>> => run(options, work, { isDeploy: true })

/** The same for a plan. If the embedded database does not exist yet, an empty one in memory is used. */
export const withSchemaToPlan = async <Value>(
  options: CommandContext,
  work: SchemaWork<Value>,
): Promise<Result<Value, string>> => run(options, work, { isDeploy: true, unstarted: IN_MEMORY })

/** The same for other read-only work, which does not depend on content/ and mails/. */
export const withSchemaReadOnly = async <Value>(
  options: CommandContext,
  work: SchemaWork<Value>,
): Promise<Result<Value, string>> => run(options, work, { unstarted: IN_MEMORY })

type Unstarted = Pick<Parameters<typeof withDatabase>[2], 'embedded'>

const IN_MEMORY: Unstarted = { embedded: { dataDir: 'memory://' } }

interface RunOptions {
  /** A start with the same files follows. */
  readonly isDeploy?: boolean
  readonly unstarted?: Unstarted
}

async function run<Value>(
  options: CommandContext,
  work: SchemaWork<Value>,
  { isDeploy = false, unstarted = {} }: RunOptions,
): Promise<Result<Value, string>> {
  const loaded = await loadSchema(options)
  if (!loaded.ok) return loaded
  const { project } = loaded.value
  const content = isDeploy ? await loadDeployed(loaded.value, options) : ok(null)
  if (!content.ok) return content
  const checkOn = (database: Database): ResultCheck =>
    content.value === null
      ? NO_RESULT_CHECK
      : refuseContentConflicts(content.value, { ...loaded.value, database, root: options.folder })
  const workOn = (database: Database) => work(database, { ...loaded.value, checkResult: checkOn(database) })
  return withDatabase(project, workOn, {
    ...options,
    ...(isNeverStarted(project) ? unstarted : {}),
  })
}

/** What a start reads besides the schema: `content/`, and `mails/` for its faults. */
async function loadDeployed(
  { project, model }: SchemaProject,
  { env, folder }: CommandContext,
): Promise<Result<Content, string>> {
  const content = await loadContent(project, model, env)
  const mails = await loadTemplates(project)
  const reasons = [content, mails].flatMap(read => (read.ok ? [] : read.reasons))
  return content.ok && mails.ok
    ? content
    : failed(...reasons.map(fromWorkingDirectory(folder)).map(printDiagnostic))
}

/** The parts of a project that its documents need. */
export interface StoredProject {
  readonly project: Project
  readonly model: Model
  readonly storage: Storage
}

/** The parts of a project that its tables need. */
interface SchemaProject extends StoredProject {
  readonly tables: readonly Table[]
  /** The files of migrations/. */
  readonly files: readonly CustomMigration[]
  /** Users with a removed role. */
  readonly checkRows: RowCheck
}

async function loadSchema(context: CommandContext): Promise<Result<SchemaProject, string>> {
  const stored = await loadStoredProject(context)
  if (!stored.ok) return stored
  const files = await loadMigrations(stored.value.project.root)
  if (!files.ok)
    return failed(...files.reasons.map(fromWorkingDirectory(context.folder)).map(printDiagnostic))
  const { project, storage } = stored.value
  const checkRows = refuseAssignedRoles(project.settings.roles, stored.value)
  return ok({ ...stored.value, tables: storage.tables, files: files.value, checkRows })
}

/** Loads a project and compiles its model and storage. Fails with printed diagnostics. */
export async function loadStoredProject({
  folder,
  env,
}: Pick<CommandContext, 'folder' | 'env'>): Promise<Result<StoredProject, string>> {
  const open = fromWorkingDirectory(folder)
  const project = await loadProject(folder, env)
  if (!project.ok) return failed(...project.reasons.map(open).map(printDiagnostic))
  const model = compileModel(project.value)
  if (!model.ok) return failed(...model.reasons.map(open).map(printDiagnostic))
  const declared = checkDeclaredValues(project.value, model.value)
  if (!declared.ok) return failed(...declared.reasons.map(open).map(printDiagnostic))
  const storage = checkedProjectStorage(project.value, model.value)
  if (!storage.ok) return failed(...storage.reasons.map(open).map(printDiagnostic))
  return ok({ project: project.value, model: model.value, storage: storage.value })
}

/** Prints the reasons of a failed command and returns its exit code. */
export function printReasons({ writeError }: CommandContext, reasons: readonly string[]): 1 {
  writeError(`${reasons.join('\n\n')}\n`)
  return 1
}
