import type { ScalarAttribute } from '../model/model.ts'
import type { Filter, Selection, Sort, SortStep } from '../query/query.ts'

type Fields = Pick<Selection, 'fields' | 'named'>

/**
 * Own attributes that rows are sorted by are answered with the fields that were named: the reference selects them
 * wherever it joins, so clients know them there.
 */
export function withSorted({ fields, named }: Fields, sorts: readonly Sort[]): Fields {
  if (!named || sorts.length === 0) return { fields, named }
  const own = sorts.filter(({ path }) => path.length === 0).map(({ attribute }) => attribute)
  return { fields: [...new Set<ScalarAttribute>([...fields, ...own])], named }
}

/** Whether finding or sorting takes other tables than the documents' own; a sort by lists is made apart from the rows. */
export function goesFurther(filter: Filter | null, sorts: readonly Sort[]): boolean {
  if (sorts.some(({ path }) => path.some(leadsToMany))) return false
  return sorts.some(({ path }) => path.length > 0) || (filter !== null && hasRelated(filter))
}

const leadsToMany = ({ attribute }: SortStep): boolean =>
  attribute.kind === 'component' ? attribute.repeatable : attribute.many

function hasRelated(filter: Filter): boolean {
  switch (filter.kind) {
    case 'and':
    case 'or':
      return filter.filters.some(hasRelated)
    case 'not':
      return hasRelated(filter.filter)
    default:
      return filter.kind === 'related'
  }
}
