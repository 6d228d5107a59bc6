import { filterInputName, SCALAR_NAMES } from './scalar-names.ts'
import { field, inputType, type Sdl } from './sdl.ts'

const COMPARISONS = [
  ...['eq', 'eqi', 'ne', 'nei', 'startsWith', 'endsWith'],
  ...['contains', 'notContains', 'containsi', 'notContainsi', 'gt', 'gte', 'lt', 'lte'],
]

/** The same operators for every scalar (contract/graphql.md 4). */
export const filterInputs = (): readonly Sdl[] =>
  [...new Set(Object.values(SCALAR_NAMES))].map(scalar => {
    const name = filterInputName(scalar)
    return inputType(name, [
      field('and', `[${scalar}]`),
      field('or', `[${scalar}]`),
      field('not', name),
      ...COMPARISONS.map(operator => field(operator, scalar)),
      ...['null', 'notNull'].map(operator => field(operator, 'Boolean')),
      ...['in', 'notIn', 'between'].map(operator => field(operator, `[${scalar}]`)),
    ])
  })
