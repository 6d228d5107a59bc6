import { createHash } from 'node:crypto'
import { once } from '../base/memo.ts'
import { didYouMean, nearest } from '../base/nearest.ts'
import { groupBy } from '../base/plain-data.ts'
import type { DesiredValue, Values } from '../documents/desired-state.ts'
import { documentIdOf } from '../documents/rows/document-id.ts'
import { isShared } from '../documents/rows/planning.ts'
import { type ParseOptions, parseValues } from '../documents/values/parse-attribute.ts'
import { type Body, isBody } from '../documents/values/parse-item.ts'
import type { ValueFault } from '../documents/values/value-fault.ts'
import { type Diagnostic, type Path, printPath as printed } from '../faults/diagnostic.ts'
import type { ImportedPart } from '../import/imported-document.ts'
import type { Attribute, ContentType, Holder, Model } from '../model/model.ts'
import type { Status } from '../query/query.ts'
import type { ContentDocument, ContentVersion } from './content.ts'
import { diagnose } from './content.ts'
import type { LinkReader } from './parse-links.ts'
import type { RawEntry } from './read-entries.ts'

export interface ParsedEntry {
  readonly document: ContentDocument
  readonly faults: readonly Diagnostic[]
}

export interface ParseEntryOptions {
  readonly model: Model
  readonly links: LinkReader
}

/** Parses one document of a file: its versions with values in stored form, and all faults. */
export function parseEntry(raw: RawEntry, options: ParseEntryOptions): ParsedEntry {
  const { type, name, isDerived, on, source, path } = raw
  const head = metadataKeys(raw)
  const { statuses, faults } = parseStatus(raw, head)
  const locales = head.has('locales') ? parseLocales(raw, options.model) : { bodies: [], faults: [] }
  const parsed = versionBodies(raw, head, locales.bodies, options.model).map(body =>
    parseBody(raw, body, statuses, options),
  )
  const document: ContentDocument = {
    ...{ type, name, isDerived, on, source, path },
    versions: parsed.filter(({ hasVersion }) => hasVersion).map(body => toVersion(type, body, statuses)),
    shared: sharedParts(type, parsed, statuses),
    files: options.links.files,
    digest: entryDigest(type, parsed, statuses),
    otherDigests: once(() => otherDigests(type, parsed, statuses, options.model)),
  }
  return { document, faults: [...faults, ...locales.faults, ...parsed.flatMap(body => body.faults)] }
}

/** Attributes of a document in one place of its entry. */
interface VersionBody {
  readonly body: Body
  readonly path: Path
  readonly locale: string | null
  readonly covers: (attribute: Attribute) => boolean
  /** False if the body has shared attributes only. */
  readonly hasVersion: boolean
}

function versionBodies(
  { type, body, path }: RawEntry,
  head: ReadonlySet<string>,
  locales: readonly LocaleBody[],
  { defaultLocale }: Model,
): readonly VersionBody[] {
  const own = Object.fromEntries(Object.entries(body).filter(([key]) => !head.has(key)))
  const isSharedOnly =
    locales.length > 0 && Object.keys(own).every(key => type.attributes.get(key)?.localized === false)
  const first = type.localized ? defaultLocale : null
  return [
    isSharedOnly
      ? { body: own, path, locale: locales[0]?.locale ?? first, covers: isCommon, hasVersion: false }
      : { body: own, path, locale: first, covers: () => true, hasVersion: true },
    ...locales.map(({ locale, body: values }) => ({
      body: values,
      path: [...path, 'locales', locale],
      locale,
      covers: isLocalizedAttribute,
      hasVersion: true,
    })),
  ]
}

const isCommon = ({ localized }: Attribute): boolean => !localized

const isLocalizedAttribute = ({ localized }: Attribute): boolean => localized

/** Keys of an entry that are not attributes. An attribute of the same name takes precedence. */
function metadataKeys({ type, body }: RawEntry): ReadonlySet<string> {
  const words = [
    'documentId',
    ...(type.attributes.has('status') ? [] : ['status']),
    ...(type.localized && !type.attributes.has('locales') ? ['locales'] : []),
  ]
  return new Set(words.filter(word => word in body))
}

function parseStatus(raw: RawEntry, head: ReadonlySet<string>) {
  const { type, body, path } = raw
  const published: readonly Status[] = type.draftAndPublish ? ['draft', 'published'] : ['published']
  if (!head.has('status')) return { statuses: published, faults: [] }
  const { status } = body
  const at = { ...raw, path: [...path, 'status'] }
  if (!type.draftAndPublish && status === 'draft')
    return { statuses: published, faults: [diagnose('bad-value', `\`${type.key}\` has no drafts`, at)] }
  if (status === 'draft') return { statuses: ['draft'] as const, faults: [] }
  const near = typeof status === 'string' ? didYouMean(status, ['draft', 'published']) : ''
  const faults =
    status === 'published'
      ? []
      : [diagnose('bad-value', `\`status\` is \`draft\` or \`published\`${near}`, at)]
  return { statuses: published, faults }
}

interface LocaleBody {
  readonly locale: string
  readonly body: Body
}

function parseLocales(raw: RawEntry, { locales, defaultLocale }: Model) {
  const { body, path } = raw
  const at = [...path, 'locales']
  if (!isBody(body.locales))
    return {
      bodies: [],
      faults: [
        diagnose('bad-shape', '`locales` is a mapping from locales to attributes', { ...raw, path: at }),
      ],
    }
  const codes = locales.map(({ code }) => code)
  const bodies: LocaleBody[] = []
  const faults: Diagnostic[] = []
  for (const [locale, values] of Object.entries(body.locales)) {
    const spot = { ...raw, path: [...at, locale], atKey: true }
    if (!codes.includes(locale))
      faults.push(
        diagnose(
          'unknown-locale',
          `unknown locale \`${locale}\`${didYouMean(locale, codes) || `: there are ${codes.join(', ')}`}`,
          spot,
        ),
      )
    else if (locale === defaultLocale)
      faults.push(
        diagnose(
          'unknown-locale',
          `\`${locale}\` is the default locale: set its attributes at the top level`,
          spot,
        ),
      )
    else if (!isBody(values))
      faults.push(diagnose('bad-shape', 'a locale is a mapping of its attributes', spot))
    else bodies.push({ locale, body: values })
  }
  return { bodies, faults }
}

interface ParsedBody extends VersionBody {
  readonly values: Values
  readonly faults: readonly Diagnostic[]
}

function parseBody(
  raw: RawEntry,
  version: VersionBody,
  statuses: readonly Status[],
  { links }: ParseEntryOptions,
): ParsedBody {
  const { body, path, covers } = version
  const parseOptions: ParseOptions = {
    strictness: statuses.includes('published') ? 'full' : 'draft',
    purpose: 'make',
    componentIds: false,
    links: links.parse,
  }
  const { values, faults } = parseValues(raw.type, body, parseOptions, { path, covers })
  const misplaced = Object.keys(body).filter(
    key => raw.type.attributes.has(key) && !covers(attributeOf(raw, key)),
  )
  return {
    ...version,
    values,
    faults: [
      ...misplaced.map(key =>
        diagnose('unknown-key', `all locales share \`${key}\`: set it at the top level of the document`, {
          ...raw,
          path: [...path, key],
          atKey: true,
        }),
      ),
      ...withoutMisspelt(faults).map(fault => toDiagnostic(raw, fault)),
    ],
  }
}

/** Without missing attributes for which an unknown key of the same mapping suggests itself: that is one mistake. */
function withoutMisspelt(faults: readonly ValueFault[]): readonly ValueFault[] {
  const mappingOf = ({ path }: ValueFault) => printed(path.slice(0, -1))
  const unknown = groupBy(
    faults.filter(({ kind }) => kind === 'key'),
    mappingOf,
  )
  const isMisspelt = (fault: ValueFault) =>
    fault.kind !== 'key' &&
    (fault.value ?? null) === null &&
    unknown
      .get(mappingOf(fault))
      ?.some(({ path }) => nearest(String(path.at(-1)), [String(fault.path.at(-1))]) !== undefined)
  return unknown.size === 0 ? faults : faults.filter(fault => !isMisspelt(fault))
}

const toVersion = (type: ContentType, parsed: ParsedBody, statuses: readonly Status[]): ContentVersion => ({
  ...toPart(type, parsed, attribute => !isShared(type, attribute)),
  locale: parsed.locale,
  statuses,
  row: null,
  path: parsed.path,
})

function sharedParts(
  type: ContentType,
  [top]: readonly ParsedBody[],
  statuses: readonly Status[],
): ContentDocument['shared'] {
  if (!type.localized || !top) return new Map()
  const part = toPart(type, top, attribute => isShared(type, attribute))
  return new Map(statuses.map(status => [status, part]))
}

/** Passwords are set only when a version is created, so they are defaults. */
function toPart(
  type: ContentType,
  { body, values }: ParsedBody,
  picks: (attribute: Attribute | undefined) => boolean,
): ImportedPart {
  const picked = [...values].filter(([name]) => picks(type.attributes.get(name)))
  const isSet = (name: string) => Object.hasOwn(body, name) && !holdsPassword(type, name)
  return {
    values: new Map(picked.filter(([name]) => isSet(name))),
    defaults: new Map([...userDefaults(type), ...picked.filter(([name]) => !isSet(name))]),
    digest: '',
  }
}

/** Users of content/ sign in with a password, so their provider is `local`. */
const userDefaults = ({ builtIn, key }: ContentType): Values =>
  builtIn && key === 'user' ? new Map([['provider', { kind: 'scalar', value: 'local' }]]) : new Map()

function attributeOf({ type }: RawEntry, key: string): Attribute {
  const attribute = type.attributes.get(key)
  if (!attribute) throw new TypeError(`${type.uid} has no ${key}`)
  return attribute
}

/** Values that are secret or come from the environment are removed from the message. */
function toDiagnostic(raw: RawEntry, { kind, path, message }: ValueFault): Diagnostic {
  const at = path.slice(raw.path.length)
  const hidden = raw.source.fromEnvironment(path) || isPasswordPath(raw, path)
  const short = message.startsWith(printed(path))
    ? printed(at) + message.slice(printed(path).length)
    : message
  const text = hidden ? short.replace(/,? (but the final value was|\(cast from).*$/s, '') : short
  return diagnose(kind === 'key' ? 'unknown-key' : 'bad-value', text, { ...raw, path, atKey: kind === 'key' })
}

const isPasswordPath = ({ type }: RawEntry, path: Path): boolean =>
  path.some(key => {
    const attribute = type.attributes.get(String(key))
    return attribute?.kind === 'scalar' && attribute.type === 'password'
  })

/** A digest of all values that the entry sets, independent of their order in the file. */
function entryDigest(
  type: ContentType,
  bodies: readonly ParsedBody[],
  statuses: readonly Status[],
  naming: DigestNaming = 'current',
): string {
  const whole = bodies.map(({ locale, values, body }) => [
    locale,
    statuses,
    digestedValues(type, new Map([...values].filter(([name]) => Object.hasOwn(body, name))), naming),
  ])
  return createHash('sha256').update(JSON.stringify(whole)).digest('hex')
}

/** The names of attributes and components in a digest: those of the project, or those before their last rename. */
type DigestNaming = 'current' | 'former'

/** Digests that the same entry has if its type has drafts or locales, and if it has none; each by former names, too. */
function otherDigests(
  type: ContentType,
  bodies: readonly ParsedBody[],
  statuses: readonly Status[],
  { defaultLocale }: Model,
): readonly string[] {
  const forms = statuses.includes('published')
    ? ([['published'], ['draft', 'published']] as const)
    : [statuses]
  const locales = bodies.length === 1 ? [null, defaultLocale] : []
  const sameBodies = [bodies, ...locales.map(locale => bodies.map(body => ({ ...body, locale })))]
  return forms.flatMap(form =>
    sameBodies.flatMap(each => [entryDigest(type, each, form), entryDigest(type, each, form, 'former')]),
  )
}

/** Without passwords: they are set only once, and a digest would allow guessing them. */
const digestedValues = (holder: Holder, values: Values, naming: DigestNaming): readonly unknown[] =>
  [...values]
    .filter(([name]) => !holdsPassword(holder, name))
    .map(([name, value]) => {
      const attribute = holder.attributes.get(name)
      const called = (naming === 'former' && attribute?.renamedFrom) || name
      return [called, digestedValue(attribute, value, naming)] as const
    })
    .toSorted(([a], [b]) => (a < b ? -1 : 1))

function digestedValue(attribute: Attribute | undefined, value: DesiredValue, naming: DigestNaming): unknown {
  if (value.kind === 'components')
    return value.items.map(({ component, values }) => [
      (naming === 'former' && component.renamedFrom) || component.uid,
      digestedValues(component, values, naming),
    ])
  if (value.kind === 'scalar') return { ...value, value: digestedScalar(attribute, value.value) }
  if (attribute?.kind !== 'relation') return value
  const { builtIn, key } = attribute.target
  if (!builtIn || key === 'file') return value
  // Earlier versions recorded digests with these ids instead of the names of users and roles.
  const targets = value.targets.map(each => ({ ...each, documentId: documentIdOf(key, each.documentId) }))
  return { ...value, targets }
}

/**
 * The same for every type that takes the written value: 5, "5" and "5.00"; a date and its midnight. A change of an attribute's
 * type edits no entry.
 */
function digestedScalar(attribute: Attribute | undefined, value: unknown): unknown {
  if (typeof value === 'number') return String(value)
  if (attribute?.kind !== 'scalar' || typeof value !== 'string') return value
  if (attribute.type === 'decimal') return String(Number(value))
  return attribute.type === 'datetime' ? value.replace(/T00:00:00\.000Z$/, '') : value
}

export function holdsPassword(holder: Holder, name: string): boolean {
  const attribute = holder.attributes.get(name)
  return attribute?.kind === 'scalar' && attribute.type === 'password'
}
