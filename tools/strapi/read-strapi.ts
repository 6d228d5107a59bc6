import { readdir, readFile, realpath, stat } from 'node:fs/promises'
import { basename, dirname, join, posix, relative, resolve, sep } from 'node:path'
import { isRecord } from '../../core/base/plain-data.ts'
import { failed, ok, type Result } from '../../core/base/result.ts'
import { ticked } from '../../core/base/text.ts'
import type { Json } from '../../core/project/settings/settings.ts'
import { addedAttributes, isExtended, toHolder, toType } from './convert/to-holder.ts'
import { findOwnCode, findPanelPlugins } from './read/find-own-code.ts'
import {
  EMPTY_MAPPING,
  fromJson,
  isMapping,
  type LiteralValue,
  mappingAt,
  mergeValues,
  scriptPlace,
  textAt,
  toJson,
} from './read/literal-value.ts'
import { moduleLoader, type ScriptLoader } from './read/module-scope.ts'
import { publicFiles } from './read/public-files.ts'
import { readExported } from './read/read-exported.ts'
import { type StrapiFacts, syncedFacts } from './read/read-facts.ts'
import type { StrapiHolder, StrapiProject, StrapiType } from './read/strapi-project.ts'

/** The state of reading a project's folder. */
interface Reading {
  readonly folder: string
  readonly files: readonly string[]
  readonly load: ScriptLoader
  readonly unreadable: string[]
  /** Read files that Strapi would not read as they are. */
  readonly irregular: string[]
}

/** Reads a Strapi 4 or 5 project in JavaScript or TypeScript without running its code. */
export async function readStrapi(folder: string): Promise<Result<StrapiProject, string>> {
  const root = resolve(folder)
  const found = await stat(root).catch((error: NodeJS.ErrnoException) => error)
  if (found instanceof Error || !found.isDirectory())
    return failed(
      `\`${folder}\` is not a folder: give the folder of the Strapi project, with its package.json`,
    )
  const unreadable: string[] = []
  const files = await filesOf(root, unreadable)
  const reading: Reading = { folder: root, files, load: moduleLoader(root), unreadable, irregular: [] }
  const manifest = (await readGiven(reading, 'package.json')) ?? EMPTY_MAPPING
  const version = await versionOf(reading, manifest, '.')
  if (version === undefined) return failed(await explainNoProject(reading, folder, manifest))
  return ok(await readProject(reading, manifest, version))
}

/** Names the Strapi projects in folders below, as a repository with a front-end has them. */
async function explainNoProject(reading: Reading, folder: string, manifest: LiteralValue): Promise<string> {
  const wanted = textAt(manifest, 'dependencies', '@strapi/strapi')
  const why =
    wanted === undefined
      ? 'its package.json names no `@strapi/strapi` of these versions'
      : `its package.json names \`@strapi/strapi\` as \`${wanted}\`, and node_modules has none of these versions`
  const below: string[] = []
  for (const file of reading.files.filter(each => /^(?:[^/]+\/){1,3}package\.json$/.test(each)))
    if (
      (await versionOf(reading, (await readGiven(reading, file)) ?? EMPTY_MAPPING, dirname(file))) !==
      undefined
    )
      below.push(`\`${join(folder, dirname(file))}\``)
  const hint = below.length === 0 ? '' : `. Did you mean ${below.slice(0, 3).join(' or ')}?`
  return `\`${folder}\` is not a Strapi 4 or 5 project: ${why}${hint}`
}

async function readProject(reading: Reading, manifest: LiteralValue, version: 4 | 5): Promise<StrapiProject> {
  const [server, api, plugins, middlewares, admin] = await Promise.all(
    [...CONFIGS, 'admin'].map(name => readConfig(reading, name)),
  )
  const contentTypes = await readTypes(reading, plugins ?? EMPTY_MAPPING)
  const components = await readComponents(reading)
  const user = await readUser(reading)
  const packages = [...mappingAt(manifest, 'dependencies').keys()]
  const served = resolve(reading.folder, textAt(server, 'dirs', 'public') ?? 'public')
  return {
    folder: reading.folder,
    uploads: join(served, 'uploads'),
    served: await publicFiles(served),
    name: textAt(manifest, 'name')?.trim() || basename(reading.folder),
    version,
    contentTypes,
    components,
    user,
    synced: await readSynced(reading, plugins ?? EMPTY_MAPPING),
    config: {
      server: server ?? EMPTY_MAPPING,
      api: api ?? EMPTY_MAPPING,
      plugins: plugins ?? EMPTY_MAPPING,
      middlewares: middlewares ?? EMPTY_MAPPING,
      admin: admin ?? EMPTY_MAPPING,
    },
    environments: environmentsOf(reading.files),
    packages,
    pluginPackages: await pluginsIn(packages, reading.folder),
    panelPlugins: findPanelPlugins(reading.files),
    ...findOwnCode(reading.load, reading.files, contentTypes),
    unreadable: reading.unreadable,
    irregular: [...reading.irregular, ...missingSchemas(reading.files)],
  }
}

/**
 * `^5.1.0`, `~4.25`, `5`, `>=5.0.0`; `latest` is the newest. A range that is kept elsewhere (`catalog:` and `workspace:*` of
 * pnpm, `*`) is that of the installed package.
 */
async function versionOf(
  reading: Reading,
  manifest: LiteralValue,
  folder: string,
): Promise<4 | 5 | undefined> {
  const wanted = textAt(manifest, 'dependencies', '@strapi/strapi')
  if (wanted === undefined) return undefined
  if (wanted === 'latest') return 5
  const { version } = await installedManifest(join(reading.folder, folder), '@strapi/strapi')
  return majorOf(wanted) ?? majorOf(typeof version === 'string' ? version : '')
}

function majorOf(range: string): 4 | 5 | undefined {
  const major = range.match(/\d+/)?.[0]
  return major === '4' ? 4 : major === '5' ? 5 : undefined
}

/** As Node finds packages: workspaces keep theirs in a folder above. Empty: there is none. */
async function installedManifest(folder: string, name: string): Promise<Readonly<Record<string, unknown>>> {
  const text = await readFile(join(folder, 'node_modules', name, 'package.json'), 'utf8').catch(() => null)
  if (text === null) return dirname(folder) === folder ? {} : installedManifest(dirname(folder), name)
  const { value } = parseJson(text)
  return isRecord(value) ? value : {}
}

/** Strapi starts each installed package whose package.json says `strapi: { kind: plugin }`, whatever its name is. */
async function pluginsIn(
  packages: readonly string[],
  folder: string,
): Promise<StrapiProject['pluginPackages']> {
  const found = new Map<string, string>()
  for (const name of packages) {
    const { strapi } = await installedManifest(folder, name)
    if (isRecord(strapi) && strapi.kind === 'plugin')
      found.set(name, typeof strapi.name === 'string' ? strapi.name : name)
  }
  return found
}

const CONFIGS = ['server', 'api', 'plugins', 'middlewares']

/** Folders with dependencies, at any depth. */
const DEPENDENCIES: ReadonlySet<string> = new Set(['node_modules', '.git'])
/** Folders of the project with build output or other files that are not source. */
const OUTPUT: ReadonlySet<string> = new Set(['dist', 'build', '.cache', '.tmp', 'public'])

/** All files, relative to the folder, with `/` between parts, sorted. Symbolic links are followed, also to other folders. */
async function filesOf(root: string, unreadable: string[]): Promise<readonly string[]> {
  const found: string[] = []
  const skips = (name: string, depth: number): boolean =>
    DEPENDENCIES.has(name) || (depth === 0 && OUTPUT.has(name))
  const visit = async (path: string, above: readonly string[]): Promise<void> => {
    if (!(await stat(path)).isDirectory()) return void found.push(relative(root, path).split(sep).join('/'))
    const real = await realpath(path)
    const names = above.includes(real) ? [] : await readdir(path)
    for (const name of names.filter(each => !skips(each, above.length)))
      await visit(join(path, name), [...above, real]).catch((error: Error) => {
        unreadable.push(`${relative(root, join(path, name)).split(sep).join('/')}: ${error.message}`)
      })
  }
  await visit(root, [])
  return found.sort()
}

/** Reads a JSON file or a module. If that fails: undefined, and the reason is added to `unreadable`. */
async function readGiven(reading: Reading, file: string): Promise<LiteralValue | undefined> {
  const { folder, unreadable, load } = reading
  try {
    if (!file.endsWith('.json')) return readExported(load(file))
    const text = await readFile(join(folder, file), 'utf8')
    const { value, fault } = parseJson(text.replace(/^\uFEFF/, ''))
    const located = fault === null && !file.startsWith('src/') ? undefined : readLocated(reading, file)
    if (fault === null) return located ?? fromJson(value)
    if (located === undefined) unreadable.push(`${file}:${fault}`)
    else reading.irregular.push(`${file}:${fault}; it was read without its comments and trailing commas`)
    return located
  } catch (error) {
    unreadable.push(`${file}: ${error instanceof Error ? error.message : String(error)}`)
    return undefined
  }
}

/** JSON with positions of keys, also with comments and trailing commas; undefined for anything else. */
function readLocated({ load }: Reading, file: string): LiteralValue | undefined {
  try {
    const module = load(file)
    const value = module.body.length === 1 ? readExported(module) : undefined
    return toJson(value) === undefined ? undefined : value
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

/** `fault`: `line:column reason`; null: the text is JSON. */
function parseJson(text: string): { readonly value: Json; readonly fault: string | null } {
  try {
    return { value: JSON.parse(text), fault: null }
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    const [, position] = /at position (\d+)/.exec(error.message) ?? []
    const before = text.slice(0, position === undefined ? text.length : Number(position)).split('\n')
    const place = `${before.length}:${(before.at(-1) ?? '').length + 1}`
    return { value: null, fault: `${place} invalid JSON: ${error.message}` }
  }
}

/** The environment whose settings are imported. */
const PRODUCTION = 'config/env/production/'

/** The settings of a module of config/, with those of production. */
async function readConfig(reading: Reading, name: string): Promise<LiteralValue | undefined> {
  const files = ['config/', PRODUCTION].map(folder => configFile(reading, `${folder}${name}`))
  const [base, production] = await Promise.all(
    files.map(file => (file === undefined ? undefined : readGiven(reading, file))),
  )
  return mergeValues(base, production)
}

/** The first extension wins: Strapi does not merge these files. */
function configFile({ files, irregular }: Reading, name: string): string | undefined {
  const [file, ...others] = ['ts', 'js', 'json', 'mjs', 'cjs']
    .map(ending => `${name}.${ending}`)
    .filter(each => files.includes(each))
  for (const other of others) irregular.push(`${other} was not read: ${file} has the same name`)
  return file
}

function environmentsOf(files: readonly string[]): StrapiProject['environments'] {
  const merged = CONFIGS.flatMap(name => files.filter(file => file.startsWith(`${PRODUCTION}${name}.`)))
  const others = files.flatMap(file => /^config\/env\/([^/]+)\//.exec(file)?.[1] ?? [])
  return { merged, unread: [...new Set(others)].filter(name => name !== 'production') }
}

/** Folders of content-types whose schema is missing. */
function missingSchemas(files: readonly string[]): readonly string[] {
  const folders = new Set(
    files.flatMap(file => /^src\/api\/[^/]+\/content-types\/[^/]+(?=\/)/.exec(file)?.[0] ?? []),
  )
  return [...folders]
    .filter(folder => !files.some(file => file.startsWith(`${folder}/schema.`)))
    .map(folder => `${folder}/ has no schema, so it became no content-type`)
}

/** The files of the plugin config-sync. */
async function readSynced(reading: Reading, plugins: LiteralValue): Promise<StrapiFacts | null> {
  const folder = syncFolder(plugins)
  const files = new Map<string, LiteralValue>()
  for (const file of reading.files.filter(each => each.startsWith(folder) && each.endsWith('.json'))) {
    const value = SYNCED.test(basename(file)) ? await readGiven(reading, file) : undefined
    if (value !== undefined) files.set(basename(file, '.json'), value)
  }
  return syncedFacts(files)
}

/** The settings of roles, locales and sign-in. Other settings describe the admin panel. */
const SYNCED =
  /^(?:user-role|i18n-locale|core-store\.plugin_(?:i18n_default_locale|users-permissions_(?:advanced|email|grant)))\b/

const TYPE = /^src\/api\/([^/]+)\/content-types\/([^/]+)\/schema\.(?:json|js|ts)$/
/** Of a plugin in the project, or extended by it. */
const PLUGIN_TYPE =
  /^src\/(?:extensions|plugins)\/([^/]+)\/(?:server\/(?:src\/)?)?content-types\/([^/]+)\/schema\.(?:json|js|ts)$/
/** Plinth has its own content-types instead of these. */
const BUILT_IN_PLUGINS: ReadonlySet<string> = new Set([
  ...['users-permissions', 'upload', 'i18n', 'content-manager', 'content-releases', 'review-workflows'],
])
const COMPONENT = /^src\/components\/([^/]+)\/([^/]+)\.(?:json|js|ts)$/
const USER = /^src\/extensions\/users-permissions\/content-types\/user\/schema\.(?:json|js|ts)$/

/** What the project added to a content-type that Plinth has of its own. */
async function reportAddedAttributes(uid: string, file: string, reading: Reading): Promise<void> {
  if (!isExtended(uid)) return
  const added = addedAttributes(uid, await readSchema(reading, file))
  const why = `Plinth has its own \`${uid}\`, to which a project adds no attributes`
  if (added.length > 0) reading.unreadable.push(`${file}: ${ticked(added)}: ${why}`)
}

async function readTypes(reading: Reading, plugins: LiteralValue): Promise<readonly StrapiType[]> {
  const types: StrapiType[] = []
  const exported = await exportedTypes(reading, plugins)
  for (const file of reading.files) {
    const owner = TYPE.test(file) ? 'api' : 'plugin'
    const [, api, name] = (owner === 'api' ? TYPE : PLUGIN_TYPE).exec(file) ?? []
    if (api === undefined || name === undefined || exported.some(each => each.file === file)) continue
    if (owner === 'plugin' && BUILT_IN_PLUGINS.has(api)) {
      await reportAddedAttributes(`plugin::${api}.${name}`, file, reading)
      continue
    }
    const schema = await readSchema(reading, file)
    const plugin = owner === 'plugin' ? pluginName(file, api, plugins) : api
    if (schema !== undefined) types.push(toType({ owner, api: plugin, name, file, schema }))
  }
  return oneOfEach([...types, ...exported], reading)
}

const PLUGIN_INDEX = /^src\/plugins\/([^/]+)\/(?:server\/(?:src\/)?)?content-types\/index\.(?:js|ts)$/

/** Content-types of plugins in the project, by the keys under which the plugin exports them: their schemas may be in any file. */
async function exportedTypes(reading: Reading, plugins: LiteralValue): Promise<readonly StrapiType[]> {
  const types: StrapiType[] = []
  for (const index of reading.files) {
    const [, folder] = PLUGIN_INDEX.exec(index) ?? []
    if (folder === undefined) continue
    for (const [name, declared] of mappingAt(await readGiven(reading, index))) {
      const schema = mappingAt(declared, 'schema')
      const [file = index] = scriptPlace(schema, 'attributes')?.split(':') ?? []
      const api = pluginName(index, folder, plugins)
      if (schema.has('attributes')) types.push(toType({ owner: 'plugin', api, name, file, schema }))
    }
  }
  return types
}

/** The name by which config/plugins enables the plugin in a folder of `src/plugins`; or that of the folder. */
function pluginName(file: string, folder: string, plugins: LiteralValue): string {
  const named = [...mappingAt(plugins)].find(
    ([, declared]) => posix.join(textAt(declared, 'resolve') ?? '', '/') === `src/plugins/${folder}/`,
  )
  return file.startsWith('src/plugins/') ? (named?.[0] ?? folder) : folder
}

/** Strapi gives files such as `blogPost/schema.json` and `blog-post/schema.json` one uid, and the last takes it. */
function oneOfEach<Holder extends StrapiHolder>(
  holders: readonly Holder[],
  { irregular }: Reading,
): readonly Holder[] {
  const last = new Map(holders.map(holder => [holder.uid, holder]))
  return holders.filter(holder => {
    const other = last.get(holder.uid)
    const isRead = other === undefined || other === holder
    if (!isRead)
      irregular.push(`${holder.file} was not read: ${other.file} has the same uid, \`${holder.uid}\``)
    return isRead
  })
}

async function readComponents(reading: Reading): Promise<readonly StrapiHolder[]> {
  const components: StrapiHolder[] = []
  for (const file of reading.files) {
    const [, category, name] = COMPONENT.exec(file) ?? []
    if (category === undefined || name === undefined) continue
    const schema = await readSchema(reading, file)
    if (schema !== undefined) components.push(toHolder(`${category}.${name}`, file, schema))
  }
  return oneOfEach(components, reading)
}

async function readUser(reading: Reading): Promise<StrapiHolder | null> {
  const file = reading.files.find(each => USER.test(each))
  const schema = file === undefined ? undefined : await readSchema(reading, file)
  return file === undefined || schema === undefined
    ? null
    : toHolder('plugin::users-permissions.user', file, schema)
}

async function readSchema(
  reading: Reading,
  file: string,
): Promise<ReadonlyMap<string, LiteralValue> | undefined> {
  const schema = await readGiven(reading, file)
  if (isMapping(schema)) return schema
  if (schema !== undefined)
    reading.unreadable.push(`${file}: it exports no object that can be read without running it`)
  return undefined
}

/** The folder of the plugin config-sync, relative to the project, ends with `/`. */
function syncFolder(plugins: LiteralValue): string {
  const folder = textAt(plugins, 'config-sync', 'config', 'syncDir') ?? 'config/sync'
  return `${folder.replace(/^\.\//, '').replace(/\/$/, '')}/`
}
