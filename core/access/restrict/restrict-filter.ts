import type { Filter, RelatedFilter, Sort, SortStep } from '../../query/query.ts'
import {
  demand,
  mapKept,
  refuseAttribute,
  refuseUnknown,
  type Standing,
  step,
  type Walk,
} from './read-scope.ts'

/** Every attribute that a filter touches must be readable, by any path. A filter is never dropped. */
export function restrictFilter(filter: Filter, at: Standing, walk: Walk): Filter {
  switch (filter.kind) {
    case 'and':
    case 'or': {
      const filters = mapKept(filter.filters, part => restrictFilter(part, at, walk))
      return filters === filter.filters ? filter : { ...filter, filters }
    }
    case 'not': {
      const inner = restrictFilter(filter.filter, at, walk)
      return inner === filter.filter ? filter : { ...filter, filter: inner }
    }
    case 'comparison':
      demand(filter.attribute, at, walk)
      return filter
    case 'related':
      return restrictRelated(filter, at, walk)
    default:
      return refuseUnknown(filter, walk)
  }
}

function restrictRelated(related: RelatedFilter, at: Standing, walk: Walk): RelatedFilter {
  if (!demand(related.attribute, at, walk)) return related
  const next = step(related.attribute, at, walk)
  if (!next) {
    refuseAttribute(related.attribute, at, walk)
    return related
  }
  const filter = restrictFilter(related.filter, next.to, walk)
  const { scope } = next
  return filter === related.filter && scope === related.scope ? related : { ...related, filter, scope }
}

export function restrictSort(sort: Sort, start: Standing, walk: Walk): Sort {
  let at = start
  const path: SortStep[] = []
  for (const { attribute } of sort.path) {
    if (!demand(attribute, at, walk)) return sort
    const next = step(attribute, at, walk)
    if (!next) {
      refuseAttribute(attribute, at, walk)
      return sort
    }
    path.push({ attribute, scope: next.scope })
    at = next.to
  }
  demand(sort.attribute, at, walk)
  return path.every((taken, index) => taken.scope === sort.path[index]?.scope) ? sort : { ...sort, path }
}
