import type { ScalarAttribute } from '../../model/model.ts'
import type { Filter, Selection, Sort } from '../../query/query.ts'

type Fields = Pick<Selection, 'fields' | 'named'>

/**
 * Attributes that rows are sorted by are answered with the fields that were named: the reference selects them
 * wherever it joins (unless a sort goes over a relation itself), so clients know them there.
 */
export function withSorted({ fields, named }: Fields, sorts: readonly Sort[]): Fields {
  const own = sorts.every(({ path }) => path.length === 0)
  if (!named || !own || sorts.length === 0) return { fields, named }
  const sorted = sorts.map(({ attribute }) => attribute)
  return { fields: [...new Set<ScalarAttribute>([...fields, ...sorted])], named }
}

/** Whether finding takes other tables than the documents' own. */
export function goesFurther(filter: Filter | null): boolean {
  switch (filter?.kind) {
    case 'and':
    case 'or':
      return filter.filters.some(goesFurther)
    case 'not':
      return goesFurther(filter.filter)
    default:
      return filter?.kind === 'related'
  }
}
