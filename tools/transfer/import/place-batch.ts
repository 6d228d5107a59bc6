import type {
  DesiredDocument,
  DesiredRow,
  DesiredVersion,
  LinkTarget,
  Values,
} from '../../../core/documents/desired-state.ts'
import { GAP } from '../../../core/documents/sql/write-rows.ts'
import type { ContentType, Holder } from '../../../core/model/model.ts'
import type { Storage } from '../../../core/model/storage.ts'
import type { Status } from '../../../core/query/query.ts'
import type { StreamIndex } from '../index-stream.ts'
import type { Decided } from './checkpoint.ts'
import type { ExistingDocument, FindExisting } from './find-existing.ts'
import { overStorage } from './import-files.ts'
import type { ImportTerms } from './import-terms.ts'
import { type FoundLink, relinked } from './link-names.ts'
import type { ParsedDocument, ParsedVersion } from './parsed-document.ts'

export interface Placing extends Pick<ImportTerms, 'model' | 'storage' | 'files'> {
  readonly index: StreamIndex
  readonly decided: Decided
  readonly existing: FindExisting
}

/** A document of a batch to write. */
export interface PlacedDocument extends Steps {
  readonly document: ParsedDocument
  /** undefined: the document is new. */
  readonly there: ExistingDocument | undefined
}

/** A document with its existing or reserved key, and links by the keys of their targets. */
export function place(document: ParsedDocument, placing: Placing): PlacedDocument {
  const { type, documentId, defaults } = document
  const there = placing.existing(type, documentId)
  const isKept = placing.decided.keys[type.uid] === 'kept'
  const steps = toWritten(document, {
    documentId: there?.documentId ?? documentId,
    key: there ? undefined : documentKey(type, documentId, placing),
    isThere: there !== undefined,
    keepsRows: there === undefined && isKept,
    finish: values => finish(type, values, there, placing),
    defaults: there ? new Map() : defaults,
  })
  return { ...steps, document, there }
}

export function documentKey(
  type: ContentType,
  called: string,
  { index, decided, existing }: Pick<Placing, 'index' | 'decided' | 'existing'>,
): number | undefined {
  const there = existing(type, called)
  if (there) return there.key
  const found = index.find(type, called)
  const base = decided.keys[type.uid]
  if (!found || base === undefined) return undefined
  return base === 'kept' ? found.key : base + found.ordinal
}

function finish(
  type: ContentType,
  values: Values,
  there: ExistingDocument | undefined,
  placing: Placing,
): Values {
  const { model, files } = placing
  const linked = relinked(type, values, (holder, found) => relink(holder, found, placing))
  if (type === model.builtIn.file) return overStorage(linked, files)
  // Ended sessions of existing users stay ended: see ImportTerms.beforeUsers.
  if (type !== model.builtIn.user || !there) return linked
  return new Map([...linked].filter(([name]) => name !== 'sessionVersion'))
}

function relink(holder: Holder, { attribute, target }: FoundLink, placing: Placing): LinkTarget | undefined {
  const key = documentKey(attribute.target, target.documentId, placing)
  if (key === undefined) return undefined
  const { inversePlace, ...rest } = target
  if (inversePlace === undefined) return { ...rest, key }
  const after = placing.decided.places[placesTable(holder, attribute.name, placing.storage) ?? ''] ?? 0
  return { ...rest, key, inversePlace: inversePlace + after * GAP }
}

/** The table with positions in lists of the other side; undefined: there is no such list. */
export function placesTable(holder: Holder, attribute: string, storage: Storage): string | undefined {
  const link = storage.link(holder, attribute)
  if (link.inversePosition === null || holder.holder === 'component') return undefined
  return link.kind === 'table' ? link.table : storage.table(holder).name
}

interface Placed {
  /** The documentId in the database. */
  readonly documentId: string
  /** For a new document. */
  readonly key: number | undefined
  /** Whether it exists in the database. */
  readonly isThere: boolean
  /** Whether rows keep their numbers. */
  readonly keepsRows: boolean
  /** Converts values for writing: links to keys, files to the URLs of this storage. */
  readonly finish: (values: Values) => Values
  readonly defaults: Values
}

interface Steps {
  readonly first: DesiredDocument
  /** Drafts that differ from their published version. */
  readonly second: DesiredDocument | null
}

/**
 * Writes as an editor would: published versions first, into draft and published row at once, so that components
 * have the same number in both; then the drafts that differ. For an existing document, drafts are not reset to the
 * published version in between: nothing is written if nothing changes.
 */
function toWritten(document: ParsedDocument, placed: Placed): Steps {
  const { type, versions, shared } = document
  const { documentId, key } = placed
  const made = { type, documentId, ...(key === undefined ? {} : { key }) }
  const locales = [...new Set(versions.map(({ locale }) => locale))]
  const published = locales.filter(locale => isPublished(document, locale))
  const drafts = locales.filter(locale => !published.includes(locale))
  const changed = isChanged(document)
  const version = (locale: string | null, from: Status, to: readonly Status[], more: Values | undefined) =>
    toVersion(document, placed, { locale, from, to, more: more ?? NOTHING })
  const all = (from: Status) => shared.get(from)?.values
  const common = all(published.length > 0 ? 'published' : 'draft')
  // Shared attributes are written with the first version, to its statuses.
  const first = [
    ...published.map(locale =>
      version(locale, 'published', statusesOf(type, changed && placed.isThere), common),
    ),
    ...(changed && placed.isThere ? [] : drafts.map(locale => version(locale, 'draft', ['draft'], common))),
  ]
  const second = changed ? locales.map(locale => version(locale, 'draft', ['draft'], all('draft'))) : null
  return {
    first: { ...made, versions: first },
    second: second === null ? null : { type, documentId, versions: second },
  }
}

const NOTHING: Values = new Map()

const statusesOf = ({ draftAndPublish }: ContentType, isApart: boolean): readonly Status[] =>
  draftAndPublish && !isApart ? ['draft', 'published'] : ['published']

const isPublished = ({ versions }: ParsedDocument, locale: string | null): boolean =>
  versions.some(version => version.locale === locale && version.status === 'published')

interface Part {
  readonly locale: string | null
  /** The version with the values. */
  readonly from: Status
  /** The statuses to write. */
  readonly to: readonly Status[]
  /** The shared attributes. */
  readonly more: Values
}

function toVersion(
  { versions }: ParsedDocument,
  placed: Placed,
  { locale, from, to, more }: Part,
): DesiredVersion {
  const source = versions.find(each => each.locale === locale && each.status === from)
  const values = placed.finish(new Map([...placed.defaults, ...(source?.values ?? []), ...more]))
  return { locale, statuses: to, values, ...rowsOf(versions, locale, placed) }
}

/** Whether a draft differs from its published version. */
function isChanged({ type, versions, shared }: ParsedDocument): boolean {
  if (!type.draftAndPublish) return false
  const published = versions.filter(({ status }) => status === 'published')
  if (published.length === 0) return false
  if (shared.get('draft')?.digest !== shared.get('published')?.digest) return true
  return published.some(
    ({ locale, digest }) =>
      versions.find(each => each.locale === locale && each.status === 'draft')?.digest !== digest,
  )
}

function rowsOf(
  versions: readonly ParsedVersion[],
  locale: string | null,
  { keepsRows }: Placed,
): Pick<DesiredVersion, 'rows'> {
  const rows = versions.flatMap(version =>
    version.locale === locale && version.row !== null
      ? [[version.status, rowOf(version.row, keepsRows)] as const]
      : [],
  )
  return rows.length === 0 ? {} : { rows: new Map(rows) }
}

function rowOf({ id, ...stamps }: DesiredRow, keepsRows: boolean): DesiredRow {
  return keepsRows && id !== undefined ? { id, ...stamps } : stamps
}
