import { type Fault, fault } from '../faults/fault.ts'
import { countRelated, countWays } from './populate-nodes.ts'
import type { Filter, Populate, Query, Selection, ShapePart, Sort } from './query.ts'

/**
 * Limit of the relations and components in the filters and sorts of one query. Each becomes a join, and planning time
 * grows faster than linearly: PostgreSQL needs seconds for a hundred.
 */
const MAX_JOINS = 50

/** The parts of a query that cause joins. Populates have the same parts. */
type JoiningParts = Pick<Query, 'filter' | 'sort' | 'selection'>

/** Limit of the subqueries of `related` of files: the documents of a type are joined once for each media attribute. */
const MAX_RELATED = 500

/** The fault if the filters and sorts of a query, or `related` of files, need too many joins. */
export function findTooManyJoins(query: JoiningParts): Fault | undefined {
  if (countJoins(query) <= MAX_JOINS)
    return findTooManyRelated(query.selection) ?? findTooManyComponents(query.selection.populate)
  const message = `The filters and sorts of a query may go over at most ${MAX_JOINS} relations and components`
  return fault('validation', message)
}

/**
 * Limit of the components that entries of the zones of one query can have. Each is a subquery, also without an entry: PostgreSQL
 * plans a thousand in about a second.
 */
const MAX_COMPONENTS = 1_000

/** The fault if the zones of a query, inside of each other, have too many components. */
export function findTooManyComponents(populates: readonly Populate[]): Fault | undefined {
  const count = sum(populates, componentsIn)
  if (count <= MAX_COMPONENTS) return undefined
  const message = `The dynamic zones of a query may have at most ${MAX_COMPONENTS} components together, and these have ${count}: populate fewer zones inside of others`
  return fault('validation', message, { key: 'populate' })
}

function componentsIn(populate: Populate): number {
  if (populate.kind === 'morph')
    return sum(populate.parts, part => countWays(part, populate) * partComponents(part))
  if (populate.kind === 'zone') return populate.parts.length + sum(populate.parts, partComponents)
  return partComponents(populate)
}

const partComponents = ({ selection }: Pick<ShapePart, 'selection'>): number =>
  sum(selection.populate, componentsIn)

function findTooManyRelated({ populate }: Selection): Fault | undefined {
  if (sum(populate, relatedIn) <= MAX_RELATED) return undefined
  const message = `related may lead to at most ${MAX_RELATED} media attributes and what is populated beyond them`
  return fault('validation', message, { key: 'related' })
}

function relatedIn(populate: Populate): number {
  if (populate.kind === 'morph') return countRelated(populate)
  return populate.kind === 'zone'
    ? sum(populate.parts, ({ selection }) => sum(selection.populate, relatedIn))
    : sum(populate.selection.populate, relatedIn)
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

function populateJoins(populate: Populate): number {
  switch (populate.kind) {
    case 'morph':
      return sum(populate.parts, part => countWays(part, populate) * partJoins(part))
    case 'zone':
      return sum(populate.parts, partJoins)
    default:
      return countJoins(populate)
  }
}

const partJoins = ({ selection, filter }: ShapePart): number =>
  (filter ? filterJoins(filter) : 0) + sum(selection.populate, populateJoins)

const sum = <Item>(items: readonly Item[], count: (item: Item) => number): number =>
  items.reduce((total, item) => total + count(item), 0)
