import type { Filter, RelatedFilter, Sort, SortStep } from '../../query/query.ts'
import {
  enter,
  mapOrDrop,
  type ReadScope,
  type Restriction,
  refuseAttribute,
  refuseUnknown,
  requireReadable,
} from './read-scope.ts'

/** Every attribute that a filter touches must be readable, by any path. A filter is never dropped. */
export function restrictFilter(filter: Filter, at: ReadScope, walk: Restriction): Filter {
  switch (filter.kind) {
    case 'and':
    case 'or': {
      const filters = mapOrDrop(filter.filters, part => restrictFilter(part, at, walk))
      return filters === filter.filters ? filter : { ...filter, filters }
    }
    case 'not': {
      const inner = restrictFilter(filter.filter, at, walk)
      return inner === filter.filter ? filter : { ...filter, filter: inner }
    }
    case 'comparison':
      requireReadable(filter.attribute, at, walk)
      return filter
    case 'related':
      return restrictRelated(filter, at, walk)
    default:
      return refuseUnknown(filter, walk)
  }
}

function restrictRelated(related: RelatedFilter, at: ReadScope, walk: Restriction): RelatedFilter {
  if (!requireReadable(related.attribute, at, walk)) return related
  const next = enter(related.attribute, at, walk)
  if (!next) {
    refuseAttribute(related.attribute, at, walk)
    return related
  }
  const filter = restrictFilter(related.filter, next.to, walk)
  const { scope } = next
  return filter === related.filter && scope === related.scope ? related : { ...related, filter, scope }
}

export function restrictSort(sort: Sort, start: ReadScope, walk: Restriction): Sort {
  let at = start
  const path: SortStep[] = []
  for (const { attribute } of sort.path) {
    if (!requireReadable(attribute, at, walk)) return sort
    const next = enter(attribute, at, walk)
    if (!next) {
      refuseAttribute(attribute, at, walk)
      return sort
    }
    path.push({ attribute, scope: next.scope })
    at = next.to
  }
  requireReadable(sort.attribute, at, walk)
  return path.every((taken, index) => taken.scope === sort.path[index]?.scope) ? sort : { ...sort, path }
}
