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

/** Every attribute in a filter must be readable, whatever its path. A filter is never dropped: that would return more rows. */
export function restrictFilter(filter: Filter, at: ReadScope, restriction: Restriction): Filter {
  switch (filter.kind) {
    case 'and':
    case 'or': {
      const filters = mapOrDrop(filter.filters, part => restrictFilter(part, at, restriction))
      return filters === filter.filters ? filter : { ...filter, filters }
    }
    case 'not': {
      const inner = restrictFilter(filter.filter, at, restriction)
      return inner === filter.filter ? filter : { ...filter, filter: inner }
    }
    case 'comparison':
      requireReadable(filter.attribute, at, restriction)
      return filter
    case 'related':
      return restrictRelated(filter, at, restriction)
    default:
      return refuseUnknown(filter, restriction)
  }
}

function restrictRelated(related: RelatedFilter, at: ReadScope, restriction: Restriction): RelatedFilter {
  if (!requireReadable(related.attribute, at, restriction)) return related
  const next = enter(related.attribute, at, restriction)
  if (!next) {
    refuseAttribute(related.attribute, at, restriction)
    return related
  }
  const filter = restrictFilter(related.filter, next.to, restriction)
  const { scope } = next
  return filter === related.filter && scope === related.scope ? related : { ...related, filter, scope }
}

export function restrictSort(sort: Sort, start: ReadScope, restriction: Restriction): Sort {
  let at = start
  const path: SortStep[] = []
  for (const { attribute } of sort.path) {
    if (!requireReadable(attribute, at, restriction)) return sort
    const next = enter(attribute, at, restriction)
    if (!next) {
      refuseAttribute(attribute, at, restriction)
      return sort
    }
    path.push({ attribute, scope: next.scope })
    at = next.to
  }
  requireReadable(sort.attribute, at, restriction)
  return path.every((taken, index) => taken.scope === sort.path[index]?.scope) ? sort : { ...sort, path }
}
