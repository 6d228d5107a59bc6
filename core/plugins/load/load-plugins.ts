import { failed, ok, type Result } from '../../base/result.ts'
import type { Diagnostic } from '../../faults/diagnostic.ts'
import type { Model } from '../../model/model.ts'
import type { Project } from '../../project/project.ts'
import type { Extension, Plugins } from '../extension.ts'
import type { Middleware } from '../middleware.ts'
import { moduleKind } from '../plugin-module.ts'
import type { Policy } from '../policy.ts'
import { checkUses } from './check-uses.ts'
import { diagnoseModule, FOLDERS, findModules, type PluginModule } from './find-modules.ts'
import { MIGRATIONS } from './load-migrations.ts'
import { defaultExport, loadedFiles, type ModuleLoader, moduleError, openLoader } from './module-loader.ts'

/** Loads a project's plugins and checks their uses in project.yaml. Fails with all faults of both. */
export async function loadPlugins(project: Project, model: Model): Promise<Result<Plugins, Diagnostic>> {
  const found = await findModules(project.root)
  const { plugins, faults } = await loadModules(found.modules, project.root)
  const known = new Map(found.modules.map(({ kind, name, shown }) => [`${kind} ${name}`, shown]))
  const uses = await checkUses({ project, model, plugins, known })
  const all = [...found.faults, ...faults, ...uses]
  return all.length > 0 ? failed(...all) : ok(plugins)
}

interface LoadedPlugins {
  readonly plugins: Plugins
  readonly faults: readonly Diagnostic[]
}

/** Loads modules; returns those that could be loaded, and the faults of the others. */
export async function loadModules(modules: readonly PluginModule[], root: string): Promise<LoadedPlugins> {
  const policies = new Map<string, Policy>()
  const middlewares = new Map<string, Middleware>()
  const extensions = new Map<string, Extension>()
  const faults: Diagnostic[] = []
  if (modules.length > 0) {
    // The loader is loaded lazily: projects without plugins start faster.
    const loader = await openLoader(root)
    // Sequential, so that side effects of modules happen in the same order at every start.
    for (const module of modules) {
      const exported = await importModule(loader, module)
      if (!exported.ok) faults.push(...exported.reasons)
      else if (isPolicy(exported.value)) policies.set(module.name, exported.value)
      else if (isMiddleware(exported.value)) middlewares.set(module.name, exported.value)
      else if (isExtension(exported.value)) extensions.set(module.name, exported.value)
    }
  }
  const files = loadedFiles(root)
  return { plugins: Object.freeze({ policies, middlewares, extensions, files }), faults }
}

const isPolicy = (value: unknown): value is Policy => moduleKind(value) === 'policy'
const isMiddleware = (value: unknown): value is Middleware => moduleKind(value) === 'middleware'
const isExtension = (value: unknown): value is Extension => moduleKind(value) === 'extension'

async function importModule(
  loader: ModuleLoader,
  module: PluginModule,
): Promise<Result<unknown, Diagnostic>> {
  try {
    const exported = defaultExport(await loader.load(module.file))
    const kind = moduleKind(exported)
    return kind === module.kind ? ok(exported) : failed(wrongExport(module, exported))
  } catch (error) {
    return failed(moduleError(module, error))
  }
}

const DEFINE = {
  policy: 'definePolicy',
  middleware: 'defineMiddleware',
  extension: 'defineExtension',
} as const

function wrongExport({ kind, shown }: PluginModule, exported: unknown): Diagnostic {
  const found = moduleKind(exported)
  const folder = found === 'migration' ? MIGRATIONS : found && FOLDERS[found]
  const what = found ? `a ${found}, which belongs into ${folder}/` : 'something else'
  return diagnoseModule('bad-module', `expected \`export default ${DEFINE[kind]}(…)\`, found ${what}`, {
    file: shown,
  })
}
