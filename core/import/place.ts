import type {
  DesiredDocument,
  DesiredRow,
  DesiredVersion,
  LinkTarget,
  Values,
} from '../documents/desired-state.ts'
import { GAP } from '../documents/sql/write-rows.ts'
import type { FileStorage } from '../media/storage/file-storage.ts'
import type { ContentType, Holder, Model } from '../model/model.ts'
import type { Storage } from '../model/storage.ts'
import type { Status } from '../query/query.ts'
import {
  type ImportedDocument,
  type ImportedPart,
  type ImportedVersion,
  mergedValues,
} from './imported-document.ts'
import { type ExistingDocument, type FindExisting, type FoundLink, relinked } from './links.ts'
import { overStorage } from './stored-files.ts'

export interface PlaceOptions {
  readonly model: Model
  readonly storage: Storage
  /** null: no files are placed. */
  readonly files: FileStorage | null
  readonly existing: FindExisting
  /** A document that the import creates; undefined: it does not, and links to the name are removed. */
  readonly identify: (type: ContentType, name: string) => NewIdentity | undefined
  /** True if new documents of the type keep the row ids of their source. */
  readonly keepsRows: (type: ContentType) => boolean
  /** The position in lists of the other side after which links of the table are placed. */
  readonly listOffset: (table: string) => number
}

export interface NewIdentity {
  readonly documentId: string
  /** Absent: generated. */
  readonly key?: number
}

/** A document to write, with its ids and with links by the ids of their targets. */
export interface PlacedDocument<Source extends ImportedDocument = ImportedDocument> extends WriteSteps {
  readonly document: Source
  /** undefined: the document is new. */
  readonly existing: ExistingDocument | undefined
}

interface WriteSteps {
  readonly first: DesiredDocument
  /** For versions of `first` that turn out to be new in an existing document; in the same order. */
  readonly defaults: readonly Values[]
  /** Drafts that differ from their published version. */
  readonly second: DesiredDocument | null
}

/** Gives a document its existing or new ids. */
export function place<Source extends ImportedDocument>(
  document: Source,
  options: PlaceOptions,
): PlacedDocument<Source> {
  const { type, name, at } = document
  const existing = options.existing(type, name)
  const { documentId, key } = existing ?? options.identify(type, name) ?? { documentId: name }
  const steps = toSteps(document, {
    made: {
      type,
      documentId,
      ...(at === undefined ? {} : { at }),
      ...(existing || key === undefined ? {} : { key }),
    },
    isThere: existing !== undefined,
    keepsRows: existing === undefined && options.keepsRows(type),
    finish: values => finish(type, values, existing, options),
  })
  return { ...steps, document, existing }
}

/** The document as written to an empty database, with links by name. */
export const asNew = (document: ImportedDocument): DesiredDocument =>
  toSteps(document, {
    made: { type: document.type, documentId: document.name },
    isThere: false,
    keepsRows: false,
    finish: values => values,
  }).first

function finish(
  type: ContentType,
  values: Values,
  existing: ExistingDocument | undefined,
  options: PlaceOptions,
): Values {
  const { model, files } = options
  const linked = relinked(type, values, (holder, attribute, target) =>
    relink(holder, attribute, target, options),
  )
  if (type === model.builtIn.file && files !== null) return overStorage(linked, files)
  // Ended sessions of existing users stay ended: see BatchOptions.beforeUsers.
  if (type !== model.builtIn.user || !existing) return linked
  return new Map([...linked].filter(([name]) => name !== 'sessionVersion' && name !== 'keptSession'))
}

function relink(
  holder: Holder,
  attribute: FoundLink['attribute'],
  { documentId: name, locale, status, inversePlace }: LinkTarget,
  { existing, identify, listOffset, storage }: PlaceOptions,
): LinkTarget | undefined {
  const identity = existing(attribute.target, name) ?? identify(attribute.target, name)
  if (!identity) return undefined
  const { documentId, key } = identity
  const link = key === undefined ? { documentId, locale, status } : { documentId, key, locale, status }
  if (inversePlace === undefined) return link
  const table = inverseListTable(holder, attribute.name, storage)
  return { ...link, inversePlace: inversePlace + (table === undefined ? 0 : listOffset(table)) * GAP }
}

/** The table with positions in lists of the other side; undefined: there is no such list. */
export function inverseListTable(holder: Holder, attribute: string, storage: Storage): string | undefined {
  const link = storage.link(holder, attribute)
  if (link.inversePosition === null || holder.holder === 'component') return undefined
  return link.kind === 'table' ? link.table : storage.table(holder).name
}

interface StepOptions {
  readonly made: Omit<DesiredDocument, 'versions'>
  /** True if the document exists in the database. */
  readonly isThere: boolean
  readonly keepsRows: boolean
  /** Converts values for writing: links to ids, files to the URLs of this storage. */
  readonly finish: (values: Values) => Values
}

/**
 * Writes as an editor would: published versions first, into draft and published row at once, so that components
 * have the same number in both; then the drafts that differ. For an existing document, drafts are not reset to the
 * published version in between: nothing is written if nothing changes.
 */
function toSteps(document: ImportedDocument, options: StepOptions): WriteSteps {
  const { type, versions, shared } = document
  const locales = [...new Set(versions.map(({ locale }) => locale))]
  const published = locales.filter(locale => findVersion(document, locale, 'published'))
  const drafts = locales.filter(locale => !published.includes(locale))
  const hasOtherDrafts = hasDifferingDrafts(document)
  const keepsDrafts = hasOtherDrafts && options.isThere
  const common = shared.get(published.length > 0 ? 'published' : 'draft')
  const first = [
    ...published.map(
      (locale): VersionStep => ({
        locale,
        from: 'published',
        to: type.draftAndPublish && !keepsDrafts ? ['draft', 'published'] : ['published'],
        common,
      }),
    ),
    ...(keepsDrafts ? [] : drafts.map(locale => draftStep(locale, common))),
  ]
  const second = hasOtherDrafts ? locales.map(locale => draftStep(locale, shared.get('draft'))) : null
  const { made } = options
  return {
    first: { ...made, versions: first.map(step => toVersion(document, step, options)) },
    defaults: options.isThere
      ? first.map(({ locale, from }) => findVersion(document, locale, from)?.defaults ?? NONE)
      : [],
    second: second && { ...made, versions: second.map(step => toVersion(document, step, options)) },
  }
}

const NONE: Values = new Map()

interface VersionStep {
  readonly locale: string | null
  /** The version with the values. */
  readonly from: Status
  /** The statuses to write. */
  readonly to: readonly Status[]
  /** The values that all locales share. */
  readonly common: ImportedPart | undefined
}

const draftStep = (locale: string | null, common: ImportedPart | undefined): VersionStep => ({
  locale,
  from: 'draft',
  to: ['draft'],
  common,
})

const findVersion = (
  { versions }: ImportedDocument,
  locale: string | null,
  status: Status,
): ImportedVersion | undefined =>
  versions.find(version => version.locale === locale && version.statuses.includes(status))

function toVersion(
  document: ImportedDocument,
  { locale, from, to, common }: VersionStep,
  { isThere, keepsRows, finish }: StepOptions,
): DesiredVersion {
  const parts = [findVersion(document, locale, from), common].filter(part => part !== undefined)
  const values = mergedValues(parts, !isThere)
  return { locale, statuses: to, values: finish(values), ...rowsOf(document, locale, keepsRows) }
}

function hasDifferingDrafts(document: ImportedDocument): boolean {
  const { type, versions, shared } = document
  if (!type.draftAndPublish) return false
  const published = versions.filter(({ statuses }) => statuses.includes('published'))
  if (published.length === 0) return false
  if (shared.get('draft')?.digest !== shared.get('published')?.digest) return true
  return published.some(({ locale, digest }) => findVersion(document, locale, 'draft')?.digest !== digest)
}

function rowsOf(
  { versions }: ImportedDocument,
  locale: string | null,
  keepsRows: boolean,
): Pick<DesiredVersion, 'rows'> {
  const rows = versions.flatMap(version => {
    const row = version.locale === locale ? version.row : null
    return row === null ? [] : version.statuses.map(status => [status, rowOf(row, keepsRows)] as const)
  })
  return rows.length === 0 ? {} : { rows: new Map(rows) }
}

function rowOf({ id, ...stamps }: DesiredRow, keepsRows: boolean): DesiredRow {
  return keepsRows && id !== undefined ? { id, ...stamps } : stamps
}
