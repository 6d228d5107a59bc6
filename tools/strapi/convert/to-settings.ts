import { ticked } from '../../../core/base/text.ts'
import {
  type JsonSchema,
  readProjectSchema,
  resolveRef,
} from '../../../core/project/grammar/project-schema.ts'
import { isDefault } from '../../../core/project/settings/fill-defaults.ts'
import type { Json } from '../../../core/project/settings/settings.ts'
import { attributeNameIn, type Names, ownUserAttributes } from '../names.ts'
import {
  isFromEnvironment,
  isLiteralList,
  isMapping,
  type LiteralValue,
  mappingAt,
  mergeValues,
  scriptPlace,
  textAt,
  textsAt,
  toJson,
  UNKNOWN_KEYS,
  valueAt,
} from '../read/literal-value.ts'
import type { StrapiConfig, StrapiProject } from '../read/strapi-project.ts'
import { type DocumentEntry, entry, flow, lost, type Note, section } from '../yaml-document.ts'

/** A setting's value. A variable without a fallback gets the default: an unset one would be an error. */
export function setting(
  key: string,
  declared: LiteralValue | undefined,
  byDefault?: Json,
): DocumentEntry | undefined {
  if (!isFromEnvironment(declared)) return flow(key, toJson(declared) ?? undefined)
  const found = toJson(fallbackOf(declared))
  const fallback = found === undefined || found === null || found === '' ? byDefault : found
  const isWord = typeof fallback === 'string' || typeof fallback === 'number' || typeof fallback === 'boolean'
  if (!isWord || String(fallback).includes('}')) return undefined
  return entry(key, { kind: 'variable', name: declared.name, fallback: String(fallback) })
}

/** The fallback of `env('A', env('B', 1))` is 1. */
export const fallbackOf = (declared: LiteralValue | undefined): LiteralValue | undefined =>
  isFromEnvironment(declared) ? fallbackOf(declared.fallback) : declared

/** The `config` of a middleware in config/middlewares. */
export function middleware({ middlewares }: StrapiConfig, name: string): LiteralValue | undefined {
  if (!isLiteralList(middlewares)) return undefined
  const found = middlewares.find(each => textAt(each, 'name') === name)
  return valueAt(found, 'config')
}

type SettingPath = readonly string[]

const isDefaultAt = (path: SettingPath, value: unknown): boolean =>
  isDefault(value, path, readProjectSchema())

/** A size such as `2mb`, or bytes, or a variable of one. */
export function sizeSetting(
  path: SettingPath,
  declared: LiteralValue | undefined,
): DocumentEntry | undefined {
  const key = path.at(-1) ?? ''
  if (isFromEnvironment(declared)) return setting(key, declared, defaultAt(path))
  const isSize = typeof declared === 'number' || typeof declared === 'string'
  return isSize && !isDefaultAt(path, declared) ? flow(key, declared) : undefined
}

const defaultAt = (path: SettingPath): Json | undefined => {
  const root = readProjectSchema()
  const schema = path.reduce<JsonSchema>((at, key) => resolveRef(at.properties?.[key] ?? {}, root), root)
  return schema.default as Json | undefined
}

/** The settings of a section that Strapi calls the same. */
const sameSettings = (
  path: SettingPath,
  declared: ReadonlyMap<string, LiteralValue>,
  keys: readonly string[],
) =>
  keys.map(key =>
    isDefaultAt([...path, key], declared.get(key))
      ? undefined
      : setting(key, declared.get(key), defaultAt([...path, key])),
  )

/** The front-ends of a Strapi 4 project read its format. */
export function convertRest(project: StrapiProject): DocumentEntry | undefined {
  const { config, version } = project
  const rest = withBoundedList(mappingAt(config.api, 'rest'), 'maxLimit')
  return section('rest', [
    ...sameSettings(['rest'], rest, ['prefix', 'defaultLimit', 'maxLimit', 'withCount']),
    version === 4 ? flow('responseFormat', isFlattened(project) ? 'v4-flat' : 'v4') : undefined,
    setting('populateDeep', populateDeep(project)),
  ])
}

/** True if config/plugins disables a plugin. */
export const isDisabled = (declared: LiteralValue | undefined): boolean =>
  declared === false || valueAt(declared, 'enabled') === false

/** Why no user signs in to Strapi: it starts the plugin only if package.json or config/plugins names it; null: users do. */
export function whyNoUsers({ config, packages }: StrapiProject): string | null {
  const plugin = valueAt(config.plugins, 'users-permissions')
  if (isDisabled(plugin)) return 'the plugin users-permissions was disabled in Strapi'
  const isThere =
    packages.includes('@strapi/plugin-users-permissions') || valueAt(plugin, 'resolve') !== undefined
  return isThere ? null : 'package.json of Strapi does not name `@strapi/plugin-users-permissions`'
}

/** Strapi localizes nothing without the plugin i18n, which is a package of its own before version 5. */
export function withServedLocales(project: StrapiProject): StrapiProject {
  const { config, packages, version, contentTypes } = project
  const plugin = valueAt(config.plugins, 'i18n')
  const isThere =
    version === 5 || packages.includes('@strapi/plugin-i18n') || valueAt(plugin, 'resolve') !== undefined
  const localized = contentTypes.filter(
    ({ schema }) => valueAt(schema, 'pluginOptions', 'i18n', 'localized') === true,
  )
  if (localized.length === 0 || (isThere && !isDisabled(plugin))) return project
  const why = isThere
    ? 'the plugin i18n was disabled in Strapi'
    : 'package.json of Strapi does not name `@strapi/plugin-i18n`'
  const text = `${why}: ${ticked(localized.map(({ singularName }) => singularName))} had no locales, whatever the schema says`
  const unlocalized = new Map([['pluginOptions', new Map([['i18n', false]])]])
  return {
    ...project,
    irregular: [...project.irregular, text],
    contentTypes: contentTypes.map(type => {
      const schema = mergeValues(type.schema, unlocalized)
      return localized.includes(type) && isMapping(schema) ? { ...type, schema } : type
    }),
  }
}

/** What strapi-plugin-transformer removes from answers; null without it. */
function transformerOf({ config, packages }: StrapiProject) {
  const plugin = valueAt(config.plugins, 'transformer')
  const isThere = packages.includes('strapi-plugin-transformer') && plugin !== undefined
  if (!isThere || isDisabled(plugin)) return null
  const isSet = (...way: readonly string[]) => valueAt(plugin, 'config', ...way) === true
  return {
    attributes: isSet('responseTransforms', 'removeAttributesKey'),
    data: isSet('responseTransforms', 'removeDataKey'),
    wraps: isSet('requestTransforms', 'wrapBodyWithDataKey'),
  }
}

function isFlattened(project: StrapiProject): boolean {
  const { attributes = false, data = false } = transformerOf(project) ?? {}
  return attributes && data
}

/** The forms of requests and answers that the transformer has, and Plinth does not. */
export function transformerNotes(project: StrapiProject): readonly Note[] {
  const transformer = transformerOf(project)
  if (transformer === null) return []
  const { attributes, data, wraps } = transformer
  const place = scriptPlace(project.config.plugins, 'transformer', 'config') ?? 'config/plugins'
  const half =
    'strapi-plugin-transformer removed only `attributes` or only `data` from answers: `rest.responseFormat` is `v4` with both, or `v4-flat` without both'
  const bare = 'strapi-plugin-transformer took bodies without `data`: front-ends send `{ "data": … }` here'
  return [...(attributes === data ? [] : [lost(half, place)]), ...(wraps ? [lost(bare, place)] : [])]
}

/** Plugins with `populate=deep`, under any of their names. */
export const POPULATE_DEEP = /populate-deep/

/** The depth of these plugins where config/plugins does not say it. */
const PLUGIN_DEPTH = 5

function populateDeep({ config, packages }: StrapiProject): LiteralValue | undefined {
  const configured = [...mappingAt(config.plugins).keys()].find(name => POPULATE_DEEP.test(name))
  const plugin = configured === undefined ? undefined : valueAt(config.plugins, configured)
  const isThere = configured !== undefined || packages.some(name => POPULATE_DEEP.test(name))
  if (!isThere || isDisabled(plugin)) return undefined
  return valueAt(plugin, 'config', 'defaultDepth') ?? PLUGIN_DEPTH
}

/** Length of lists where Strapi has no limit (-1). The size of the response is bounded by `database.limits.bytes`. */
const UNLIMITED_LIST = 100_000

/** Replaces "no limit" by a number. No limit is also Strapi's default, and a variable without a fallback. */
function withBoundedList(
  declared: ReadonlyMap<string, LiteralValue>,
  key: string,
): ReadonlyMap<string, LiteralValue> {
  const value = declared.get(key) ?? -1
  if (isFromEnvironment(value) && [undefined, null, -1].includes(toJson(fallbackOf(value)) as undefined))
    return new Map([...declared, [key, { ...value, fallback: UNLIMITED_LIST }]])
  return value === -1 ? new Map([...declared, [key, UNLIMITED_LIST]]) : declared
}

/** Strapi limits lists by `maxLimit`; `amountLimit`, its documented name, has no effect there. */
function withAmountLimit(declared: ReadonlyMap<string, LiteralValue>): ReadonlyMap<string, LiteralValue> {
  const { maxLimit, ...others } = Object.fromEntries(declared)
  const named = new Map(
    Object.entries({ ...others, ...(maxLimit !== undefined && { amountLimit: maxLimit }) }),
  )
  return withBoundedList(named, 'amountLimit')
}

/** The settings of the GraphQL plugin that Plinth has. */
export const GRAPHQL: readonly string[] = [
  'endpoint',
  'shadowCRUD',
  'playgroundAlways',
  'depthLimit',
  'amountLimit',
  'defaultLimit',
]

/** Strapi 5 has the flat format unless its project asks for that of Strapi 4. */
const COMPATIBILITY = 'v4CompatibilityMode'

/** True if Strapi has the plugin, and does not disable it. */
export function servesGraphql({ config, packages }: StrapiProject): boolean {
  return packages.includes('@strapi/plugin-graphql') && !isDisabled(valueAt(config.plugins, 'graphql'))
}

export function convertGraphql(project: StrapiProject): DocumentEntry | undefined {
  const { config, version } = project
  const plugin = valueAt(config.plugins, 'graphql')
  if (!servesGraphql(project)) return section('graphql', [flow('enabled', false)])
  const declared = withAmountLimit(mappingAt(plugin, 'config'))
  const isFlat = version === 5 && declared.get(COMPATIBILITY) !== true
  const entries = [
    ...sameSettings(['graphql', 'config'], declared, GRAPHQL),
    isFlat ? flow(COMPATIBILITY, false) : undefined,
    version === 4 ? flow('entityId', 'record') : undefined,
  ]
  const other = [...declared.keys()].filter(
    key => !GRAPHQL.includes(key) && key !== COMPATIBILITY && !key.startsWith(UNKNOWN_KEYS),
  )
  const notes = other.length === 0 ? [] : [`without a counterpart: ${ticked(other)}`]
  const place = scriptPlace(config.plugins, 'graphql', 'config', other[0] ?? '')
  const inner = section('config', entries, notes)
  return section('graphql', [inner && { ...inner, source: place }])
}

/** The maximum size of a file: the smaller one of the plugin upload and the parser of forms. */
function fileSize(config: StrapiConfig): LiteralValue | undefined {
  const declared = mappingAt(config.plugins, 'upload', 'config')
  const own = valueAt(declared, 'sizeLimit') ?? valueAt(declared, 'providerOptions', 'sizeLimit')
  const parsed = valueAt(middleware(config, 'strapi::body'), 'formidable', 'maxFileSize')
  return typeof own === 'number' && typeof parsed === 'number' ? Math.min(own, parsed) : (own ?? parsed)
}

export function toUpload({ config }: StrapiProject): DocumentEntry | undefined {
  const declared = mappingAt(config.plugins, 'upload', 'config')
  const provider = declared.get('provider')
  const isS3 = provider === 'aws-s3' || provider === '@strapi/provider-upload-aws-s3'
  const isOther = provider !== undefined && provider !== 'local' && !isS3
  const name =
    typeof provider === 'string'
      ? `the provider \`${provider}\``
      : 'the provider that config/plugins chooses when it runs'
  return section(
    'upload',
    [sizeSetting(['upload', 'sizeLimit'], fileSize(config))],
    [
      ...(isS3
        ? [
            'Strapi kept its files in an S3 bucket: say `provider: s3` and its `providerOptions` here (docs/uploads.md)',
          ]
        : []),
      ...(isOther
        ? [`without a counterpart: ${name}; Plinth keeps files in a folder or in an S3 bucket`]
        : []),
      ...(declared.has('breakpoints') ? ['without a counterpart: `breakpoints`'] : []),
    ],
  )
}

/** Sign-in settings from files; others are in the database. */
export function usersPermissions(
  project: StrapiProject,
  names: Names,
): {
  readonly jwtExpiresIn: DocumentEntry | undefined
  readonly allowedFields: Json | undefined
} {
  const declared = mappingAt(project.config.plugins, 'users-permissions', 'config')
  const fields = valueAt(declared, 'register', 'allowedFields')
  const accepted = fields === undefined ? acceptedByDefault(project) : textsAt(fallbackOf(fields))
  const allowed = accepted.map(name => attributeNameIn(names, 'plugin::users-permissions.user', name))
  return {
    jwtExpiresIn: tokenLifetime(valueAt(declared, 'jwt', 'expiresIn')),
    allowedFields: allowed.length === 0 ? undefined : allowed,
  }
}

/** Numbers are seconds in Strapi, and milliseconds in Plinth; texts are the same in both. */
function tokenLifetime(declared: LiteralValue | undefined): DocumentEntry | undefined {
  const path = ['auth', 'jwtExpiresIn']
  const value = fallbackOf(declared)
  const lifetime = typeof value === 'number' ? `${value}s` : (toJson(value) ?? undefined)
  if (!isFromEnvironment(declared))
    return flow('jwtExpiresIn', isDefaultAt(path, lifetime) ? undefined : lifetime)
  if (typeof value !== 'number') return setting('jwtExpiresIn', declared, defaultAt(path))
  const text = `the variable \`${declared.name}\` had seconds in Strapi: a variable here needs a unit, such as \`7d\``
  return entry('jwtExpiresIn', { kind: 'flow', json: lifetime ?? null }, [lost(text)])
}

/** Without the setting, registration of Strapi 4 accepts all public attributes of the project. Plinth's sets no links. */
const acceptedByDefault = ({ version, user }: StrapiProject): readonly string[] =>
  version === 5
    ? []
    : [...ownUserAttributes(user)]
        .filter(([name]) => !STAMPS.has(name))
        .filter(
          ([, declared]) =>
            !UNACCEPTED.has(textAt(declared, 'type') ?? '') && valueAt(declared, 'private') !== true,
        )
        .map(([name]) => name)

const STAMPS: ReadonlySet<string> = new Set([
  ...['createdAt', 'updatedAt', 'publishedAt', 'createdBy', 'updatedBy'],
])

const UNACCEPTED: ReadonlySet<string> = new Set(['relation', 'media'])

/** Custom global middlewares. */
export function ownMiddlewares({
  config,
}: StrapiProject): readonly { readonly name: string; readonly place: string }[] {
  if (!isLiteralList(config.middlewares)) return []
  return config.middlewares.flatMap(each => {
    const name = typeof each === 'string' ? each : (textAt(each, 'name') ?? textAt(each, 'resolve'))
    const place = scriptPlace(each, 'name') ?? scriptPlace(each, 'resolve') ?? 'config/middlewares'
    return name === undefined || name.startsWith('strapi::') ? [] : [{ name, place }]
  })
}
