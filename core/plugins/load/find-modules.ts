import type { Dirent } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'
import type { Diagnostic } from '../../faults/diagnostic.ts'
import type { PluginKind } from '../plugin-module.ts'

/** Folders of plugin modules, next to project.yaml. */
export const FOLDERS: Readonly<Record<PluginKind, string>> = {
  policy: 'policies',
  middleware: 'middlewares',
  extension: 'extensions',
}

export const KINDS: readonly PluginKind[] = ['policy', 'middleware', 'extension']

export interface PluginModule {
  readonly kind: PluginKind
  /** Path in the folder without extension: `owns-document`, `billing/has-plan`. */
  readonly name: string
  /** Absolute. */
  readonly file: string
  /** `policies/owns-document.ts` */
  readonly shown: string
}

export interface FoundModules {
  /** Policies, middlewares, extensions, each sorted by name. */
  readonly modules: readonly PluginModule[]
  readonly faults: readonly Diagnostic[]
}

/** Finds modules in the three folders; other files are ignored. */
export async function findModules(root: string): Promise<FoundModules> {
  const found = await Promise.all(KINDS.map(kind => modulesOfKind(kind, root)))
  const modules = found.flat()
  const [badNames, good] = [modules.filter(isMisnamed), modules.filter(module => !isMisnamed(module))]
  const twice = good.filter((module, at) => at !== firstIndex(good, module))
  return {
    modules: good.filter(module => !twice.includes(module)),
    faults: [
      ...badNames.map(misnamed),
      ...twice.map(module => duplicate(module, good[firstIndex(good, module)] ?? module)),
    ],
  }
}

const MODULE = /(?<!\.d)\.[mc]?[jt]s$/

async function modulesOfKind(kind: PluginKind, root: string): Promise<readonly PluginModule[]> {
  const folder = join(root, FOLDERS[kind])
  const files = await listFiles(folder)
  return files
    .filter(file => MODULE.test(file))
    .toSorted()
    .map(file => {
      const path = relative(folder, file).split(sep).join('/')
      return { kind, name: path.replace(MODULE, ''), file, shown: `${FOLDERS[kind]}/${path}` }
    })
}

/** Empty if the folder does not exist. */
async function listFiles(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(noFolder)
  const below = await Promise.all(
    entries.map(entry => {
      const path = join(folder, entry.name)
      if (entry.name === 'node_modules' || entry.name.startsWith('.')) return []
      return entry.isDirectory() ? listFiles(path) : [path]
    }),
  )
  return below.flat()
}

function noFolder(error: unknown): readonly Dirent[] {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  if (code === 'ENOENT' || code === 'ENOTDIR') return []
  throw error
}

const NAME = /^[a-z][a-z0-9]*(-[a-z0-9]+)*(\/[a-z][a-z0-9]*(-[a-z0-9]+)*)*$/

const isMisnamed = ({ name }: PluginModule): boolean => !NAME.test(name)

const misnamed = ({ kind, name, shown }: PluginModule): Diagnostic =>
  diagnoseModule(
    'bad-module-name',
    `\`${name}\` is no name for a ${kind}: it is the file's, in small letters and hyphens, such as \`has-role.ts\`; what several modules share lies outside ${FOLDERS[kind]}/`,
    { file: shown },
  )

const firstIndex = (modules: readonly PluginModule[], { kind, name }: PluginModule): number =>
  modules.findIndex(other => other.kind === kind && other.name === name)

const duplicate = ({ kind, name, shown }: PluginModule, first: PluginModule): Diagnostic =>
  diagnoseModule('duplicate-module', `${first.shown} is the ${kind} \`${name}\` already`, { file: shown })

/** All diagnostic codes of this module: faults of plugins and of their uses in project.yaml. */
export type PluginFault =
  | 'bad-module'
  | 'bad-module-name'
  | 'duplicate-module'
  | 'bad-migration'
  | 'unknown-policy'
  | 'unknown-middleware'
  | 'wrong-middleware'
  | 'bad-config'
  | 'unknown-route'
  | 'unknown-scope'

interface ModulePlace {
  /** Relative to the project's folder. */
  readonly file: string
  readonly line?: number
  readonly column?: number
  readonly source?: string
}

export const diagnoseModule = (
  code: PluginFault,
  message: string,
  { file, line = 1, column = 1, source = '' }: ModulePlace,
): Diagnostic => ({ code, message, path: [], place: { file, line, column, source } })
