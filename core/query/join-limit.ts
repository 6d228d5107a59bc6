import { type Fault, fault } from '../faults/fault.ts'
import type { Filter, Populate, Query, Sort } from './query.ts'

/**
 * Relations and components that the filters and sorts of a query may go over, all told. Each becomes a join, and
 * what PostgreSQL needs to plan many joins grows much faster than they do: a hundred take it seconds.
 */
const MAX_JOINS = 50

/** The parts of a query that go over relations; populates have their own beside what they populate. */
type JoiningParts = Pick<Query, 'filter' | 'sort' | 'selection'>

/** What is too much about the filters and sorts of a query. */
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
  populate.kind === 'zone'
    ? sum(
        populate.components,
        ({ selection, filter }) =>
          (filter ? filterJoins(filter) : 0) + sum(selection.populate, populateJoins),
      )
    : countJoins(populate)

const sum = <Item>(items: readonly Item[], count: (item: Item) => number): number =>
  items.reduce((total, item) => total + count(item), 0)
