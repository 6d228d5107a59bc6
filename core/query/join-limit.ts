import { type Fault, fault } from '../faults/fault.ts'
import type { Filter, Part, Populate, Query, Sort } from './query.ts'

/**
 * Limit of the relations and components in the filters and sorts of one query. Each becomes a join, and planning time
 * grows faster than linearly: PostgreSQL needs seconds for a hundred.
 */
const MAX_JOINS = 50

/** The parts of a query that cause joins. Populates have the same parts. */
type JoiningParts = Pick<Query, 'filter' | 'sort' | 'selection'>

/** The fault if the filters and sorts of a query need too many joins. */
export function findTooManyJoins(query: JoiningParts): Fault | undefined {
  if (countJoins(query) <= MAX_JOINS) return undefined
  const message = `The filters and sorts of a query may go over at most ${MAX_JOINS} relations and components`
  return fault('validation', message)
}

const countJoins = ({ filter, sort, selection }: JoiningParts): number =>
  (filter ? filterJoins(filter) : 0) +
  sum(sort, ({ path }: Sort) => path.length) +
  sum(selection.populate, populateJoins)

function filterJoins(filter: Filter): number {
  switch (filter.kind) {
    case 'and':
    case 'or':
      return sum(filter.filters, filterJoins)
    case 'not':
      return filterJoins(filter.filter)
    case 'related':
      return 1 + filterJoins(filter.filter)
    case 'comparison':
      return 0
  }
}

const populateJoins = (populate: Populate): number =>
  'parts' in populate
    ? sum<Part>(
        populate.parts,
        ({ selection, filter }) =>
          (filter ? filterJoins(filter) : 0) + sum(selection.populate, populateJoins),
      )
    : countJoins(populate)

const sum = <Item>(items: readonly Item[], count: (item: Item) => number): number =>
  items.reduce((total, item) => total + count(item), 0)
