import type { GraphQLError } from 'graphql'
import { isDeeperThan, nestingLevels } from '../../base/plain-data.ts'
import { overLimit } from './budget.ts'
import { MAX_NESTING } from './limit-nesting.ts'
import type { VariableUse } from './measure-operation.ts'

/** Maximum number of values that variables insert into filters, as many as a REST query may have parameters. */
const MAX_IN_FILTERS = 1000

/** Maximum number of values that repeated uses of variables may add. */
const MAX_REPEATED = 20_000

/** The first variable whose value nests too deep. Checked before anything else walks variables. */
export function findDeepVariable(given: Readonly<Record<string, unknown>>): GraphQLError | null {
  for (const [name, value] of Object.entries(given))
    if (isDeeperThan(value, MAX_NESTING))
      return overLimit({
        what: `nested values in $${name.slice(0, 80)}`,
        counted: MAX_NESTING + 1,
        limit: MAX_NESTING,
        key: null,
      })
  return null
}

/** Limits how much variables enlarge an operation: a long list may be inserted many times. */
export function limitVariables(
  given: Readonly<Record<string, unknown>>,
  uses: ReadonlyMap<string, VariableUse>,
): GraphQLError | null {
  let inFilters = 0
  let repeated = 0
  for (const [name, value] of Object.entries(given)) {
    const use = uses.get(name)
    if (!use) continue
    const size = countValues(value)
    inFilters += size * use.inFilters
    repeated += size * Math.max(0, use.uses - 1)
  }
  if (inFilters > MAX_IN_FILTERS)
    return overLimit({ what: 'values in filters', counted: inFilters, limit: MAX_IN_FILTERS, key: null })
  if (repeated > MAX_REPEATED)
    return overLimit({
      what: 'values by repeated variables',
      counted: repeated,
      limit: MAX_REPEATED,
      key: null,
    })
  return null
}

/** The number of values inside one, itself included. */
function countValues(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 1
  let size = 1
  for (const level of nestingLevels(value)) for (const one of level) size += Object.keys(one).length
  return size
}
