import { didYouMean, nearest } from '../../base/nearest.ts'
import { ticked } from '../../base/text.ts'
import type { Path } from '../../faults/diagnostic.ts'
import type { ProjectFinding } from '../faults.ts'
import type { AttributeDeclaration } from '../settings/declarations.ts'
import type { IsWritten } from '../settings/derive-defaults.ts'
import type { Settings } from '../settings/settings.ts'
import {
  addresses,
  apiTokens,
  claims,
  issuers,
  jwtSecret,
  objectNames,
  permissionFields,
  providers,
  registration,
  roleParents,
  tokenCallers,
} from './access.ts'
import { consoleLayouts, consolePath, consoleViews } from './console.ts'
import {
  cors,
  durations,
  endpoints,
  graphqlFormats,
  graphqlNames,
  metrics,
  pageLimits,
  replicas,
  routes,
  trustedDocuments,
} from './server.ts'

interface ProviderOptions {
  readonly known: readonly string[]
  readonly needed: readonly string[]
}

/** A map: a storage of an extension may have the name of an inherited property, such as `constructor`. */
const OPTIONS: ReadonlyMap<string, ProviderOptions> = new Map(
  Object.entries({
    local: { known: ['private'], needed: [] },
    s3: {
      known: [
        ...['endpoint', 'region', 'bucket', 'accessKeyId', 'secretAccessKey', 'publicUrl'],
        ...['private', 'forcePathStyle'],
      ],
      needed: ['bucket', 'accessKeyId', 'secretAccessKey'],
    },
  }),
)

/** A built-in upload provider needs its required options and allows no unknown ones. An extension checks its own. */
function* providerOptions({ upload }: Settings): Generator<ProjectFinding> {
  const options = OPTIONS.get(upload.provider)
  if (!options) return
  const { known, needed } = options
  const path = ['upload', 'providerOptions']
  for (const key of Object.keys(upload.providerOptions)) {
    if (known.includes(key)) continue
    const message = `unknown key \`${key}\`: the provider \`${upload.provider}\` has no such option`
    const meant = didYouMean(key, known)
    yield {
      code: 'unknown-key',
      message: meant ? `unknown key \`${key}\`${meant}` : message,
      path: [...path, key],
      atKey: true,
    }
  }
  yield* optionValues(upload.providerOptions, known)
  const missing = needed.filter(key => !Object.hasOwn(upload.providerOptions, key))
  if (missing.length === 0) return
  const message = `the provider \`${upload.provider}\` needs ${ticked(missing)} in \`providerOptions\``
  yield { code: 'missing-key', message, path, atKey: true }
}

const FLAGS = ['private', 'forcePathStyle']
const ADDRESSES = ['endpoint', 'publicUrl']

/** A misspelled `private` would publish files. Variables of the environment are texts, so `"true"` is one of the values. */
function* optionValues(
  options: Settings['upload']['providerOptions'],
  known: readonly string[],
): Generator<ProjectFinding> {
  for (const key of known.filter(each => Object.hasOwn(options, each))) {
    const value = String(options[key])
    const path = ['upload', 'providerOptions', key]
    if (FLAGS.includes(key) && value !== 'true' && value !== 'false')
      yield { code: 'bad-value', message: `\`${key}\` is true or false, found \`${value}\``, path }
    if (ADDRESSES.includes(key) && value !== '' && !/^https?:\/\/[^\s/?#][^\s?#]*$/.test(value))
      yield {
        code: 'bad-value',
        message: `\`${key}\` is an address such as https://objects.example.org`,
        path,
      }
  }
}

/** Codes must be valid and distinct, and include the default locale. */
function* locales({ i18n }: Settings): Generator<ProjectFinding> {
  const codes = i18n.locales.map(({ code }) => code)
  for (const [index, code] of codes.entries()) {
    const path = ['i18n', 'locales', index]
    const first = codes.findIndex(other => other.toLowerCase() === code.toLowerCase())
    if (!isLanguage(code))
      yield { code: 'bad-value', message: `\`${code}\` is not the code of a language`, path }
    else if (first < index) {
      const related = { path: ['i18n', 'locales', first], message: 'it is also here' }
      yield {
        code: 'duplicate-name',
        message: `the locale \`${code}\` is in the list twice`,
        path,
        related,
      }
    }
  }
  if (!codes.includes(i18n.defaultLocale)) yield unknownDefault(i18n.defaultLocale, codes)
}

function isLanguage(code: string): boolean {
  try {
    return Intl.getCanonicalLocales(code).length === 1
  } catch (error) {
    if (error instanceof RangeError) return false
    throw error
  }
}

function unknownDefault(code: string, codes: readonly string[]): ProjectFinding {
  const meant = nearest(code, codes) ?? codes[0]
  const message = `the default locale \`${code}\` is not among \`locales\`: write \`defaultLocale: ${meant}\`, or add it to the list`
  return { code: 'unknown-name', message, path: ['i18n', 'defaultLocale'] }
}

const BOUND_PAIRS = [
  ['min', 'max'],
  ['minLength', 'maxLength'],
] as const

/** Lower bounds must not exceed upper ones. Components have bounds only if they are repeatable. */
function* attributeBounds(settings: Settings): Generator<ProjectFinding> {
  for (const declared of attributesWithPaths(settings)) {
    yield* crossedBounds(declared)
    yield* boundsOfOne(declared)
  }
}

type Bounds = { readonly type: string } & Partial<
  Record<'min' | 'max' | 'minLength' | 'maxLength', number | string>
>

function* crossedBounds({ attribute, path }: AttributeAtPath): Generator<ProjectFinding> {
  const bounds: Bounds = attribute
  for (const [low, high] of BOUND_PAIRS) {
    const [least, most] = [bounds[low], bounds[high]]
    if (least === undefined || most === undefined || !isAbove(least, most)) continue
    const message = `\`${low}\` is ${least}, which is more than \`${high}\`: ${most}`
    yield {
      code: 'conflict',
      message,
      path: [...path, low],
      related: { path: [...path, high], message: `\`${high}\` is here` },
    }
  }
}

/** Compares bounds. Texts are integers beyond the precision of a double. */
function isAbove(one: number | string, other: number | string): boolean {
  return typeof one === 'number' && typeof other === 'number' ? one > other : BigInt(one) > BigInt(other)
}

function* boundsOfOne({ attribute, path }: AttributeAtPath): Generator<ProjectFinding> {
  if (attribute.type !== 'component' || attribute.repeatable) return
  for (const bound of ['min', 'max'] as const) {
    if (attribute[bound] === undefined) continue
    const message = `\`${bound}\` counts the components of a list: it needs \`repeatable: true\``
    yield { code: 'conflict', message, path: [...path, bound], atKey: true }
  }
}

/** An attribute with the path of its declaration. */
interface AttributeAtPath {
  readonly attribute: AttributeDeclaration
  readonly path: Path
}

/** All attributes of components, content-types and the user. */
function* attributesWithPaths({ components, contentTypes, user }: Settings): Generator<AttributeAtPath> {
  for (const [name, { attributes }] of Object.entries(components))
    yield* within(['components', name], attributes)
  for (const [name, { attributes }] of Object.entries(contentTypes))
    yield* within(['contentTypes', name], attributes)
  yield* within(['user'], user.attributes)
}

function* within(
  holder: Path,
  attributes: Readonly<Record<string, AttributeDeclaration>>,
): Generator<AttributeAtPath> {
  for (const [name, attribute] of Object.entries(attributes)) {
    yield { attribute, path: [...holder, 'attributes', name] }
  }
}

/** The checks beyond the schema, in the order of the sections. Checks that need the compiled model are in core/model/check. */
export const rules: readonly ProjectRule[] = [
  cors,
  durations,
  metrics,
  replicas,
  locales,
  pageLimits,
  graphqlNames,
  graphqlFormats,
  trustedDocuments,
  endpoints,
  consolePath,
  consoleLayouts,
  consoleViews,
  attributeBounds,
  objectNames,
  roleParents,
  permissionFields,
  apiTokens,
  tokenCallers,
  routes,
  jwtSecret,
  issuers,
  providers,
  addresses,
  claims,
  registration,
  providerOptions,
]

/** A check that the schema cannot express. Yields every violation. */
type ProjectRule = (settings: Settings, isWritten: IsWritten) => Iterable<ProjectFinding>
