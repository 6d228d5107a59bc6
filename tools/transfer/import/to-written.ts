import type {
  Values,
  WrittenDocument,
  WrittenRow,
  WrittenVersion,
} from '../../../core/documents/desired-state.ts'
import type { ContentType } from '../../../core/model/model.ts'
import type { Status } from '../../../core/query/query.ts'
import type { ParsedDocument, ParsedVersion } from './parsed-document.ts'

export interface Placed {
  /** What it goes by in the database. */
  readonly documentId: string
  /** Of one that is made. */
  readonly key: number | undefined
  /** Whether the database has it. */
  readonly isThere: boolean
  /** Whether its rows keep their numbers. */
  readonly keepsRows: boolean
  /** Makes of values what is written: links by keys, addresses of files. */
  readonly finish: (values: Values) => Values
  readonly defaults: Values
}

export interface Steps {
  readonly first: WrittenDocument
  /** Drafts that are others than what is published. */
  readonly second: WrittenDocument | null
}

/**
 * As somebody would have done it: what is published first, in draft and published row at once, so that components
 * have one number in both; then the drafts that were changed since. Of a document that is there, drafts do not become
 * what is published in between: where nothing changes nothing is written.
 */
export function toWritten(document: ParsedDocument, placed: Placed): Steps {
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
  // What all locales share is written with the first version, to the statuses of that.
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
  /** Whose values they are. */
  readonly from: Status
  /** Where they go. */
  readonly to: readonly Status[]
  /** What all locales share. */
  readonly more: Values
}

function toVersion(
  { versions }: ParsedDocument,
  placed: Placed,
  { locale, from, to, more }: Part,
): WrittenVersion {
  const source = versions.find(each => each.locale === locale && each.status === from)
  const values = placed.finish(new Map([...placed.defaults, ...(source?.values ?? []), ...more]))
  return { locale, statuses: to, values, ...rowsOf(versions, locale, placed) }
}

/** Whether a draft is another than what is published. */
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
): Pick<WrittenVersion, 'rows'> {
  const rows = versions.flatMap(version =>
    version.locale === locale && version.row !== null
      ? [[version.status, rowOf(version.row, keepsRows)] as const]
      : [],
  )
  return rows.length === 0 ? {} : { rows: new Map(rows) }
}

function rowOf({ id, ...stamps }: WrittenRow, keepsRows: boolean): WrittenRow {
  return keepsRows && id !== undefined ? { id, ...stamps } : stamps
}
