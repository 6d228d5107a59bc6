import { readFile, stat } from 'node:fs/promises'
import { join, relative, sep } from 'node:path'
import { nearest } from '../../base/nearest.ts'
import { readFolder } from '../../base/read-folder.ts'
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
  const modules = found.flatMap(each => each.modules)
  const [badNames, good] = [modules.filter(isMisnamed), modules.filter(module => !isMisnamed(module))]
  const twice = good.filter((module, at) => at !== firstIndex(good, module))
  return {
    modules: good.filter(module => !twice.includes(module)),
    faults: [
      ...found.flatMap(each => each.faults),
      ...(await misplacedModules(root, modules)),
      ...badNames.map(misnamed),
      ...twice.map(module => duplicate(module, good[firstIndex(good, module)] ?? module)),
    ],
  }
}

const MODULE = /(?<!\.d)\.[mc]?[jt]s$/

const nameIn = (folder: string, file: string): string =>
  relative(folder, file).split(sep).join('/').replace(MODULE, '')

async function modulesOfKind(kind: PluginKind, root: string): Promise<FoundModules> {
  const folder = join(root, FOLDERS[kind])
  const shown = (path: string) => `${FOLDERS[kind]}/${relative(folder, path).split(sep).join('/')}`
  const { files, links } = await listFiles(folder)
  const modules = files
    .filter(file => MODULE.test(file))
    .toSorted()
    .map(file => ({ kind, name: nameIn(folder, file), file, shown: shown(file) }))
  return {
    modules,
    faults: [
      ...links.toSorted().map(link => linkedFolder(shown(link))),
      ...files
        .filter(file => /\.[jt]sx$/.test(file))
        .toSorted()
        .map(file => unknownEnding(shown(file))),
    ],
  }
}

/**
 * Reports plugins in folders whose names are nearly right (`policy/`, `src/extensions/`): nothing would read them. Those that are also
 * in the right folder are there on purpose, compiled or imported.
 */
async function misplacedModules(
  root: string,
  modules: readonly PluginModule[],
): Promise<readonly Diagnostic[]> {
  const names = Object.values(FOLDERS)
  const entries = await readFolder(root)
  const near = entries
    .filter(
      ({ name }) => !names.includes(name) && nearest(name.toLowerCase(), [...names, ...KINDS]) !== undefined,
    )
    .map(({ name }) => name)
  const folders = [...near, ...names.map(name => join('src', name))].map(folder => join(root, folder))
  const faults = await Promise.all(
    folders.map(async folder => {
      const { files } = await listFiles(folder)
      const own = files.filter(file => MODULE.test(file)).toSorted()
      return Promise.all(own.map(file => misplacedFault(file, { root, folder, modules })))
    }),
  )
  return faults.flat(2)
}

interface Searched {
  readonly root: string
  readonly folder: string
  readonly modules: readonly PluginModule[]
}

const DEFINES = /^export default define(Policy|Middleware|Extension)\b/m

async function misplacedFault(
  file: string,
  { root, folder, modules }: Searched,
): Promise<readonly Diagnostic[]> {
  const made = DEFINES.exec(await readFile(file, 'utf8'))?.[1]?.toLowerCase()
  const kind = KINDS.find(each => each === made)
  const name = nameIn(folder, file)
  if (kind === undefined || modules.some(each => each.kind === kind && each.name === name)) return []
  const message = `this ${kind} is not loaded: move it into ${FOLDERS[kind]}/, next to project.yaml`
  return [diagnoseModule('bad-module', message, { file: relative(root, file).split(sep).join('/') })]
}

interface ListedFiles {
  readonly files: readonly string[]
  /** Symbolic links to folders. */
  readonly links: readonly string[]
}

/** Empty if the folder does not exist. */
async function listFiles(folder: string): Promise<ListedFiles> {
  const entries = await readFolder(folder)
  const below = await Promise.all(
    entries.map(async (entry): Promise<ListedFiles> => {
      const path = join(folder, entry.name)
      if (entry.name === 'node_modules' || entry.name.startsWith('.')) return { files: [], links: [] }
      if (entry.isDirectory()) return listFiles(path)
      const isLink = entry.isSymbolicLink() && (await isFolder(path))
      return isLink ? { files: [], links: [path] } : { files: [path], links: [] }
    }),
  )
  return { files: below.flatMap(each => each.files), links: below.flatMap(each => each.links) }
}

/** False for a broken link: loading its file reports the reason. */
const isFolder = async (path: string): Promise<boolean> =>
  stat(path).then(
    found => found.isDirectory(),
    () => false,
  )

const linkedFolder = (shown: string): Diagnostic =>
  diagnoseModule('bad-module', 'a symbolic link to a folder is not followed: move the modules here', {
    file: shown,
  })

const unknownEnding = (shown: string): Diagnostic =>
  diagnoseModule('bad-module', 'a plugin is no JSX: end its name in .ts or .js', { file: shown })

const NAME = /^[a-z][a-z0-9]*(-[a-z0-9]+)*(\/[a-z][a-z0-9]*(-[a-z0-9]+)*)*$/

const isMisnamed = ({ name }: PluginModule): boolean => !NAME.test(name)

const misnamed = ({ kind, name, shown }: PluginModule): Diagnostic =>
  diagnoseModule(
    'bad-module-name',
    `\`${name}\` is no name for ${kind === 'extension' ? 'an' : 'a'} ${kind}: it is the file's, in small letters and hyphens, such as \`has-role.ts\`; what several modules share lies outside ${FOLDERS[kind]}/`,
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
): Diagnostic => ({ code, message, path: [], location: { file, line, column, source } })
