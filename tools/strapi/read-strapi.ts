import { readdir, readFile, stat } from 'node:fs/promises'
import { basename, join, relative, resolve, sep } from 'node:path'
import { failed, ok, type Result } from '../../core/base/result.ts'
import type { Json } from '../../core/project/settings/settings.ts'
import { toHolder, toType } from './convert/to-holder.ts'
import { findOwnCode } from './read/find-own-code.ts'
import {
  EMPTY_MAPPING,
  fromJson,
  isList,
  isMapping,
  type LiteralValue,
  mappingAt,
  textAt,
  valueAt,
} from './read/literal-value.ts'
import { readExported } from './read/read-exported.ts'
import type { StrapiFacts, StrapiRole } from './read/read-facts.ts'
import type { StrapiHolder, StrapiProject, StrapiType } from './read/strapi-project.ts'

/** The state of reading a project's folder. */
interface Reading {
  readonly folder: string
  readonly files: readonly string[]
  readonly unreadable: string[]
}

/** Reads a Strapi 4 or 5 project in JavaScript or TypeScript without running its code. */
export async function readStrapi(folder: string): Promise<Result<StrapiProject, string>> {
  const root = resolve(folder)
  const found = await stat(root).catch((error: NodeJS.ErrnoException) => error)
  if (found instanceof Error || !found.isDirectory())
    return failed(
      `\`${folder}\` is not a folder: give the folder of the Strapi project, with its package.json`,
    )
  const reading: Reading = { folder: root, files: await filesOf(root), unreadable: [] }
  const manifest = (await readGiven(reading, 'package.json')) ?? EMPTY_MAPPING
  const version = versionOf(manifest)
  if (version === undefined)
    return failed(
      `\`${folder}\` is not a Strapi 4 or 5 project: its package.json names no \`@strapi/strapi\` of these versions`,
    )
  return ok(await readProject(reading, manifest, version))
}

async function readProject(reading: Reading, manifest: LiteralValue, version: 4 | 5): Promise<StrapiProject> {
  const contentTypes = await readTypes(reading)
  const components = await readComponents(reading)
  const user = await readUser(reading)
  const [server, api, plugins, middlewares] = await Promise.all(
    ['server', 'api', 'plugins', 'middlewares'].map(name => readConfig(reading, name)),
  )
  return {
    folder: reading.folder,
    uploads: join(reading.folder, 'public', 'uploads'),
    name: textAt(manifest, 'name') ?? basename(reading.folder),
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
    },
    hasEnvironments: reading.files.some(file => file.startsWith('config/env/')),
    packages: [...mappingAt(manifest, 'dependencies').keys()],
    ...(await findOwnCode(reading.folder, reading.files)),
    unreadable: reading.unreadable,
  }
}

/** `^5.1.0`, `~4.25`, `5`, `>=5.0.0`; `latest` is the newest. */
function versionOf(manifest: LiteralValue): 4 | 5 | undefined {
  const wanted = textAt(manifest, 'dependencies', '@strapi/strapi')
  if (wanted === 'latest') return 5
  const major = wanted?.match(/\d+/)?.[0]
  return major === '4' ? 4 : major === '5' ? 5 : undefined
}

/** Folders with dependencies, build output or other files that are not source. */
const FOREIGN: ReadonlySet<string> = new Set([
  'node_modules',
  'dist',
  'build',
  '.cache',
  '.tmp',
  '.git',
  'public',
])

/** All files, relative to the folder, with `/` between parts, sorted. */
async function filesOf(root: string): Promise<readonly string[]> {
  const found: string[] = []
  const visit = async (folder: string): Promise<void> => {
    for (const each of await readdir(folder, { withFileTypes: true })) {
      const path = join(folder, each.name)
      if (each.isDirectory() && !FOREIGN.has(each.name)) await visit(path)
      else if (each.isFile()) found.push(relative(root, path).split(sep).join('/'))
    }
  }
  await visit(root)
  return found.sort()
}

/** Reads a JSON file or a module. If that fails: undefined, and the reason is added to `unreadable`. */
async function readGiven({ folder, unreadable }: Reading, file: string): Promise<LiteralValue | undefined> {
  try {
    const text = await readFile(join(folder, file), 'utf8')
    if (!file.endsWith('.json')) return readExported(text, file)
    const { value, fault } = parseJson(text.replace(/^\uFEFF/, ''))
    if (fault === null) return fromJson(value)
    unreadable.push(`${file}:${fault}`)
    return undefined
  } catch (error) {
    unreadable.push(`${file}: ${error instanceof Error ? error.message : String(error)}`)
    return undefined
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

/** The first extension wins: outside of config/env, Strapi does not merge these files. */
async function readConfig(reading: Reading, name: string): Promise<LiteralValue | undefined> {
  const file = ['ts', 'js', 'json']
    .map(ending => `config/${name}.${ending}`)
    .find(each => reading.files.includes(each))
  return file === undefined ? undefined : readGiven(reading, file)
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
  /^(?:user-role|i18n-locale|core-store\.plugin_(?:i18n_default_locale|users-permissions_advanced))\b/

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

async function readTypes(reading: Reading): Promise<readonly StrapiType[]> {
  const types: StrapiType[] = []
  for (const file of reading.files) {
    const owner = TYPE.test(file) ? 'api' : 'plugin'
    const [, api, name] = (owner === 'api' ? TYPE : PLUGIN_TYPE).exec(file) ?? []
    if (api === undefined || name === undefined) continue
    if (owner === 'plugin' && BUILT_IN_PLUGINS.has(api)) continue
    const schema = await readSchema(reading, file)
    if (schema !== undefined) types.push(toType({ owner, api, name, file, schema }))
  }
  return types
}

async function readComponents(reading: Reading): Promise<readonly StrapiHolder[]> {
  const components: StrapiHolder[] = []
  for (const file of reading.files) {
    const [, category, name] = COMPONENT.exec(file) ?? []
    if (category === undefined || name === undefined) continue
    const schema = await readSchema(reading, file)
    if (schema !== undefined) components.push(toHolder(`${category}.${name}`, file, schema))
  }
  return components
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

/** A file of config-sync by its name, without the folder and `.json`: `user-role.public`. */
type SyncedFiles = ReadonlyMap<string, LiteralValue>

/** The folder of the plugin config-sync, relative to the project, ends with `/`. */
function syncFolder(plugins: LiteralValue): string {
  const folder = textAt(plugins, 'config-sync', 'config', 'syncDir') ?? 'config/sync'
  return `${folder.replace(/^\.\//, '').replace(/\/$/, '')}/`
}

/** Roles, locales and settings that the plugin config-sync keeps in files; null without any of them. */
function syncedFacts(files: SyncedFiles): StrapiFacts | null {
  const named = (kind: string): readonly LiteralValue[] =>
    [...files].flatMap(([name, value]) => (name.startsWith(`${kind}.`) ? [value] : []))
  const roles = named('user-role').map(toRole)
  const locales = named('i18n-locale').map(value => ({
    code: textAt(value, 'code') ?? '',
    name: textAt(value, 'name') ?? '',
  }))
  if (roles.length === 0 && locales.length === 0) return null
  const setting = (key: string): LiteralValue | undefined => valueAt(files.get(`core-store.${key}`), 'value')
  const defaultLocale = setting('plugin_i18n_default_locale')
  return {
    roles,
    locales,
    defaultLocale: typeof defaultLocale === 'string' ? defaultLocale : undefined,
    advanced: setting('plugin_users-permissions_advanced') ?? EMPTY_MAPPING,
    tokens: [],
    tables: new Map(),
  }
}

function toRole(value: LiteralValue, index: number): StrapiRole {
  const permissions = valueAt(value, 'permissions')
  const name = textAt(value, 'name') ?? ''
  return {
    id: index + 1,
    name,
    description: textAt(value, 'description') ?? '',
    type: textAt(value, 'type') || name,
    actions: (isList(permissions) ? permissions.filter(isMapping) : []).flatMap(
      each => textAt(each, 'action') ?? [],
    ),
  }
}
