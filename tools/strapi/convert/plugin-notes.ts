import { posix } from 'node:path'
import { ticked } from '../../../core/base/text.ts'
import { type LiteralValue, mappingAt, scriptPlace, textAt, UNKNOWN_KEYS } from '../read/literal-value.ts'
import type { StrapiProject } from '../read/strapi-project.ts'
import type { Note } from '../yaml-document.ts'
import { codeNote } from './project-warnings.ts'
import { isDisabled, POPULATE_DEEP } from './to-settings.ts'

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

/** Plugins of config/plugins in folders that are not read, such as another package of a workspace. */
function folderNote(
  [name, declared]: readonly [string, LiteralValue],
  { ownCode, packages, config }: StrapiProject,
): readonly Note[] {
  const folder = folderOf(declared, packages)
  if (folder === undefined) return []
  const path = posix.join(folder, '/')
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
