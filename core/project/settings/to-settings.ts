import { isMoment } from '../calendar.ts'
import type {
  ApiToken,
  Component,
  ContentType,
  Locale,
  LocaleCode,
  Operation,
  ProjectFile,
  MiddlewareUse as WrittenMiddleware,
  PolicyUse as WrittenPolicy,
} from '../project-types.ts'
import type * as to from './settings.ts'
import { MEDIA_KINDS, toAttributes } from './to-attribute.ts'
import { toGraphql } from './to-graphql-settings.ts'
import { toPermissions, toRoles } from './to-permissions.ts'
import { toDatabase, toRest, toServer } from './to-server-settings.ts'
import { toBytes, toMilliseconds } from './units.ts'

/** Writes out what a project file leaves unsaid: short forms, defaults, milliseconds, bytes. */
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

/** The only one, or English; where several are others, the file has to say which (a check reports that). */
function usualLocale(locales: readonly to.LocaleDeclaration[]): string {
  return locales.length === 1 ? (locales[0]?.code ?? 'en') : 'en'
}

function toLocale(written: LocaleCode | Locale): to.LocaleDeclaration {
  const locale = typeof written === 'string' ? { code: written } : written
  return { name: localeName(locale.code), ...locale }
}

/** What a locale is called that the file gives no name. */
export const localeName = (code: string): string => `${languageOf(code)} (${code})`

const LANGUAGES = new Intl.DisplayNames(['en'], { type: 'language' })

/** The English name of a language, or the code itself where it is not a well-formed one (a check reports that). */
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

/** The reader makes nothing but JSON. */
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

/** A day is its first moment in UTC. What is no moment stays as it is: a check reports it. */
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
