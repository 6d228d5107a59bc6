import { createHash } from 'node:crypto'
import { didYouMean } from '../base/nearest.ts'
import type { Values } from '../documents/desired-state.ts'
import { type ParseTerms, parseValues } from '../documents/values/parse-attribute.ts'
import type { ValueFault } from '../documents/values/value-fault.ts'
import { type Diagnostic, type Path, printPath as printed } from '../faults/diagnostic.ts'
import type { Attribute, Holder, Model } from '../model/model.ts'
import type { Status } from '../query/query.ts'
import type { ContentDocument, ContentVersion } from './content.ts'
import { diagnose } from './content-fault.ts'
import type { LinkReader } from './parse-links.ts'
import { type EntryBody, isEntryBody, type RawEntry } from './read-entries.ts'

export interface ParsedEntry {
  readonly document: ContentDocument
  readonly faults: readonly Diagnostic[]
}

export interface ParseEntryTerms {
  readonly model: Model
  readonly links: LinkReader
}

/** Parses one document of a file: its versions with values in stored form, and all faults. */
export function parseEntry(raw: RawEntry, terms: ParseEntryTerms): ParsedEntry {
  const { type, name, on, source, path, documentId } = raw
  const parsed = [...parseVersions(raw, terms)]
  const versions = parsed.flatMap(each => (each.version === undefined ? [] : [each.version]))
  const faults = parsed.flatMap(each => each.faults)
  const document = { type, name, on, source, path, documentId, versions, files: terms.links.files }
  return { document: { ...document, digest: documentDigest(document) }, faults }
}

interface ParsedVersion {
  readonly version?: ContentVersion
  readonly faults: readonly Diagnostic[]
}

function* parseVersions(raw: RawEntry, terms: ParseEntryTerms): Generator<ParsedVersion> {
  const { type, body, path } = raw
  const head = metadataKeys(raw)
  const status = parseStatus(raw, head)
  yield { faults: status.faults }
  const locales = head.has('locales') ? parseLocales(raw, terms.model) : { bodies: [], faults: [] }
  yield { faults: locales.faults }
  const own = Object.fromEntries(Object.entries(body).filter(([key]) => !head.has(key)))
  const first = type.localized ? terms.model.defaultLocale : null
  if (isInOtherLocalesOnly(raw, own, locales.bodies))
    yield parseSharedOnly(
      raw,
      own,
      { statuses: status.statuses, locale: locales.bodies[0]?.locale ?? first },
      terms,
    )
  else
    yield parseVersion(
      raw,
      { body: own, path, locale: first, statuses: status.statuses, covers: () => true },
      terms,
    )
  for (const { locale, body: values } of locales.bodies) {
    const at = [...path, 'locales', locale]
    yield parseVersion(
      raw,
      { body: values, path: at, locale, statuses: status.statuses, covers: isLocalizedAttribute },
      terms,
    )
  }
}

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
  readonly body: EntryBody
}

function parseLocales(raw: RawEntry, { locales, defaultLocale }: Model) {
  const { body, path } = raw
  const at = [...path, 'locales']
  if (!isEntryBody(body.locales))
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
    else if (!isEntryBody(values))
      faults.push(diagnose('bad-shape', 'a locale is a mapping of its attributes', spot))
    else bodies.push({ locale, body: values })
  }
  return { bodies, faults }
}

/** True if the document has no version in the default locale: the top level has shared attributes only. */
const isInOtherLocalesOnly = ({ type }: RawEntry, own: EntryBody, locales: readonly LocaleBody[]): boolean =>
  locales.length > 0 && Object.keys(own).every(key => type.attributes.get(key)?.localized === false)

function parseSharedOnly(
  raw: RawEntry,
  body: EntryBody,
  { statuses, locale }: { readonly statuses: readonly Status[]; readonly locale: string | null },
  terms: ParseEntryTerms,
): ParsedVersion {
  const covers = ({ localized }: Attribute) => !localized
  return parseVersion(raw, { body, path: raw.path, locale, statuses, covers }, terms)
}

interface VersionBody {
  readonly body: EntryBody
  readonly path: Path
  readonly locale: string | null
  readonly statuses: readonly Status[]
  readonly covers: (attribute: Attribute) => boolean
}

function parseVersion(
  raw: RawEntry,
  { body, path, locale, statuses, covers }: VersionBody,
  { links }: ParseEntryTerms,
): ParsedVersion {
  const parseTerms: ParseTerms = {
    strictness: statuses.includes('published') ? 'full' : 'draft',
    purpose: 'make',
    componentIds: false,
    links: links.parse,
  }
  const { values, faults } = parseValues(raw.type, body, parseTerms, { path, covers })
  const misplaced = Object.keys(body).filter(
    key => raw.type.attributes.has(key) && !covers(attributeOf(raw, key)),
  )
  const version = {
    locale,
    statuses,
    values: withUserDefaults(raw, values),
    given: new Set(Object.keys(body)),
    path,
  }
  return {
    version,
    faults: [
      ...misplaced.map(key =>
        diagnose('unknown-key', `all locales share \`${key}\`: set it at the top level of the document`, {
          ...raw,
          path: [...path, key],
          atKey: true,
        }),
      ),
      ...faults.map(fault => toDiagnostic(raw, fault)),
    ],
  }
}

function attributeOf({ type }: RawEntry, key: string): Attribute {
  const attribute = type.attributes.get(key)
  if (!attribute) throw new TypeError(`${type.uid} has no ${key}`)
  return attribute
}

/** Users of content/ sign in with a password, so their provider is `local`. */
const withUserDefaults = ({ type }: RawEntry, values: Values): Values =>
  type.builtIn && type.key === 'user'
    ? new Map([['provider', { kind: 'scalar', value: 'local' }], ...values])
    : values

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

/** A digest of all values that would be written, independent of their order in the file. */
function documentDigest({ type, versions }: Omit<ContentDocument, 'digest'>): string {
  const whole = versions.map(({ locale, statuses, values, given }) => [
    locale,
    statuses,
    digestedValues(type, new Map([...values].filter(([name]) => given.has(name)))),
  ])
  return createHash('sha256').update(JSON.stringify(whole)).digest('hex')
}

/** Without passwords: they are set only once, and a digest would allow guessing them. */
const digestedValues = (holder: Holder, values: Values): readonly unknown[] =>
  [...values]
    .filter(([name]) => !holdsPassword(holder, name))
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, value]) => [
      name,
      value.kind === 'components'
        ? value.items.map(({ component, values: nested }) => [
            component.uid,
            digestedValues(component, nested),
          ])
        : value,
    ])

export function holdsPassword(holder: Holder, name: string): boolean {
  const attribute = holder.attributes.get(name)
  return attribute?.kind === 'scalar' && attribute.type === 'password'
}
