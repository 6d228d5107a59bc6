import { once } from '../../base/memo.ts'
import { isMoment, trimEndCharacter } from '../../base/text.ts'
import type {
  ApiRateLimit,
  ApiTokenDeclaration,
  GraphqlSettings,
  LocaleDeclaration,
  LocaleSettings,
  RestSettings,
  RoleDeclaration,
  ServerSettings,
  Settings,
} from './settings.ts'

/** True if the project file itself has a key, so that its value is not a default. */
export type IsWritten = (...path: readonly string[]) => boolean

/** Adds the defaults that depend on other keys, and unifies spellings. The settings have the defaults of the schema. */
export function deriveDefaults(settings: Settings, isWritten: IsWritten): Settings {
  const { server, database, i18n, rest, graphql, roles, apiTokens } = settings
  return {
    ...settings,
    server: { ...server, url: toUrl(server), rateLimit: toRateLimits(server.rateLimit) },
    database: { ...database, replicas: database.replicas.filter(address => address !== '') },
    i18n: toI18n(i18n, isWritten),
    rest: toRest(rest, key => isWritten('rest', key)),
    graphql: toGraphql(graphql, key => isWritten('graphql', 'config', key)),
    roles: {
      ...roles,
      ...mapEntries(roles, (key, role) => toRole(key, role, isWritten('roles', key, 'description'))),
    },
    apiTokens: mapEntries(apiTokens, (_, token) => toToken(token)),
  }
}

/** A value before `deriveDefaults` has added these keys. */
type Before<Whole, Key extends keyof Whole> = Omit<Whole, Key> & Partial<Pick<Whole, Key>>

/** The port that a free one (0) is named by: it is not known until the server listens. */
const USUAL_PORT = 1337

const toUrl = ({ port, url }: Before<ServerSettings, 'url'>): string =>
  trimEndCharacter(url ?? `http://localhost:${port || USUAL_PORT}`, '/')

const toRateLimits = ({ api, ...others }: Settings['server']['rateLimit']) => ({
  ...others,
  api: api && toApiRateLimit(api),
})

const toApiRateLimit = (limit: Before<ApiRateLimit, 'tokenMax'>): ApiRateLimit => ({
  tokenMax: limit.max,
  ...limit,
})

/** With several locales the file must name the default (a check reports that). */
function toI18n({ locales, defaultLocale }: LocaleSettings, isWritten: IsWritten): LocaleSettings {
  const [first, ...others] = locales
  const isOnly = first !== undefined && others.length === 0 && !isWritten('i18n', 'defaultLocale')
  return { locales: locales.map(toLocale), defaultLocale: isOnly ? first.code : defaultLocale }
}

const toLocale = (locale: Before<LocaleDeclaration, 'name'>): LocaleDeclaration => ({
  name: localeName(locale.code),
  ...locale,
})

/** The display name of a locale for which the file has none. */
export const localeName = (code: string): string => `${languageOf(code)} (${code})`

/** The English names of frequent languages: loading all names takes a start 12 ms and 7 MB of memory. */
export const FREQUENT_LANGUAGES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    ar: 'Arabic',
    cs: 'Czech',
    da: 'Danish',
    de: 'German',
    el: 'Greek',
    en: 'English',
    es: 'Spanish',
    fi: 'Finnish',
    fr: 'French',
    he: 'Hebrew',
    hi: 'Hindi',
    hu: 'Hungarian',
    it: 'Italian',
    ja: 'Japanese',
    ko: 'Korean',
    nl: 'Dutch',
    pl: 'Polish',
    pt: 'Portuguese',
    ro: 'Romanian',
    ru: 'Russian',
    sv: 'Swedish',
    tr: 'Turkish',
    uk: 'Ukrainian',
    vi: 'Vietnamese',
    zh: 'Chinese',
  }),
)

const allLanguages = once(() => new Intl.DisplayNames(['en'], { type: 'language' }))

/** The English name of a language, or the code itself if it is malformed (a check reports that). */
function languageOf(code: string): string {
  try {
    return FREQUENT_LANGUAGES.get(code) ?? allLanguages().of(code) ?? code
  } catch (error) {
    if (error instanceof RangeError) return code
    throw error
  }
}

function toRest(rest: RestSettings, isWritten: IsWritten): RestSettings {
  const { defaultLimit, maxLimit } = rest
  if (defaultLimit <= maxLimit) return rest
  if (!isWritten('defaultLimit')) return { ...rest, defaultLimit: maxLimit }
  return isWritten('maxLimit') ? rest : { ...rest, maxLimit: defaultLimit }
}

const toGraphql = (
  { config, ...graphql }: Before<GraphqlSettings, 'endpoints'>,
  isWritten: IsWritten,
): GraphqlSettings => ({
  endpoints: { [config.endpoint]: config.v4CompatibilityMode ? 'nested' : 'flat' },
  ...graphql,
  config: toGraphqlLimits(config, isWritten),
})

type GraphqlConfig = GraphqlSettings['config']

function toGraphqlLimits(config: GraphqlConfig, isWritten: IsWritten): GraphqlConfig {
  const { defaultLimit, amountLimit } = config
  if (defaultLimit <= amountLimit) return config
  if (!isWritten('defaultLimit')) return { ...config, defaultLimit: amountLimit }
  return isWritten('amountLimit') ? config : { ...config, amountLimit: defaultLimit }
}

/** Strapi's descriptions of the built-in roles. */
const DESCRIPTIONS: ReadonlyMap<string, string> = new Map([
  ['public', 'Default role given to unauthenticated user.'],
  ['authenticated', 'Default role given to authenticated user.'],
])

const toRole = (
  key: string,
  role: Before<RoleDeclaration, 'name'>,
  hasDescription: boolean,
): RoleDeclaration => ({
  name: key.slice(0, 1).toUpperCase() + key.slice(1),
  ...role,
  description: hasDescription ? role.description : (DESCRIPTIONS.get(key) ?? role.description),
})

/** A day becomes midnight in UTC. An invalid value is returned unchanged: a check reports it. */
function toToken(token: ApiTokenDeclaration): ApiTokenDeclaration {
  const { expiresAt } = token
  return expiresAt !== undefined && isMoment(expiresAt)
    ? { ...token, expiresAt: new Date(expiresAt).toISOString() }
    : token
}

const mapEntries = <From, To>(
  map: Readonly<Record<string, From>>,
  change: (key: string, value: From) => To,
): Record<string, To> =>
  Object.fromEntries(Object.entries(map).map(([key, value]) => [key, change(key, value)]))
