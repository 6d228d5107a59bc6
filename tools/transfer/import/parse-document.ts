import { didYouMean } from '../../../core/base/nearest.ts'
import { isSameJson } from '../../../core/base/plain-data.ts'
import type { DesiredRow, DesiredValue, Values } from '../../../core/documents/desired-state.ts'
import { isShared } from '../../../core/documents/rows/planning.ts'
import { checkValues } from '../../../core/documents/values/check-values.ts'
import type { Body } from '../../../core/documents/values/parse-item.ts'
import { parseDatetime, parseScalar } from '../../../core/documents/values/parse-scalar.ts'
import type { ValueFault } from '../../../core/documents/values/value-fault.ts'
import { printPath } from '../../../core/faults/diagnostic.ts'
import type {
  ImportedDocument,
  ImportedPart,
  ImportedVersion,
} from '../../../core/import/imported-document.ts'
import { mergedValues } from '../../../core/import/imported-document.ts'
import type { Attribute, ContentType, Holder, Model } from '../../../core/model/model.ts'
import type { Status } from '../../../core/query/query.ts'
import { streamedAttributes, streamedParts } from '../describe.ts'
import type { Header, StreamedDocument, StreamedVersion } from '../stream.ts'
import type { LineFault } from '../stream-fault.ts'
import { isSecret } from '../to-streamed-document.ts'
import { parseStreamedValues, type ValueOptions } from './parse-values.ts'

export interface DocumentParseContext extends ValueOptions {
  readonly model: Model
  /** The time of the import, ISO 8601. */
  readonly now: string
}

export interface ParsedLine {
  readonly document: ParsedDocument
  readonly faults: readonly LineFault[]
}

/** The attributes that the stream's header declares. */
export const describesBy =
  ({ types, components, passwords }: Header): ValueOptions['describes'] =>
  (holder: Holder, attribute: Attribute) => {
    if (!passwords && attribute.kind === 'scalar' && isSecret(holder, attribute)) return false
    const described = holder.holder === 'component' ? components[holder.uid] : types[holder.uid]?.attributes
    return described !== undefined && Object.hasOwn(described, attribute.name)
  }

/** Parses one document and returns its faults, except those that depend on other documents. */
export function parseStreamedDocument(
  streamed: StreamedDocument,
  type: ContentType,
  line: number,
  options: DocumentParseContext,
): ParsedLine {
  const faults: LineFault[] = []
  const parsing = { type, streamed, line, options, defaults: defaultsOf(type, options), known: [] }
  const versions = streamed.versions.map(version => parseVersion(version, parsing, faults))
  const shared = new Map<Status, ImportedPart>()
  for (const status of STATUSES) {
    const part = parseShared(status, parsing, faults)
    if (part) shared.set(status, part)
  }
  const document = { line, type, name: streamed.documentId, versions, shared, lacking: [] }
  faults.push(...checkVersions(document))
  return faults.length > 0 ? { document, faults } : checkPublished(document, options)
}

const STATUSES: readonly Status[] = ['draft', 'published']

interface Parsing {
  readonly type: ContentType
  readonly streamed: StreamedDocument
  readonly line: number
  readonly options: DocumentParseContext
  readonly defaults: Defaults
  /** The valid parts of the document so far: a published version often equals its draft. */
  readonly known: KnownPart[]
}

interface KnownPart extends Pick<ImportedPart, 'values' | 'digest'> {
  readonly body: Body
  readonly attributes: readonly Attribute[]
}

/** Parses values, or finds equal ones that were parsed for another version. The digest is their index in the document. */
function parsePart(
  body: Body,
  attributes: readonly Attribute[],
  { type, options, known }: Parsing,
  report: Report,
): Pick<ImportedPart, 'values' | 'digest'> {
  const same = known.find(part => part.attributes === attributes && isSameJson(part.body, body))
  if (same) return same
  const { values, faults } = parseStreamedValues(type, body, options, attributes)
  const part = { body, attributes, values, digest: `${known.length}` }
  if (faults.length === 0) known.push(part)
  for (const fault of faults) report(printFault(fault))
  return part
}

function parseVersion(version: StreamedVersion, parsing: Parsing, faults: LineFault[]): ParsedVersion {
  const { type, streamed, line, options, defaults } = parsing
  const about = aboutVersion(type, streamed.documentId, version)
  const report = (message: string) => void faults.push({ line, about, message })
  const { values, digest } = parsePart(version.values, streamedParts(type).own, parsing, report)
  const locale = localeOf(type, version, options.locales, report)
  const status = statusOf(type, version, report)
  const row = rowOf(version, status, options.now, report)
  return { locale, status, statuses: [status], row, values, defaults: defaults.own, digest }
}

const ROW = ['id', 'createdAt', 'updatedAt', 'publishedAt', 'sharedUpdatedAt'] as const

type Report = (message: string) => void

function localeOf(
  type: ContentType,
  { locale }: StreamedVersion,
  locales: readonly string[],
  report: Report,
): string | null {
  if (!type.localized) {
    if (locale !== undefined) report(`\`${type.key}\` has no locales`)
    return null
  }
  if (locale === undefined || !locales.includes(locale))
    report(
      locale === undefined
        ? `each version of \`${type.key}\` says its \`locale\``
        : `unknown locale \`${locale}\`${didYouMean(locale, locales) || `: there are ${locales.join(', ')}`}`,
    )
  return locale ?? ''
}

function statusOf(type: ContentType, { status }: StreamedVersion, report: Report): Status {
  if (type.draftAndPublish && status === undefined)
    report(`each version of \`${type.key}\` says its \`status\``)
  if (!type.draftAndPublish && status === 'draft') report(`\`${type.key}\` has no drafts`)
  return status ?? 'published'
}

function rowOf(version: StreamedVersion, status: Status, now: string, report: Report): DesiredRow | null {
  if (ROW.every(key => version[key] === undefined)) return null
  const momentOf = (
    name: 'createdAt' | 'updatedAt' | 'publishedAt' | 'sharedUpdatedAt',
    absent: string | null,
  ) => {
    const input = version[name]
    if (input === undefined) return absent
    if (input === null) return null
    const parsed = parseDatetime(input)
    if ('stored' in parsed && typeof parsed.stored === 'string') return parsed.stored
    report(`\`${name}\` is a moment, such as \`2026-01-02T03:04:05.006Z\``)
    return absent
  }
  const createdAt = momentOf('createdAt', now) ?? now
  const updatedAt = momentOf('updatedAt', createdAt) ?? createdAt
  return {
    ...(version.id === undefined ? {} : { id: version.id }),
    createdAt,
    updatedAt,
    publishedAt: momentOf('publishedAt', status === 'draft' ? null : updatedAt),
    sharedUpdatedAt: momentOf('sharedUpdatedAt', updatedAt),
  }
}

function parseShared(status: Status, parsing: Parsing, faults: LineFault[]): ImportedPart | undefined {
  const { type, streamed, line, defaults } = parsing
  const input = streamed.shared?.[status]
  const about = aboutVersion(type, streamed.documentId, { status })
  if (input !== undefined && (!type.localized || (status === 'draft' && !type.draftAndPublish))) {
    const message = type.localized
      ? `\`${type.key}\` has no drafts`
      : `\`${type.key}\` has no locales: nothing of it is \`shared\``
    faults.push({ line, about, message })
    return undefined
  }
  const isThere = streamed.versions.some(version => (version.status ?? 'published') === status)
  if (!type.localized || !isThere) return undefined
  const report = (message: string) => void faults.push({ line, about, message })
  const { values, digest } = parsePart(input ?? {}, streamedParts(type).shared, parsing, report)
  return { values, defaults: defaults.shared, digest }
}

/** Defaults of the attributes that the stream does not declare. */
interface Defaults {
  readonly own: Values
  /** The values of attributes that all locales share. */
  readonly shared: Values
}

function defaultsOf(type: ContentType, options: DocumentParseContext): Defaults {
  const own = new Map<string, DesiredValue>()
  const shared = new Map<string, DesiredValue>()
  for (const attribute of streamedAttributes(type)) {
    if (attribute.kind !== 'scalar' || attribute.default === undefined || options.describes(type, attribute))
      continue
    const { stored } = parseScalar(attribute, attribute.default, { path: [], strictness: 'draft' })
    const values = isShared(type, attribute) ? shared : own
    if (stored !== undefined) values.set(attribute.name, { kind: 'scalar', value: stored })
  }
  return { own, shared }
}

function* versionsTwice({ versions }: ParsedDocument): Generator<string> {
  const seen = new Set<string>()
  for (const { locale, status } of versions) {
    const words = [locale, status].filter(word => word !== null).join(', ')
    if (seen.has(words)) yield `there are two versions (${words})`
    seen.add(words)
  }
}

/** reference/documents.md#1-identity-of-a-version: a published version needs its draft, and no version may occur twice. */
function checkVersions(document: ParsedDocument): readonly LineFault[] {
  const { type, line, name, versions } = document
  const lonely = versions.filter(
    ({ locale, status }) =>
      type.draftAndPublish &&
      status === 'published' &&
      !versions.some(each => each.status === 'draft' && each.locale === locale),
  )
  const messages = [
    ...versionsTwice(document),
    ...lonely.map(
      ({ locale }) => `the published version${locale === null ? '' : ` (${locale})`} comes without its draft`,
    ),
  ]
  return messages.map(message => ({ line, about: nameOf(type, name), message }))
}

/** Checks the rules for published versions. Those of attributes that the stream does not describe matter only if the document is new. */
function checkPublished(document: ParsedDocument, options: ValueOptions): ParsedLine {
  const { type, name, line, versions } = document
  const shared = document.shared.get('published')
  const faults: LineFault[] = []
  const lacking: LineFault[] = []
  for (const version of versions) {
    if (version.status !== 'published') continue
    const values = mergedValues(shared ? [version, shared] : [version])
    for (const fault of checkValues(type, values, { covers: () => true, plain: !type.draftAndPublish })) {
      const attribute = type.attributes.get(String(fault.path[0]))
      const isDescribed = attribute !== undefined && options.describes(type, attribute)
      const about = aboutVersion(type, name, version)
      ;(isDescribed ? faults : lacking).push({ line, about, message: explained(type, fault) })
    }
  }
  return { document: lacking.length > 0 ? { ...document, lacking } : document, faults }
}

/** Prefixes the sentence with the path, except for keys of the document itself, which it already names. */
function printFault({ kind, path, message }: ValueFault): string {
  const place = printPath(path)
  return message.startsWith(place) || (kind === 'key' && path.length === 1) ? message : `${place}: ${message}`
}

function explained(type: ContentType, fault: ValueFault): string {
  const { path } = fault
  const message = printFault(fault)
  const attribute = type.attributes.get(String(path[0]))
  const isPassword = attribute?.kind === 'scalar' && attribute.type === 'password'
  return isPassword ? `${message} (an export has hashes of passwords only with --password-hashes)` : message
}

/** A parsed line. Its name is the documentId. */
export interface ParsedDocument extends ImportedDocument {
  readonly line: number
  readonly versions: readonly ParsedVersion[]
  /** Faults that apply only if the document is new: required attributes that the stream does not declare. */
  readonly lacking: readonly LineFault[]
}

interface ParsedVersion extends ImportedVersion {
  readonly status: Status
}

/** `article first` */
export const nameOf = ({ key }: ContentType, documentId: string): string => `${key} ${documentId}`

/** `article first (en, published)` */
const aboutVersion = (
  type: ContentType,
  documentId: string,
  { locale, status }: { readonly locale?: string | null | undefined; readonly status?: Status | undefined },
): string => {
  const words = [
    ...(type.localized && locale ? [locale] : []),
    ...(type.draftAndPublish && status ? [status] : []),
  ]
  return `${nameOf(type, documentId)}${words.length === 0 ? '' : ` (${words.join(', ')})`}`
}
