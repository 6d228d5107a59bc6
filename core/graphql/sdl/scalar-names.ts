import { graphqlEnumValues } from '../../model/enum-names.ts'
import type { ScalarAttribute, ValueType } from '../../model/model.ts'
import { field, inputType, type Sdl } from './sdl.ts'

/** The scalar of each attribute type (reference/graphql.md#2-generated-types). Enumerations also have their own enum type. */
export const SCALAR_NAMES = {
  string: 'String',
  text: 'String',
  richtext: 'String',
  email: 'String',
  uid: 'String',
  password: 'String',
  enumeration: 'String',
  locale: 'String',
  documentId: 'String',
  integer: 'Int',
  biginteger: 'Long',
  float: 'Float',
  decimal: 'Float',
  boolean: 'Boolean',
  json: 'JSON',
  blocks: 'JSON',
  array: 'JSON',
  date: 'Date',
  time: 'Time',
  datetime: 'DateTime',
  timestamp: 'DateTime',
  id: 'ID',
} as const satisfies Record<ValueType, string>

export type ScalarName = (typeof SCALAR_NAMES)[ValueType]

/** The name of the filter input of a scalar. */
export const filterInputName = (scalar: ScalarName): string => `${scalar}FilterInput`

const COMPARISONS = [
  ...['eq', 'eqi', 'ne', 'nei', 'startsWith', 'endsWith'],
  ...['contains', 'notContains', 'containsi', 'notContainsi', 'gt', 'gte', 'lt', 'lte'],
]

/** The same operators for every scalar (reference/graphql.md#4-filters). */
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

/** True if PostgreSQL's JSON of the value equals GraphQL's. */
export function isNativeJson({ type, values }: ScalarAttribute): boolean {
  if (type === 'enumeration')
    return [...graphqlEnumValues(values ?? [])].every(([name, value]) => name === value)
  return !CONVERTED_TYPES.has(type)
}

const CONVERTED_TYPES: ReadonlySet<string> = new Set(['biginteger', 'timestamp', 'time', 'id'])
