import type { Comparison, Filter, Populate, Query, Selection, ShapePart, Sort } from './query.ts'

/** Describes a query in REST parameters for logs, without any value of the request. */
export type Described = Readonly<Record<string, unknown>>

export function describeQuery(query: Query): Described {
  const { type, take, status, locale, filter, search, sort, selection, textSearch } = query
  return {
    action: take.kind === 'one' ? 'findOne' : 'find',
    contentType: type.key,
    ...(type.draftAndPublish && { status }),
    ...(locale.kind === 'these' && { locales: locale.codes.length }),
    ...describePage(take),
    ...(filter && { filters: describeFilter(filter) }),
    ...(search && { search: search.attributes.length }),
    ...(textSearch && { textSearch: textSearch.paths.length, byRank: textSearch.byRank }),
    ...describeSorts(sort),
    ...describeSelection(selection),
  }
}

/** The page is included because deep pages are slow. */
const describePage = (take: Query['take']): Described =>
  take.kind === 'one'
    ? {}
    : {
        ...(take.after ? { cursor: true } : { start: take.page.start }),
        limit: take.page.limit,
        total: take.total,
      }

function describeFilter(filter: Filter): Described {
  switch (filter.kind) {
    case 'and':
      return { $and: filter.filters.map(describeFilter) }
    case 'or':
      return { $or: filter.filters.map(describeFilter) }
    case 'not':
      return { $not: describeFilter(filter.filter) }
    case 'comparison':
      return { [filter.attribute.name]: describeComparison(filter) }
    case 'related':
      return { [filter.attribute.name]: describeFilter(filter.filter) }
  }
}

/** A long list is described by its length. */
const describeComparison = ({ operator, values: { length } }: Comparison): string =>
  length > 2 ? `${operator} of ${length}` : operator

const describeSorts = (sorts: readonly Sort[]): Described =>
  sorts.length === 0 ? {} : { sort: sorts.map(describeSort) }

function describeSort({ path, attribute, direction }: Sort): string {
  const names = [...path.map(step => step.attribute.name), attribute.name]
  return `${names.join('.')}:${direction}`
}

function describeSelection({ populate }: Selection): Described {
  if (populate.length === 0) return {}
  return { populate: Object.fromEntries(populate.map(each => [each.attribute.name, describePopulate(each)])) }
}

function describePopulate(populate: Populate): Described {
  if ('parts' in populate) return Object.fromEntries(populate.parts.map(describePart))
  const { filter, sort, page, selection } = populate
  return {
    ...(page && { start: page.start, limit: page.limit }),
    ...(filter && { filters: describeFilter(filter) }),
    ...describeSorts(sort),
    ...describeSelection(selection),
  }
}

const describePart = ({ holder, selection, filter }: ShapePart): readonly [string, Described] => [
  holder.uid,
  { ...(filter && { filters: describeFilter(filter) }), ...describeSelection(selection) },
]
