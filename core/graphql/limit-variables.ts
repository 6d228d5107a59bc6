import type { GraphQLError } from 'graphql'
import { overLimit } from './limit-error.ts'
import { MOST_NESTED } from './limit-tokens.ts'
import type { VariableUse } from './measure-operation.ts'

/** Values that variables may bring into filters, each time they are put in: as many as a REST query may have parameters. */
const MOST_IN_FILTERS = 1000

/** What putting the same variables in again and again may add to them. */
const MOST_REPEATED = 20_000

/** Bounds what variables make of an operation, before they are looked at: a list of many values may be put in many times. */
export function limitVariables(
  given: Readonly<Record<string, unknown>>,
  uses: ReadonlyMap<string, VariableUse>,
): GraphQLError | null {
  let inFilters = 0
  let repeated = 0
  for (const [name, value] of Object.entries(given)) {
    const size = sizeOf(value)
    if (size === null)
      return overLimit({
        what: `nested values in $${name}`,
        counted: MOST_NESTED + 1,
        most: MOST_NESTED,
        key: null,
      })
    const use = uses.get(name)
    if (!use) continue
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

/** How many values lie in one, itself included; null where they nest too deep. Without recursion: it may be of any depth. */
function sizeOf(value: unknown): number | null {
  let size = 1
  let level: object[] = typeof value === 'object' && value !== null ? [value] : []
  for (let depth = 1; level.length > 0; depth++) {
    if (depth > MOST_NESTED) return null
    const next: object[] = []
    for (const one of level)
      for (const inner of Object.values(one)) {
        size++
        if (typeof inner === 'object' && inner !== null) next.push(inner)
      }
    level = next
  }
  return size
}
