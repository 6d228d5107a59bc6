import { forbidden, notFound, RequestFault } from '../../faults/fault.ts'
import type { ContentType } from '../../model/model.ts'
import type { WriteConditions } from '../../query/command.ts'
import type { CurrentRow } from '../sql/write-rows.ts'
import { countMatching, type Match, type MatchTerms, visibleBy } from './matching.ts'

/** A document that a caller writes, in one locale or, with null, in all of them. */
export interface WrittenVersion {
  readonly type: ContentType
  readonly documentId: string
  readonly locale: string | null
  readonly conditions: Pick<WriteConditions, 'sights'>
}

type LocaleVisibility = (locale: string | null) => boolean

/** Which locales of the document the caller sees: asked of the database only where conditions hide documents. */
export async function visibleLocales(
  { type, documentId, conditions: { sights } }: WrittenVersion,
  terms: MatchTerms,
): Promise<LocaleVisibility> {
  if (!sights || sights.length === 0) return () => true
  const visible = visibleBy({ targets: new Map([[type, sights]]) }, terms)
  const isVisible = await visible(type, [documentId])
  return locale => isVisible({ documentId, locale })
}

/**
 * Whether the caller sees the document in the locale that is written. A locale that the document does not have takes its
 * shared values from the others, so each of those must be visible. Of all locales, one that is visible is enough.
 */
export async function isVisible(
  written: WrittenVersion,
  rows: readonly CurrentRow[],
  terms: MatchTerms,
): Promise<boolean> {
  const { type, locale } = written
  const seen = await visibleLocales(written, terms)
  const locales = rows.map(row => (type.localized ? String(row.get('locale')) : null))
  if (locale === null) return locales.some(seen)
  return locales.includes(locale) ? seen(locale) : locales.every(seen)
}

/** A hidden document is answered as one that does not exist. */
export async function assertVisible(
  written: WrittenVersion,
  rows: readonly CurrentRow[],
  terms: MatchTerms,
): Promise<void> {
  if (rows.length > 0 && !(await isVisible(written, rows, terms))) throw new RequestFault(notFound())
}

/** Whether a caller who may not write a document may know that it exists: the document is visible by a read permission. */
export const mayRevealExistence = ({ sights }: Pick<WriteConditions, 'sights'>): boolean =>
  sights?.length !== 0

export interface WriteRefusal {
  readonly match: Omit<Match, 'status'>
  /** How many versions have to meet the condition. */
  readonly wanted: number
  readonly conditions: Pick<WriteConditions, 'sights'>
}

/** Refuses a document that the caller may not write as it is: with 403 if the caller sees it, else with 404. */
export async function assertWritable(
  { match, wanted, conditions }: WriteRefusal,
  terms: MatchTerms,
): Promise<void> {
  if ((await countMatching(match, terms)) >= wanted) return
  throw new RequestFault(mayRevealExistence(conditions) ? forbidden() : notFound())
}
