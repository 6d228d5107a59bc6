import { createRequire } from 'node:module'
import { join, sep } from 'node:path'
import type { Jiti } from 'jiti'
import { failed, ok, type Result } from '../base/result.ts'
import type { Diagnostic } from '../faults/diagnostic.ts'
import type { Model } from '../model/model.ts'
import type { Project } from '../project/project.ts'
import { checkUses } from './check-uses.ts'
import type { Extension } from './extension.ts'
import { FOLDERS, findModules, type PluginModule } from './find-modules.ts'
import { kindOf } from './kind.ts'
import type { Middleware } from './middleware.ts'
import { moduleError } from './module-error.ts'
import { diagnoseModule } from './plugin-fault.ts'
import * as names from './plugin-names.ts'
import type { Plugins } from './plugins.ts'
import type { Policy } from './policy.ts'

/** A project's plugins, loaded, and all that project.yaml says of them in order; or everything that is wrong with either. */
export async function loadPlugins(project: Project, model: Model): Promise<Result<Plugins, Diagnostic>> {
  const found = await findModules(project.root)
  const { plugins, faults } = await loadModules(found.modules, project.root)
  const known = new Map(found.modules.map(({ kind, name, shown }) => [`${kind} ${name}`, shown]))
  const uses = checkUses({ project, model, plugins, known })
  const all = [...found.faults, ...faults, ...uses]
  return all.length > 0 ? failed(...all) : ok(plugins)
}

interface Loaded {
  readonly plugins: Plugins
  readonly faults: readonly Diagnostic[]
}

async function loadModules(modules: readonly PluginModule[], root: string): Promise<Loaded> {
  const policies = new Map<string, Policy>()
  const middlewares = new Map<string, Middleware>()
  const extensions = new Map<string, Extension>()
  const faults: Diagnostic[] = []
  if (modules.length > 0) {
    const jiti = await openLoader(root)
    // One after the other: what modules do while they are loaded happens in the same order at every start.
    for (const module of modules) {
      const exported = await importOf(jiti, module)
      if (!exported.ok) faults.push(...exported.reasons)
      else if (isPolicy(exported.value)) policies.set(module.name, exported.value)
      else if (isMiddleware(exported.value)) middlewares.set(module.name, exported.value)
      else if (isExtension(exported.value)) extensions.set(module.name, exported.value)
    }
  }
  return { plugins: Object.freeze({ policies, middlewares, extensions }), faults }
}

const isPolicy = (value: unknown): value is Policy => kindOf(value) === 'policy'
const isMiddleware = (value: unknown): value is Middleware => kindOf(value) === 'middleware'
const isExtension = (value: unknown): value is Extension => kindOf(value) === 'extension'

/**
 * TypeScript and JavaScript without a build step. Nothing is written to disk: a cache in a shared folder is a way in.
 * A project without plugins does not wait for the loader itself.
 */
async function openLoader(root: string): Promise<Jiti> {
  const { createJiti } = await import('jiti')
  forget(root)
  return createJiti(join(root, 'project.yaml'), {
    virtualModules: { plinth: names },
    fsCache: false,
    interopDefault: false,
    sourceMaps: true,
  })
}

/** jiti keeps modules where Node does: what was loaded before a reload would stay. */
function forget(root: string): void {
  const { cache } = createRequire(import.meta.url)
  const isOwn = (file: string) => file.startsWith(root + sep) && !file.includes(`${sep}node_modules${sep}`)
  for (const file of Object.keys(cache).filter(isOwn)) delete cache[file]
}

async function importOf(jiti: Jiti, module: PluginModule): Promise<Result<unknown, Diagnostic>> {
  try {
    const exported = defaultOf(await jiti.import(module.file))
    const kind = kindOf(exported)
    return kind === module.kind ? ok(exported) : failed(wrongExport(module, exported))
  } catch (error) {
    return failed(moduleError(module, error))
  }
}

/** CommonJS modules are what they export. */
const defaultOf = (exported: unknown): unknown =>
  typeof exported === 'object' && exported !== null && 'default' in exported ? exported.default : exported

const DEFINE = {
  policy: 'definePolicy',
  middleware: 'defineMiddleware',
  extension: 'defineExtension',
} as const

function wrongExport({ kind, shown }: PluginModule, exported: unknown): Diagnostic {
  const found = kindOf(exported)
  const what = found ? `a ${found}, which belongs into ${FOLDERS[found]}/` : 'something else'
  return diagnoseModule('bad-module', `expected \`export default ${DEFINE[kind]}(…)\`, found ${what}`, {
    file: shown,
  })
}
