import type { ValueType } from '../../model/model.ts'

/** The scalar of each attribute type (contract/graphql.md 2). An enumeration has a type of its own besides. */
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

/** The input that compares values of a scalar. */
export const filterInputName = (scalar: ScalarName): string => `${scalar}FilterInput`
