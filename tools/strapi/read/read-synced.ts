import { EMPTY_MAPPING, isList, isMapping, type LiteralValue, textAt, valueAt } from './literal-value.ts'
import type { StrapiFacts, StrapiRole } from './read-facts.ts'

/** A file of config-sync by its name, without the folder and `.json`: `user-role.public`. */
export type SyncedFiles = ReadonlyMap<string, LiteralValue>

/** The folder of the plugin config-sync, relative to the project, ends with `/`. */
export function syncFolder(plugins: LiteralValue): string {
  const folder = textAt(plugins, 'config-sync', 'config', 'syncDir') ?? 'config/sync'
  return `${folder.replace(/^\.\//, '').replace(/\/$/, '')}/`
}

/** Roles, locales and settings that the plugin config-sync keeps in files; null without any of them. */
export function syncedFacts(files: SyncedFiles): StrapiFacts | null {
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
