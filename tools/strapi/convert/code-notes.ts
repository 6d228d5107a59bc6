import { posix } from 'node:path'
import { memoize } from '../../../core/base/memo.ts'
import { groupBy } from '../../../core/base/plain-data.ts'
import { ticked } from '../../../core/base/text.ts'
import { type LiteralValue, mappingAt, scriptPlace, textAt, UNKNOWN_KEYS } from '../read/literal-value.ts'
import type { OwnCode, StrapiProject } from '../read/strapi-project.ts'
import type { Note } from '../yaml-document.ts'
import { toKebabCase } from './to-holder.ts'
import { isDisabled, ownMiddlewares, POPULATE_DEEP } from './to-settings.ts'

/** The replacement for each kind of Strapi code. */
const SUCCESSORS: Readonly<Record<OwnCode['kind'], string>> = {
  controller: 'an extension can answer the route itself, or a middleware of `routesConfig` change its answer',
  service: 'extensions and policies reach documents by `app.documents`',
  route: 'an extension adds routes; `routesConfig` says what guards the generated ones',
  policy: 'a module in policies/, named in `routesConfig`',
  middleware: 'a module in middlewares/, named in `routesConfig` or in `middlewares`',
  lifecycle: 'an extension: a document middleware runs around a write, a listener hears of it afterwards',
  index: 'an extension with `register` or `bootstrap`; its `documents.use` wraps document actions',
  extension: 'an extension, or `user.attributes` for what users have besides',
  plugin: 'an extension',
  cron: 'a scheduler of your own',
  config: 'a module in lib/ has what `strapi.config.get` read for code of the project',
  migration:
    'a file of migrations/ does what Strapi did to its tables, such as indexes and triggers (docs/migrations.md)',
  patch: 'an extension or a middleware does what the patch changed in a package',
}

/** The custom code at a content-type, or what is at none if `uid` is undefined. */
export const codeNotes = (project: StrapiProject, uid?: string): readonly Note[] =>
  (codeByHolder(project).get(uid) ?? []).map(({ kind, file }) => codeNote(kind, file, `${file} (${kind})`))

const codeByHolder = memoize((project: StrapiProject) =>
  groupBy(project.ownCode, code => holderOf(code, project)),
)

/** The content-type that a file is named after, or the first of its API. An API may have none. */
function holderOf({ api, file }: OwnCode, { contentTypes }: StrapiProject): string | undefined {
  const uids = contentTypes.flatMap(type =>
    type.uid.startsWith('api::') && type.api === api ? [type.uid] : [],
  )
  const names = file.split('/').map(part => toKebabCase(part.replace(/\.[cm]?[jt]s$/, '')))
  return uids.find(uid => names.slice(3).includes(uid.split('.')[1] ?? '')) ?? uids[0]
}

/** A file of custom code, with what replaces it. */
export const codeNote = (kind: OwnCode['kind'], source: string, what: string): Note => ({
  kind: 'code',
  text: `${what} did not come over: ${SUCCESSORS[kind]}`,
  source,
  group: { name: kind, successor: SUCCESSORS[kind] },
})

/** Global middlewares of the project. */
export const middlewareNotes = (project: StrapiProject): readonly Note[] =>
  ownMiddlewares(project).map(({ name, place }) =>
    codeNote('middleware', place, `the middleware \`${name}\` of config/middlewares`),
  )

/** Strapi packages that Plinth replaces, that belong to the admin panel, or that have a line of their own. */
const COVERED = [
  /^@strapi\/(?:strapi|plugin-(?:users-permissions|i18n|graphql|cloud|documentation|color-picker|seo))$/,
  /^(?:pg|mysql2?|sqlite3|better-sqlite3|react(?:-dom|-router-dom)?|styled-components)$/,
  // The providers that config/plugins names.
  /provider-(?:upload|email)/,
  /^strapi-(?:plugin|provider)-rest-cache/,
  /^strapi-plugin-transformer$/,
  POPULATE_DEEP,
]

/** The names of such plugins in config/plugins, and of those within Strapi. */
const COVERED_PLUGINS = [
  /^(?:users-permissions|i18n|graphql|cloud|documentation|color-picker|seo|upload|email|rest-cache|transformer)$/,
  /^(?:content-manager|content-type-builder|content-releases|review-workflows)$/,
  POPULATE_DEEP,
]

/** Plugins of others have any name: `strapi-protected-populate`. */
const PLUGIN = /^(?!@strapi\/).*strapi|^@strapi\/.*(?:plugin|provider)/

const CONFIG_SYNC = 'config-sync'

/** Plugins that Plinth does not have: those of packages, and those that config/plugins enables. */
export function pluginNotes(project: StrapiProject): readonly Note[] {
  const { packages, config, synced } = project
  const listed = packages.filter(
    name =>
      (PLUGIN.test(name) || project.pluginPackages.has(name)) &&
      !COVERED.some(covered => covered.test(name)) &&
      (synced === null || name !== `strapi-plugin-${CONFIG_SYNC}`),
  )
  const enabled = [...mappingAt(config.plugins)].filter(
    ([name, declared]) =>
      !name.startsWith(UNKNOWN_KEYS) &&
      declared !== null &&
      !isDisabled(declared) &&
      !COVERED_PLUGINS.some(covered => covered.test(name)) &&
      (synced === null || name !== CONFIG_SYNC),
  )
  const folders = enabled.flatMap(each => folderNote(each, project))
  const unnamed = enabled
    .filter(
      ([name, declared]) => folderOf(declared, packages) === undefined && !isListed(name, listed, project),
    )
    .map(([name]) => name)
  return [
    ...folders,
    ...(listed.length === 0
      ? []
      : [{ kind: 'remark' as const, text: `packages without a counterpart: ${listed.join(', ')}` }]),
    ...(unnamed.length === 0
      ? []
      : [
          {
            kind: 'remark' as const,
            text: `plugins without a counterpart: ${ticked(unnamed)}`,
            source: scriptPlace(config.plugins, unnamed[0] ?? '') ?? 'config/plugins',
          },
        ]),
  ]
}

/** The folder of a plugin that is no package. */
function folderOf(declared: LiteralValue, packages: readonly string[]): string | undefined {
  const folder = textAt(declared, 'resolve')
  return folder === undefined || packages.includes(folder) ? undefined : folder
}

/** Plugins of config/plugins in folders that are not read, such as another package of a workspace. Those of the admin panel alone lose nothing. */
function folderNote(
  [name, declared]: readonly [string, LiteralValue],
  { ownCode, packages, config, panelPlugins }: StrapiProject,
): readonly Note[] {
  const folder = folderOf(declared, packages)
  if (folder === undefined) return []
  const path = posix.join(folder, '/')
  if (panelPlugins.includes(path)) return []
  if (ownCode.some(({ kind, file }) => kind === 'plugin' && file.startsWith(path))) return []
  const source = scriptPlace(config.plugins, name, 'resolve') ?? 'config/plugins'
  return [codeNote('plugin', source, `the plugin \`${name}\` in ${folder}, with its content-types,`)]
}

/** True if a package of the report, or a folder in src/plugins, is this plugin: `menus`, `strapi-plugin-menus`. */
const isListed = (
  plugin: string,
  listed: readonly string[],
  { ownCode, pluginPackages }: StrapiProject,
): boolean =>
  listed.some(
    name => pluginPackages.get(name) === plugin || name.endsWith(`-${plugin}`) || name.endsWith(`/${plugin}`),
  ) || ownCode.some(({ kind, file }) => kind === 'plugin' && file.startsWith(`src/plugins/${plugin}/`))
