import type { Attribute } from '../../model/model.ts'
import { isRecord } from '../../query/parse-place.ts'
import { JSON_TYPES, toJsonText } from './json-value.ts'

/** Nothing is as much as null, or has it in it (contract/graphql.md 4); null and not null are asked for with `eq` and `ne`. */
const NEEDS_VALUE: ReadonlySet<string> = new Set([
  'gt',
  'gte',
  'lt',
  'lte',
  'contains',
  'containsi',
  'startsWith',
  'endsWith',
])

const NOTHING = { $in: [] }

/** What a field of a filter says of an attribute: `{ eq: 1, not: {} }` becomes `{ $eq: 1 }`. */
export function toDollarOperators(raw: unknown, attribute: Attribute | undefined): unknown {
  if (!isRecord(raw)) return raw
  const operators = Object.entries(raw).filter(([key, value]) => key !== 'not' || !isEmpty(value))
  if (operators.some(([key, value]) => findsNothing(key, value))) return NOTHING
  return Object.fromEntries(
    operators.map(([key, value]) => [
      `$${key}`,
      key === 'not' ? toDollarOperators(value, attribute) : toOperand(key, value, attribute),
    ]),
  )
}

const isEmpty = (value: unknown): boolean => isRecord(value) && Object.keys(value).length === 0

/** In SQL nothing is known to be outside a list that has null in it. */
function findsNothing(key: string, value: unknown): boolean {
  if (key === 'in') return value === null
  if (key === 'notIn') return value === null || (Array.isArray(value) && value.includes(null))
  return value === null && NEEDS_VALUE.has(key)
}

const LISTS: ReadonlySet<string> = new Set(['in', 'notIn', 'between'])

function toOperand(key: string, value: unknown, attribute: Attribute | undefined): unknown {
  const values = key === 'in' && Array.isArray(value) ? value.filter(item => item !== null) : value
  if (attribute?.kind !== 'scalar' || !JSON_TYPES.has(attribute.type)) return values
  // An entry of a list is no text of JSON.
  if (attribute.type === 'array' && (key === 'contains' || key === 'notContains')) return values
  return LISTS.has(key) && Array.isArray(values) ? values.map(jsonOperand(key)) : jsonOperand(key)(values)
}

const FLAGS: ReadonlySet<string> = new Set(['null', 'notNull'])
/** These look into the text that JSON is. */
const TEXTUAL: ReadonlySet<string> = new Set(['eqi', 'nei', 'containsi', 'notContainsi'])

/** The grammar reads texts of JSON. */
const jsonOperand = (key: string) => (value: unknown) =>
  value === null || FLAGS.has(key) || (TEXTUAL.has(key) && typeof value === 'string')
    ? value
    : toJsonText(value)
