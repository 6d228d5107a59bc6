import type { GraphQLError } from 'graphql'
import { isDeeperThan, nestingLevels } from '../../base/plain-data.ts'
import { overLimit } from './limit-error.ts'
import { MOST_NESTED } from './limit-tokens.ts'
import type { VariableUse } from './measure-operation.ts'

/** Values that variables may bring into filters, each time they are put in: as many as a REST query may have parameters. */
const MOST_IN_FILTERS = 1000

/** What putting the same variables in again and again may add to them. */
const MOST_REPEATED = 20_000

/** The first variable whose values nest too deep: asked before anything else is done with variables. */
export function deepVariable(given: Readonly<Record<string, unknown>>): GraphQLError | null {
  for (const [name, value] of Object.entries(given))
    if (isDeeperThan(value, MOST_NESTED))
      return overLimit({
        what: `nested values in $${name.slice(0, 80)}`,
        counted: MOST_NESTED + 1,
        most: MOST_NESTED,
        key: null,
      })
  return null
}

/** Bounds what variables make of an operation, before they are looked at: a list of many values may be put in many times. */
export function limitVariables(
  given: Readonly<Record<string, unknown>>,
  uses: ReadonlyMap<string, VariableUse>,
): GraphQLError | null {
  let inFilters = 0
  let repeated = 0
  for (const [name, value] of Object.entries(given)) {
    const use = uses.get(name)
    if (!use) continue
    const size = sizeOf(value)
    inFilters += size * use.inFilters
    repeated += size * Math.max(0, use.uses - 1)
  }
  if (inFilters > MOST_IN_FILTERS)
    return overLimit({ what: 'values in filters', counted: inFilters, most: MOST_IN_FILTERS, key: null })
  if (repeated > MOST_REPEATED)
    return overLimit({
      what: 'values by repeated variables',
      counted: repeated,
      most: MOST_REPEATED,
      key: null,
    })
  return null
}

/** How many values lie in one, itself included. */
function sizeOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 1
  let size = 1
  for (const level of nestingLevels(value)) for (const one of level) size += Object.keys(one).length
  return size
}
