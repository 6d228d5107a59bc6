import { compileAccess } from '../access/compile/compile-access.ts'
import { failed, type Result } from '../base/result.ts'
import { loadContent } from '../content/load-content.ts'
import { checkDeclaredValues } from '../documents/values/check-declared-values.ts'
import type { Diagnostic } from '../faults/diagnostic.ts'
import { loadTemplates } from '../mail/load-templates.ts'
import { compileModel } from '../model/compile-model.ts'
import { checkMigrations, loadMigrations } from '../plugins/load/load-migrations.ts'
import { checkPluginNames, loadPlugins, type ReportSlowModule } from '../plugins/load/load-plugins.ts'
import type { Environment } from '../project/environment.ts'
import type { Project } from '../project/project.ts'
import { checkPlugins } from './open-plugins.ts'

/** The checks that `plinth check` runs after those of the project file itself. */
export const checkApp =
  (env: Environment, reportModule?: ReportSlowModule) =>
  async (project: Project): Promise<Result<unknown, Diagnostic>> => {
    const model = compileModel(project)
    if (!model.ok) return failed(...model.reasons, ...(await checkPluginNames(project)))
    const plugins = await loadPlugins(project, model.value, reportModule)
    const results = [
      compileAccess(project, model.value),
      checkDeclaredValues(project, model.value),
      await loadContent(project, model.value, env),
      plugins,
      await loadMigrations(project.root),
      await loadTemplates(project),
    ]
    const registering = plugins.ok ? await checkPlugins(project, model.value, plugins.value) : []
    const modules = await checkMigrations(project.root)
    return failed(...results.flatMap(reasonsOf), ...registering, ...modules)
  }

const reasonsOf = (result: Result<unknown, Diagnostic>): readonly Diagnostic[] =>
  result.ok ? [] : result.reasons
