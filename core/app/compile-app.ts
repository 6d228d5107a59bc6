import { join, sep } from 'node:path'
import { type Access, compileAccess, projectStorage } from '../access/compile/compile-access.ts'
import { failed, ok, type Result } from '../base/result.ts'
import type { Content } from '../content/content.ts'
import { loadContent } from '../content/load-content.ts'
import { checkDeclaredValues } from '../documents/values/check-declared-values.ts'
import type { Diagnostic } from '../faults/diagnostic.ts'
import { loadTemplates, MAILS_FOLDER, type MailTemplates } from '../mail/load-templates.ts'
import type { CustomMigration } from '../migrate/custom-migrations/custom-migration.ts'
import { compileModel } from '../model/compile-model.ts'
import type { Model } from '../model/model.ts'
import type { Storage } from '../model/storage.ts'
import type { Plugins } from '../plugins/extension.ts'
import { FOLDERS } from '../plugins/load/find-modules.ts'
import { loadMigrations } from '../plugins/load/load-migrations.ts'
import { checkPluginNames, loadPlugins, type ReportSlowModule } from '../plugins/load/load-plugins.ts'
import type { Environment } from '../project/environment.ts'
import { loadProject } from '../project/load-project.ts'
import type { Project } from '../project/project.ts'

/** A validated project and everything compiled from its files; nothing is opened yet. Frozen. */
export interface Blueprint {
  readonly project: Project
  readonly model: Model
  readonly storage: Storage
  readonly access: Access
  readonly content: Content
  readonly plugins: Plugins
  /** The files of mails/. */
  readonly mails: MailTemplates
  /** The files of migrations/. */
  readonly migrations: readonly CustomMigration[]
}

/** Loads and compiles a project folder. Fails with all diagnostics of its files. */
export async function compileApp(
  folder: string,
  env: Environment,
  reportModule?: ReportSlowModule,
): Promise<Result<Blueprint, Diagnostic>> {
  const project = await loadProject(folder, env)
  if (!project.ok) return project
  const model = compileModel(project.value)
  if (!model.ok) return failed(...model.reasons, ...(await checkPluginNames(project.value)))
  const access = compileAccess(project.value, model.value)
  const content = await loadContent(project.value, model.value, env)
  const plugins = await loadPlugins(project.value, model.value, reportModule)
  const migrations = await loadMigrations(project.value.root)
  const mails = await loadTemplates(project.value)
  const declared = checkDeclaredValues(project.value, model.value)
  if (!access.ok || !declared.ok || !content.ok || !plugins.ok || !migrations.ok || !mails.ok)
    return failed(...[access, declared, content, plugins, migrations, mails].flatMap(reasonsOf))
  return ok(
    Object.freeze({
      project: project.value,
      model: model.value,
      storage: projectStorage(project.value, model.value),
      access: access.value,
      content: content.value,
      plugins: plugins.value,
      mails: mails.value,
      migrations: migrations.value,
    }),
  )
}

/**
 * Compiles again after a change of `changed` (paths relative to the project's folder), and reuses everything in `before`
 * that does not depend on them. An empty list: any file may have changed.
 */
export async function recompileApp(
  before: Blueprint,
  changed: readonly string[],
  env: Environment,
  reportModule?: ReportSlowModule,
): Promise<Result<Blueprint, Diagnostic>> {
  const { project, model } = before
  const kinds = new Set(changed.map(file => kindOfFile(file, project)))
  if (changed.length === 0 || kinds.has('project')) return compileApp(project.root, env, reportModule)
  const content = kinds.has('content') ? await loadContent(project, model, env) : ok(before.content)
  const plugins = await loadPlugins(project, model, reportModule)
  const mails = kinds.has('mails') ? await loadTemplates(project) : ok(before.mails)
  if (!content.ok || !plugins.ok || !mails.ok) return failed(...[content, plugins, mails].flatMap(reasonsOf))
  const read = { content: content.value, plugins: plugins.value, mails: mails.value }
  return ok(Object.freeze({ ...before, ...read }))
}

type FileKind = 'project' | 'content' | 'mails' | 'plugins'

function kindOfFile(file: string, { root, files }: Project): FileKind {
  const [folder = ''] = file.split(sep)
  if (files.includes(join(root, file))) return 'project'
  if (folder === 'content' || folder === MAILS_FOLDER) return folder
  if (PLUGIN_FOLDERS.includes(folder)) return 'plugins'
  return /(^|[/\\])\.env$|\.ya?ml$/.test(file) ? 'project' : 'plugins'
}

const PLUGIN_FOLDERS = Object.values(FOLDERS)

const reasonsOf = (result: Result<unknown, Diagnostic>): readonly Diagnostic[] =>
  result.ok ? [] : result.reasons
