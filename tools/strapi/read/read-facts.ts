import {
  EMPTY_MAPPING,
  fromJson,
  isLiteralList,
  isMapping,
  jsonOrText,
  type LiteralValue,
  mappingAt,
  textAt,
  valueAt,
} from './literal-value.ts'
import { numberAt, type SourceRow, type StrapiDatabase } from './source.ts'

/** Settings that Strapi stores in its database and Plinth in its project file. */
export interface StrapiFacts {
  readonly roles: readonly StrapiRole[]
  /** Locale codes and names by id. */
  readonly locales: readonly StrapiLocale[]
  readonly defaultLocale: string | undefined
  /** Settings of the users-permissions plugin. */
  readonly advanced: LiteralValue
  readonly tokens: readonly StrapiToken[]
  /** Providers at which users sign in, such as `google`. */
  readonly providers: readonly string[]
  /** The account mails whose texts were changed in Strapi's admin panel. */
  readonly mails: readonly string[]
  /** Names of the webhooks. Their URLs may be secret. */
  readonly webhooks: readonly string[]
  readonly tables: StrapiDatabase['tables']
}

export interface StrapiRole {
  readonly id: number
  readonly name: string
  readonly description: string
  readonly type: string
  /** Such as `api::article.article.find`. */
  readonly actions: readonly string[]
}

export interface StrapiLocale {
  readonly code: string
  readonly name: string
}

export interface StrapiToken {
  readonly name: string
  readonly type: string
}

export async function readFacts(source: StrapiDatabase): Promise<StrapiFacts> {
  const locales = await source.read({ table: 'i18n_locale', columns: ['code', 'name'], orderBy: ['id'] })
  const tokens = await source.read({ table: 'strapi_api_tokens', columns: ['name', 'type'], orderBy: ['id'] })
  const webhooks = await source.read({ table: 'strapi_webhooks', columns: ['name'], orderBy: ['id'] })
  const settings = await readSettings(source)
  const defaultLocale = settings.get('plugin_i18n_default_locale')
  return {
    roles: await readRoles(source),
    locales: locales.map(row => ({ code: row.get('code') ?? '', name: row.get('name') ?? '' })),
    defaultLocale: typeof defaultLocale === 'string' ? defaultLocale : undefined,
    advanced: settings.get('plugin_users-permissions_advanced') ?? EMPTY_MAPPING,
    tables: source.tables,
    providers: enabledProviders(settings.get('plugin_users-permissions_grant')),
    mails: changedMails(settings.get('plugin_users-permissions_email')),
    webhooks: webhooks.map(row => row.get('name') ?? ''),
    tokens: tokens.map(row => ({ name: row.get('name') ?? '', type: row.get('type') ?? '' })),
  }
}

/** Sign-in by password is the provider `email`. */
const enabledProviders = (declared: LiteralValue | undefined): readonly string[] =>
  [...mappingAt(declared)].flatMap(([name, each]) =>
    name !== 'email' && valueAt(each, 'enabled') === true ? [name] : [],
  )

/** The first sentence of each account mail of Strapi. */
const MAILS: Readonly<Record<string, string>> = {
  reset_password: '<p>We heard that you lost your password. Sorry about that!</p>',
  email_confirmation: '<p>Thank you for registering!</p>',
}

const changedMails = (declared: LiteralValue | undefined): readonly string[] =>
  Object.entries(MAILS).flatMap(([name, start]) => {
    const text = textAt(declared, name, 'options', 'message')
    return text === undefined || text.startsWith(start) ? [] : [name]
  })

const SETTINGS: readonly string[] = [
  'plugin_i18n_default_locale',
  ...[
    'plugin_users-permissions_advanced',
    'plugin_users-permissions_grant',
    'plugin_users-permissions_email',
  ],
]

async function readSettings(source: StrapiDatabase): Promise<ReadonlyMap<string, LiteralValue>> {
  const rows = await source.read({
    table: 'strapi_core_store_settings',
    columns: ['key', 'value'],
    among: { column: 'key', values: SETTINGS },
  })
  return new Map(
    rows.map(row => [row.get('key') ?? '', fromJson(jsonOrText(row.get('value') ?? 'null') ?? null)]),
  )
}

async function readRoles(source: StrapiDatabase): Promise<readonly StrapiRole[]> {
  const roles = await source.read({
    table: 'up_roles',
    columns: ['id', 'name', 'description', 'type'],
    orderBy: ['id'],
  })
  const actions = await readActions(source)
  return roles.map(row => {
    const id = numberAt(row, 'id') ?? 0
    const name = row.get('name') ?? ''
    return {
      id,
      name,
      description: row.get('description') ?? '',
      type: roleType(row),
      actions: actions.get(id) ?? [],
    }
  })
}

/** A role without a type is called by its name. */
export const roleType = (row: SourceRow): string => row.get('type') || (row.get('name') ?? '')

/** Permissions by role. */
async function readActions(source: StrapiDatabase): Promise<ReadonlyMap<number, readonly string[]>> {
  const permissions = await source.read({
    table: 'up_permissions',
    columns: ['id', 'action'],
    orderBy: ['id'],
  })
  const named = new Map(permissions.map(row => [numberAt(row, 'id'), row.get('action') ?? '']))
  const links = await source.read({
    table:
      ['up_permissions_role_lnk', 'up_permissions_role_links'].find(name => source.tables.has(name)) ?? '',
    columns: ['permission_id', 'role_id'],
    orderBy: ['permission_id'],
  })
  const actions = new Map<number, string[]>()
  for (const link of links) {
    const role = numberAt(link, 'role_id')
    const action = named.get(numberAt(link, 'permission_id'))
    if (role === null || action === undefined) continue
    actions.set(role, [...(actions.get(role) ?? []), action])
  }
  return actions
}

/** A file of config-sync by its name, without the folder and `.json`: `user-role.public`. */
type SyncedFiles = ReadonlyMap<string, LiteralValue>

/** Roles, locales and settings that the plugin config-sync keeps in files; null without any of them. */
export function syncedFacts(files: SyncedFiles): StrapiFacts | null {
  const named = (kind: string): readonly LiteralValue[] =>
    [...files].flatMap(([name, value]) => (name.startsWith(`${kind}.`) ? [value] : []))
  const roles = named('user-role').map(syncedRole)
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
    providers: enabledProviders(setting('plugin_users-permissions_grant')),
    mails: changedMails(setting('plugin_users-permissions_email')),
    webhooks: [],
    tables: new Map(),
  }
}

function syncedRole(value: LiteralValue, index: number): StrapiRole {
  const permissions = valueAt(value, 'permissions')
  const name = textAt(value, 'name') ?? ''
  return {
    id: index + 1,
    name,
    description: textAt(value, 'description') ?? '',
    type: textAt(value, 'type') || name,
    actions: (isLiteralList(permissions) ? permissions.filter(isMapping) : []).flatMap(
      each => textAt(each, 'action') ?? [],
    ),
  }
}
