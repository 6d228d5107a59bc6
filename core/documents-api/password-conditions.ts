import type { ScalarAttribute } from '../model/model.ts'
import type { Filter, Populate, Query, Sort, ZonePart } from '../query/query.ts'

/** The password that a query compares or sorts by, anywhere in it: what answers to conditions can be found out by them. */
export function findPassword({ filter, sort, selection }: Query): ScalarAttribute | undefined {
  return inConditions(filter, sort) ?? inPopulates(selection.populate)
}

const isPassword = ({ type }: ScalarAttribute): boolean => type === 'password'

const inConditions = (filter: Filter | null, sort: readonly Sort[]): ScalarAttribute | undefined =>
  (filter ? compared(filter) : []).find(isPassword) ?? sort.map(({ attribute }) => attribute).find(isPassword)

function compared(filter: Filter): readonly ScalarAttribute[] {
  switch (filter.kind) {
    case 'and':
    case 'or':
      return filter.filters.flatMap(compared)
    case 'not':
    case 'related':
      return compared(filter.filter)
    case 'comparison':
      return [filter.attribute]
  }
}

function inPopulates(populates: readonly Populate[]): ScalarAttribute | undefined {
  for (const populate of populates) {
    const found = inPopulate(populate)
    if (found) return found
  }
  return undefined
}

const inPart = ({ filter, selection }: ZonePart): ScalarAttribute | undefined =>
  inConditions(filter ?? null, []) ?? inPopulates(selection.populate)

function inPopulate(populate: Populate): ScalarAttribute | undefined {
  if (populate.kind === 'zone') return populate.components.map(inPart).find(found => found !== undefined)
  return inConditions(populate.filter, populate.sort) ?? inPopulates(populate.selection.populate)
}
