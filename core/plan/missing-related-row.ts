import type { Comparison, Filter } from '../query/query.ts'

/** Three-valued logic as in SQL; null is unknown. */
type Truth = boolean | null

/**
 * Whether a filter holds for a row that is not there, all of whose values are null: so does
 * `filters[author][email][$null]=true` find documents without an author (contract/rest.md 7).
 */
export const holdsForAbsent = (filter: Filter, negated: boolean): boolean => truthOf(filter, negated) === true

function truthOf(filter: Filter, negated: boolean): Truth {
  switch (filter.kind) {
    case 'comparison':
      return flip(comparisonTruth(filter), negated)
    case 'not':
      return truthOf(filter.filter, !negated)
    case 'related':
      return truthOf(filter.filter, negated)
    default: {
      const truths = filter.filters.map(part => truthOf(part, negated))
      return (filter.kind === 'and') === negated ? some(truths) : every(truths)
    }
  }
}

function comparisonTruth({ operator, values }: Comparison): Truth {
  if (operator === '$null') return values[0] === true
  if (operator === '$notNull') return values[0] !== true
  return null
}

const flip = (truth: Truth, negated: boolean): Truth => (truth === null ? null : truth !== negated)

function every(truths: readonly Truth[]): Truth {
  if (truths.includes(false)) return false
  return truths.includes(null) ? null : true
}

function some(truths: readonly Truth[]): Truth {
  if (truths.includes(true)) return true
  return truths.includes(null) ? null : false
}
