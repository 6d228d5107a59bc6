import type { Filter, Selection, Sort } from '../query/query.ts'

/**
 * As the reference answers (recorded in rest/17 and rest/24): where the rows of a read are joined to others, by
 * being populated or by a filter that goes through a relation, what they are sorted by comes beside `fields`.
 * Not where the sort itself goes through a relation.
 */
export function answerSorted(selection: Selection, sort: readonly Sort[]): Selection {
  if (!selection.named || sort.some(({ path }) => path.length > 0)) return selection
  return {
    ...selection,
    fields: [...new Set([...selection.fields, ...sort.map(({ attribute }) => attribute)])],
  }
}

export function isJoined(filter: Filter | null): boolean {
  switch (filter?.kind) {
    case 'related':
      return true
    case 'not':
      return isJoined(filter.filter)
    case 'and':
    case 'or':
      return filter.filters.some(isJoined)
    default:
      return false
  }
}
