import { trusted } from '../../access/brand.ts'
import { unmetCondition } from '../../access/denial.ts'
import type { Database } from '../../database/database.ts'
import { forbidden, notFound, RequestFault } from '../../faults/fault.ts'
import type { ContentType, ScalarAttribute } from '../../model/model.ts'
import type { WriteConditions } from '../../query/command.ts'
import { type Filter, type LocaleChoice, type Query, STATUSES, type Status } from '../../query/query.ts'
import { quoteIdentifier as ident } from '../../sql/identifier.ts'
import type { NamedVersion, Visible } from '../links/link-targets.ts'
import type { LockingOptions, WriteOptions } from '../rows/write-options.ts'
import type { CurrentRow } from '../sql/write-rows.ts'
import { openReads, type ReaderOptions } from './read.ts'

export interface MatchOptions extends Omit<ReaderOptions, 'database'> {
  readonly transaction: Pick<Database, 'run'>
}

export interface Match {
  readonly type: ContentType
  readonly documentIds: readonly string[]
  readonly status: Status
  readonly locale: LocaleChoice
  readonly filter: Filter | null
}

/** The versions that meet a filter. */
async function findMatching(match: Match, options: MatchOptions): Promise<readonly NamedVersion[]> {
  const attribute = match.type.attributes.get('documentId')
  if (attribute?.kind !== 'scalar') throw new TypeError(`${match.type.uid} has no documentId`)
  const reads = openReads({ ...options, database: options.transaction })
  const query = toVersionQuery({
    ...match,
    take: { kind: 'many', page: { start: 0, limit: MANY }, total: false },
    filter: {
      kind: 'and',
      filters: [
        { kind: 'comparison', attribute, operator: '$in', values: match.documentIds },
        ...(match.filter ? [match.filter] : []),
      ],
    },
  })
  const { text } = await reads.findMany(trusted(query), 'flat')
  const found: unknown = JSON.parse(text)
  if (!Array.isArray(found)) return []
  return found.map(each => ({ documentId: String(each?.documentId), locale: each?.locale ?? null }))
}

/** The documentIds and locales of versions. */
export const toVersionQuery = ({
  type,
  take,
  status,
  locale,
  filter,
}: Pick<Query, 'type' | 'take' | 'status' | 'locale' | 'filter'>): Query => ({
  kind: 'query',
  type,
  take,
  status,
  locale,
  selection: { fields: identifying(type), named: true, populate: [] },
  filter,
  search: null,
  publication: null,
  sort: [],
})

const MANY = 1_000_000

function identifying({ localized, attributes }: ContentType): readonly ScalarAttribute[] {
  const names = localized ? ['documentId', 'locale'] : ['documentId']
  return names.flatMap(name => {
    const attribute = attributes.get(name)
    return attribute?.kind === 'scalar' ? [attribute] : []
  })
}

/** The status in which rows are asked what they are: a document's draft is always there. */
export const writtenStatus = (type: ContentType): Status => (type.draftAndPublish ? 'draft' : 'published')

/** Counts the stored versions that meet a condition: drafts if the type has them and no status is named. */
export async function countMatching(
  match: Omit<Match, 'status'> & Partial<Match>,
  options: MatchOptions,
): Promise<number> {
  return (await findMatching({ status: writtenStatus(match.type), ...match }, options)).length
}

/** True if all of these rows meet the condition. */
export async function allMatch(
  match: Omit<Match, 'status'>,
  rows: readonly CurrentRow[],
  options: MatchOptions,
): Promise<boolean> {
  const counts = STATUSES.map(async status => {
    const wanted = rows.filter(row => statusOf(row) === status).length
    return wanted === 0 || (await countMatching({ ...match, status }, options)) >= wanted
  })
  return (await Promise.all(counts)).every(Boolean)
}

/** Rows of types without drafts have no status. */
const statusOf = (row: CurrentRow): Status => (row.get('status') === 'draft' ? 'draft' : 'published')

/** Refuses (403) a row that its caller may not write. `wanted`: how many versions have to meet the condition. */
export async function assertMatches(
  match: Omit<Match, 'status'>,
  wanted: number,
  options: MatchOptions,
): Promise<void> {
  if ((await countMatching(match, options)) < wanted)
    throw new RequestFault(forbidden(unmetCondition(match.type, 'after')))
}

/** The documents of partly visible types of which the caller sees a version, per locale. */
export const visibleBy =
  ({ targets }: Pick<WriteConditions, 'targets'>, options: MatchOptions): Visible =>
  async (type, documentIds) => {
    const visible = targets.get(type)
    const ids = [...new Set(documentIds)]
    if (!visible || ids.length === 0) return () => true
    const locale = { kind: 'all' } as const
    const found = await Promise.all(
      visible.map(({ status, where }) =>
        findMatching({ type, documentIds: ids, status, locale, filter: where }, options),
      ),
    )
    const seen = new Set(found.flat().map(toKey))
    return version => seen.has(toKey(version))
  }

/** The documents of such a type whose draft the caller sees in any locale; null: all. */
export async function draftsSeenBy(
  { targets }: Pick<WriteConditions, 'targets'>,
  { type, documentIds }: Pick<Match, 'type' | 'documentIds'>,
  options: MatchOptions,
): Promise<ReadonlySet<string> | null> {
  const drafts = targets.get(type)?.filter(({ status }) => status === 'draft')
  if (!type.draftAndPublish || !drafts || drafts.some(({ where }) => where === null)) return null
  if (documentIds.length === 0) return new Set()
  const locale = { kind: 'all' } as const
  const found = await Promise.all(
    drafts.map(({ status, where }) =>
      findMatching({ type, documentIds, status, locale, filter: where }, options),
    ),
  )
  return new Set(found.flat().map(({ documentId }) => documentId))
}

const toKey = ({ documentId, locale }: NamedVersion): string => `${locale ?? ''} ${documentId}`

export const choiceOf = (type: ContentType, locale: string | null): LocaleChoice =>
  type.localized && locale !== null ? { kind: 'these', codes: [locale] } : { kind: 'all' }

/** A document that a caller writes, in one locale or, with null, in all of them. */
interface WrittenVersion {
  readonly type: ContentType
  readonly documentId: string
  readonly locale: string | null
  readonly conditions: Pick<WriteConditions, 'visible'>
}

type LocaleVisibility = (locale: string | null) => boolean

/** Which locales of the document the caller sees: asked of the database only where conditions hide documents. */
export async function visibleLocales(
  { type, documentId, conditions: { visible } }: WrittenVersion,
  options: MatchOptions,
): Promise<LocaleVisibility> {
  if (!visible || visible.length === 0) return () => true
  const findVisible = visibleBy({ targets: new Map([[type, visible]]) }, options)
  const isVisible = await findVisible(type, [documentId])
  return locale => isVisible({ documentId, locale })
}

/**
 * True if the caller sees the document in the written locale. A locale that the document does not have takes its
 * shared values from the others, so each of those must be visible. For a write of all locales, one visible is enough.
 */
export async function isVisible(
  written: WrittenVersion,
  rows: readonly CurrentRow[],
  options: MatchOptions,
): Promise<boolean> {
  const { type, locale } = written
  const seen = await visibleLocales(written, options)
  const locales = rows.map(row => (type.localized ? String(row.get('locale')) : null))
  if (locale === null) return locales.some(seen)
  return locales.includes(locale) ? seen(locale) : locales.every(seen)
}

/** A hidden document is answered as one that does not exist. */
export async function assertVisible(
  written: WrittenVersion,
  rows: readonly CurrentRow[],
  options: MatchOptions,
): Promise<void> {
  if (rows.length > 0 && !(await isVisible(written, rows, options))) throw new RequestFault(notFound())
}

/** True if a caller without permission to write a document may know that it exists, because a read permission shows it. */
export const mayRevealExistence = ({ visible }: Pick<WriteConditions, 'visible'>): boolean =>
  visible?.length !== 0

interface WriteRefusal {
  readonly match: Omit<Match, 'status'>
  /** The versions that have to meet the condition. */
  readonly rows: readonly CurrentRow[]
  readonly conditions: Pick<WriteConditions, 'visible'>
}

/** Refuses a document that the caller may not write as it is: with 403 if the caller sees it, else with 404. */
export async function assertWritable(
  { match, rows, conditions }: WriteRefusal,
  options: MatchOptions,
): Promise<void> {
  if (await allMatch(match, rows, options)) return
  throw new RequestFault(
    mayRevealExistence(conditions) ? forbidden(unmetCondition(match.type, 'before')) : notFound(),
  )
}

/** The documentId of a single type's only document; null: there is none yet. */
export async function findSingle(
  type: ContentType,
  { transaction, storage }: Pick<WriteOptions, 'transaction' | 'storage'>,
): Promise<string | null> {
  const table = storage.table(type)
  const { rows } = await transaction.run({
    name: `find the document of ${type.key}`,
    text: `SELECT ${ident(table.documentId)} FROM ${ident(table.name)} ORDER BY ${ident(table.id)} LIMIT 1`,
    values: [],
  })
  const id = rows[0]?.[0]
  return typeof id === 'string' ? id : null
}

/** Waits until no other transaction creates the document of a single type. Held until the transaction ends. */
export const lockSingle = (
  { uid }: ContentType,
  { transaction }: Pick<LockingOptions, 'transaction'>,
): Promise<void> => transaction.lock(`plinth single ${uid}`)
