import { type Fault, fault } from '../faults/fault.ts'
import type { Filter, Populate, Query, Sort } from './query.ts'

/**
 * Relations and components that the filters and sorts of a query may go over, all told. Each becomes a join, and
 * what PostgreSQL needs to plan many joins grows much faster than they do: a hundred take it seconds.
 */
const MAX_STEPS = 50

/** The parts of a query that go over relations; populates have their own beside what they populate. */
type Parts = Pick<Query, 'filter' | 'sort' | 'selection'>

/** What is too much about the filters and sorts of a query. */
export function findTooManySteps(query: Parts): Fault | undefined {
  if (countSteps(query) <= MAX_STEPS) return undefined
  const message = `The filters and sorts of a query may go over at most ${MAX_STEPS} relations and components`
  return fault('validation', message)
}

const countSteps = ({ filter, sort, selection }: Parts): number =>
  (filter ? stepsOf(filter) : 0) +
  sum(sort, ({ path }: Sort) => path.length) +
  sum(selection.populate, stepsIn)

function stepsOf(filter: Filter): number {
  switch (filter.kind) {
    case 'and':
    case 'or':
      return sum(filter.filters, stepsOf)
    case 'not':
      return stepsOf(filter.filter)
    case 'related':
      return 1 + stepsOf(filter.filter)
    case 'comparison':
      return 0
  }
}

const stepsIn = (populate: Populate): number =>
  populate.kind === 'zone'
    ? sum(
        populate.components,
        ({ selection, filter }) => (filter ? stepsOf(filter) : 0) + sum(selection.populate, stepsIn),
      )
    : countSteps(populate)

const sum = <Item>(items: readonly Item[], count: (item: Item) => number): number =>
  items.reduce((total, item) => total + count(item), 0)
