import { isMoment } from '../calendar.ts'
import type {
  ApiToken,
  Component,
  ContentType,
  Locale,
  LocaleCode,
  Operation,
  ProjectFile,
  Role,
  SubjectPermissions,
  MiddlewareUse as WrittenMiddleware,
  Permissions as WrittenPermissions,
  PolicyUse as WrittenPolicy,
} from '../project-types.ts'
import type * as to from './settings.ts'
import type { Permissions, PermissionTerms, RoleDeclaration } from './settings.ts'
import { MEDIA_KINDS, toAttributes } from './to-attribute.ts'
import { toGraphql } from './to-graphql-settings.ts'
import { toDatabase, toRest, toServer } from './to-server-settings.ts'
import { toBytes, toMilliseconds } from './units.ts'

/** Normalises a project file: fills in defaults, expands short forms, converts durations and sizes. */
export function toSettings(file: ProjectFile): to.Settings {
  return {
    name: file.name,
    server: toServer(file.server),
    database: toDatabase(file.database),
    i18n: toI18n(file.i18n),
    rest: toRest(file.rest),
    graphql: toGraphql(file.graphql),
    cache: { enabled: file.cache?.enabled ?? true, maxBytes: toBytes(file.cache?.maxBytes ?? '64mb') },
    middlewares: (file.middlewares ?? []).map(toMiddlewareUse),
    policyTimeout: toMilliseconds(file.policyTimeout ?? '2s'),
    components: mapValues(file.components, toComponent),
    contentTypes: mapValues(file.contentTypes, toContentType),
    user: { attributes: toAttributes(file.user?.attributes) },
    roles: toRoles(file.roles),
    apiTokens: mapValues(file.apiTokens, toApiToken),
    routesConfig: mapValues(file.routesConfig, toOperation),
    resolversConfig: mapValues(file.resolversConfig, toOperation),
    auth: toAuth(file.auth),
    upload: toUpload(file.upload),
  }
}

function toI18n(written: ProjectFile['i18n'] = {}): to.I18nSettings {
  const locales = (written.locales ?? ['en']).map(toLocale)
  return { locales, defaultLocale: written.defaultLocale ?? usualLocale(locales) }
}

/** The only locale, or English. With several locales the file must name the default (a check reports that). */
function usualLocale(locales: readonly to.LocaleDeclaration[]): string {
  return locales.length === 1 ? (locales[0]?.code ?? 'en') : 'en'
}

function toLocale(written: LocaleCode | Locale): to.LocaleDeclaration {
  const locale = typeof written === 'string' ? { code: written } : written
  return { name: localeName(locale.code), ...locale }
}

/** The display name of a locale for which the file has none. */
export const localeName = (code: string): string => `${languageOf(code)} (${code})`

const LANGUAGES = new Intl.DisplayNames(['en'], { type: 'language' })

/** The English name of a language, or the code itself if it is malformed (a check reports that). */
function languageOf(code: string): string {
  try {
    return LANGUAGES.of(code) ?? code
  } catch (error) {
    if (error instanceof RangeError) return code
    throw error
  }
}

const toMiddlewareUse = (use: string | WrittenMiddleware): to.MiddlewareUse =>
  typeof use === 'string' ? { name: use, options: null } : { name: use.name, options: toJson(use.options) }

const toPolicyUse = (use: string | WrittenPolicy): to.PolicyUse =>
  typeof use === 'string' ? { name: use, config: null } : { name: use.name, config: toJson(use.config) }

/** The YAML reader produces only JSON values. */
const toJson = (value: unknown): to.Json => (value ?? null) as to.Json

const toOperation = (written: Operation): to.OperationSettings => ({
  ...(written.auth !== undefined && { auth: written.auth }),
  policies: (written.policies ?? []).map(toPolicyUse),
  middlewares: (written.middlewares ?? []).map(toMiddlewareUse),
})

const toComponent = (written: Component): to.ComponentDeclaration => ({
  ...written,
  attributes: toAttributes(written.attributes),
})

const toContentType = (written: ContentType): to.ContentTypeDeclaration => ({
  kind: 'collection',
  draftAndPublish: false,
  localized: false,
  indexes: [],
  ...written,
  attributes: toAttributes(written.attributes),
})

function toApiToken(written: ApiToken): to.ApiTokenDeclaration {
  const { expiresAt, ...token } = written
  const permissions = toPermissions(written.type === 'custom' ? written.permissions : {})
  return { ...token, ...(expiresAt !== undefined && { expiresAt: toMoment(expiresAt) }), permissions }
}

/** A day becomes midnight in UTC. An invalid value is returned unchanged: a check reports it. */
const toMoment = (said: string): string => (isMoment(said) ? new Date(said).toISOString() : said)

function toAuth(written: ProjectFile['auth'] = {}): to.AuthSettings {
  const { url, from, resetUrl, confirmUrl } = written.mail ?? {}
  return {
    jwtSecret: written.jwtSecret ?? '',
    jwtExpiresIn: toMilliseconds(written.jwtExpiresIn ?? '30d'),
    register: {
      enabled: true,
      role: 'authenticated',
      allowedFields: [],
      confirmEmail: false,
      ...written.register,
    },
    mail: {
      url: url || null,
      from: from || null,
      resetUrl: resetUrl || null,
      confirmUrl: confirmUrl || null,
    },
  }
}

const toUpload = (written: ProjectFile['upload'] = {}): to.UploadSettings => ({
  provider: written.provider ?? 'local',
  sizeLimit: toBytes(written.sizeLimit ?? '200mb'),
  pixelLimit: written.pixelLimit ?? 50_000_000,
  allowedTypes: written.allowedTypes ?? MEDIA_KINDS,
  providerOptions: written.providerOptions ?? {},
})

const mapValues = <From, To>(
  map: Readonly<Record<string, From>> = {},
  change: (value: From) => To,
): Record<string, To> => Object.fromEntries(Object.entries(map).map(([key, value]) => [key, change(value)]))

/** The two built-in roles, with the names and descriptions of Strapi. */
const BUILT_IN_ROLES = ['public', 'authenticated'] as const

const DESCRIPTIONS: ReadonlyMap<string, string> = new Map([
  ['public', 'Default role given to unauthenticated user.'],
  ['authenticated', 'Default role given to authenticated user.'],
])

function toPermissions(written: WrittenPermissions = {}): Permissions {
  return Object.fromEntries(Object.entries(written).map(([subject, said]) => [subject, toActions(said)]))
}

function toActions(said: SubjectPermissions): Record<string, boolean | PermissionTerms> {
  if (said === '*') return { '*': true }
  if (Array.isArray(said)) return Object.fromEntries(said.map(action => [action, true]))
  return said as Record<string, boolean | PermissionTerms>
}

/** Every role of the file, plus built-in roles that the file does not declare. */
function toRoles(written: Readonly<Record<string, Role>> = {}): Record<string, RoleDeclaration> {
  const missing = BUILT_IN_ROLES.filter(key => !Object.hasOwn(written, key))
  const all: [string, Role][] = [
    ...missing.map((key): [string, Role] => [key, {}]),
    ...Object.entries(written),
  ]
  return Object.fromEntries(all.map(([key, role]) => [key, toRole(key, role)]))
}

function toRole(
  key: string,
  { name, description, extends: parents = [], permissions }: Role,
): RoleDeclaration {
  return {
    name: name ?? key.slice(0, 1).toUpperCase() + key.slice(1),
    description: description ?? DESCRIPTIONS.get(key) ?? '',
    extends: typeof parents === 'string' ? [parents] : parents,
    permissions: toPermissions(permissions),
  }
}
