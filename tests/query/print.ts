import type { Filter, Query, Selection, ShapePart, Sort } from '../../core/query/query.ts'

/** A filter in one line: `author(name $eq "Ada") and not (pages $lt 5)`. */
export function printFilter(filter: Filter | null): string {
  if (filter === null) return 'everything'
  switch (filter.kind) {
    case 'and':
    case 'or':
      return `(${filter.filters.map(printFilter).join(` ${filter.kind} `)})`
    case 'not':
      return `not ${printFilter(filter.filter)}`
    case 'comparison':
      return `${filter.attribute.name} ${filter.operator} ${filter.values.map(value => JSON.stringify(value)).join(',')}`
    case 'related':
      return `${filter.attribute.name}[${printFilter(filter.filter)}]`
  }
}

export const printSorts = (sorts: readonly Sort[]): string =>
  sorts
    .map(
      ({ path, attribute, direction }) =>
        `${[...path.map(step => step.attribute.name), attribute.name].join('.')} ${direction}`,
    )
    .join(', ')

/** `title,author(passed: *, books(named: code))`; `*` means every field. */
export function printSelection({ fields, named, populate }: Selection): string {
  const names = named ? fields.map(field => field.name) : ['*']
  return [...names, ...populate.map(printPopulate)].join(' ')
}

function printPopulate(populate: Selection['populate'][number]): string {
  const count = populate.count ? ' count' : ''
  if ('parts' in populate) {
    const parts = (populate.parts as readonly ShapePart[]).map(
      ({ holder, selection, filter }) =>
        `${holder.uid}: ${printSelection(selection)}${filter ? ` where ${printFilter(filter)}` : ''}`,
    )
    return `${populate.as}<${populate.origin}${count}>(${parts.join('; ')})`
  }
  const filter = populate.filter ? ` where ${printFilter(populate.filter)}` : ''
  const sort = populate.sort.length > 0 ? ` by ${printSorts(populate.sort)}` : ''
  return `${populate.as}<${populate.origin}${count}>(${printSelection(populate.selection)}${filter}${sort})`
}

export function printLocale({ locale }: Query): string {
  return locale.kind === 'all' ? 'all' : locale.codes.join(',')
}
