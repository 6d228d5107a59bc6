import type { Page, Query } from '../query/query.ts'

/**
 * The page of a list that the same index serves whatever its values: it begins at the first row, or behind a cursor, of
 * everything. Where its size is known PostgreSQL keeps one plan for it, which takes a third of its time; for all others
 * it plans each time anew, as it has to where some values are rare and others are not.
 */
export function sizedPage(query: Query): Page | null {
  const { take, type, status, filter, search, publication } = query
  if (take.kind === 'one' || take.page.start > 0 || type.localized || status === 'latest') return null
  return filter === null && search === null && publication === null ? take.page : null
}
