import { trusted } from '../../access/brand.ts'
import type { Database } from '../../database/database.ts'
import { forbidden, RequestFault } from '../../faults/fault.ts'
import type { ContentType, ScalarAttribute } from '../../model/model.ts'
import type { WriteConditions } from '../../query/command.ts'
import type { Filter, LocaleChoice, Query, Status } from '../../query/query.ts'
import type { NamedVersion, Visible } from '../links/link-targets.ts'
import { openReads, type ReadTerms } from './read.ts'

export interface MatchTerms extends Omit<ReadTerms, 'database'> {
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
async function findMatching(match: Match, terms: MatchTerms): Promise<readonly NamedVersion[]> {
  const attribute = match.type.attributes.get('documentId')
  if (attribute?.kind !== 'scalar') throw new TypeError(`${match.type.uid} has no documentId`)
  const reads = openReads({ ...terms, database: terms.transaction })
  const { text } = await reads.findMany(trusted(toQuery(match, attribute)), 'flat')
  const found: unknown = JSON.parse(text)
  if (!Array.isArray(found)) return []
  return found.map(each => ({ documentId: String(each?.documentId), locale: each?.locale ?? null }))
}

const toQuery = (
  { type, documentIds, status, locale, filter }: Match,
  attribute: ScalarAttribute,
): Query => ({
  kind: 'query',
  type,
  take: { kind: 'many', page: { start: 0, limit: MANY }, total: false },
  status,
  locale,
  selection: { fields: [attribute, ...localeOf(type)], named: true, populate: [] },
  filter: {
    kind: 'and',
    filters: [
      { kind: 'comparison', attribute, operator: '$in', values: documentIds },
      ...(filter ? [filter] : []),
    ],
  },
  search: null,
  publication: null,
  sort: [],
})

const MANY = 1_000_000

function localeOf({ localized, attributes }: ContentType): readonly ScalarAttribute[] {
  const locale = localized ? attributes.get('locale') : undefined
  return locale?.kind === 'scalar' ? [locale] : []
}

/** The status in which rows are asked what they are: a document's draft is always there. */
export const writtenStatus = (type: ContentType): Status => (type.draftAndPublish ? 'draft' : 'published')

/** Counts the stored versions that meet a condition. */
export async function countMatching(match: Omit<Match, 'status'>, terms: MatchTerms): Promise<number> {
  return (await findMatching({ ...match, status: writtenStatus(match.type) }, terms)).length
}

/** Refuses (403) a row that its caller may not write. `wanted`: how many versions have to meet the condition. */
export async function assertMatches(
  match: Omit<Match, 'status'>,
  wanted: number,
  terms: MatchTerms,
): Promise<void> {
  if ((await countMatching(match, terms)) < wanted) throw new RequestFault(forbidden())
}

/** The documents of partly visible types of which the caller sees a version, per locale. */
export const visibleBy =
  ({ targets }: Pick<WriteConditions, 'targets'>, terms: MatchTerms): Visible =>
  async (type, documentIds) => {
    const sights = targets.get(type)
    const ids = [...new Set(documentIds)]
    if (!sights || ids.length === 0) return () => true
    const locale = { kind: 'all' } as const
    const found = await Promise.all(
      sights.map(({ status, where }) =>
        findMatching({ type, documentIds: ids, status, locale, filter: where }, terms),
      ),
    )
    const seen = new Set(found.flat().map(toKey))
    return version => seen.has(toKey(version))
  }

/** The documents of such a type whose draft the caller sees in any locale; null: all. */
export async function draftsSeenBy(
  { targets }: Pick<WriteConditions, 'targets'>,
  { type, documentIds }: Pick<Match, 'type' | 'documentIds'>,
  terms: MatchTerms,
): Promise<ReadonlySet<string> | null> {
  const drafts = targets.get(type)?.filter(({ status }) => status === 'draft')
  if (!type.draftAndPublish || !drafts || drafts.some(({ where }) => where === null)) return null
  if (documentIds.length === 0) return new Set()
  const locale = { kind: 'all' } as const
  const found = await Promise.all(
    drafts.map(({ status, where }) =>
      findMatching({ type, documentIds, status, locale, filter: where }, terms),
    ),
  )
  return new Set(found.flat().map(({ documentId }) => documentId))
}

const toKey = ({ documentId, locale }: NamedVersion): string => `${locale ?? ''} ${documentId}`

export const choiceOf = (type: ContentType, locale: string | null): LocaleChoice =>
  type.localized && locale !== null ? { kind: 'these', codes: [locale] } : { kind: 'all' }
