import type { Page, Query } from '../query/query.ts'

/**
 * The page of a list that the same index serves whatever its values: one of everything, near the first row or behind a
 * cursor. Where the text tells how many rows that is about, PostgreSQL keeps one plan for it, which takes a third of its
 * time; for all others it plans each time anew, as it has to where some values are rare and others are not.
 */
export function sizedPage(query: Query): Page | null {
  const { take, type, status, filter, search, publication, sort } = query
  if (take.kind === 'one' || type.localized || status === 'latest') return null
  if (take.page.start > 0 && reachOf(take.page) > (sort.length > 0 ? SORTED_REACH : REACH)) return null
  return filter === null && search === null && publication === null ? take.page : null
}

/** Where rows may have to be sorted, more of them than a page needs would not fit into the memory of a sort. */
const REACH = 1024
const SORTED_REACH = 256

/** Rows before a page from which on it is cheaper to look for its own twice. */
const FAR = 1000

export const isFar = ({ start }: Page): boolean => start >= FAR

/** What a sized page's text tells: how many rows a first one has, and of others among how many first ones they are. */
export const sizeWord = (page: Page): string => (page.start > 0 ? `<${reachOf(page)}` : `=${page.limit}`)

/** Rows within which a page ends: a power of four, so that all pages near the first make few texts. */
export const reachOf = ({ start, limit }: Page): number =>
  4 ** Math.max(3, Math.ceil(Math.log2(start + limit) / 2))
