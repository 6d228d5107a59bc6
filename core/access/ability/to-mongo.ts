import type { ScalarAttribute, ValueType } from '../../model/model.ts'
import { isListEntryOperator, isTextual, type Operator } from '../../query/operators.ts'
import type { Comparison, Filter, RelatedFilter, Value } from '../../query/query.ts'
import { matchesAbsent } from './match-filter.ts'

/** Conditions in the query language of MongoDB, which CASL matches in a browser. */
export type MongoConditions = Readonly<Record<string, unknown>>

/** Matches no document. A browser cannot decide the condition, so it offers nothing; the server decides. */
export const UNDECIDABLE: MongoConditions = Object.freeze({ documentId: Object.freeze({ $in: [] }) })

/**
 * The filter as CASL conditions, with `$or` and `$nor`. UNDECIDABLE if it uses private attributes, which no answer
 * contains, or an order that only the database knows.
 */
export const toMongo = (filter: Filter): MongoConditions => convert(filter, false) ?? UNDECIDABLE

/** null: not convertible. */
function convert(filter: Filter, negated: boolean): MongoConditions | null {
  switch (filter.kind) {
    case 'and':
    case 'or': {
      const parts = filter.filters.map(part => convert(part, negated))
      if (parts.includes(null)) return null
      const isAnd = (filter.kind === 'and') !== negated
      if (parts.length === 0) return isAnd ? {} : UNDECIDABLE
      return { [isAnd ? '$and' : '$or']: parts }
    }
    case 'not':
      return convert(filter.filter, !negated)
    case 'comparison':
      return convertComparison(filter, negated)
    case 'related':
      return convertRelated(filter, negated)
  }
}

/** A to-one relation becomes dotted paths, and some entry of a list has to match. */
function convertRelated({ attribute, filter }: RelatedFilter, negated: boolean): MongoConditions | null {
  const inner = attribute.private ? null : convert(filter, negated)
  if (!inner) return null
  const isMany =
    attribute.kind === 'component'
      ? attribute.repeatable
      : attribute.kind === 'localizations' || attribute.many
  const { name } = attribute
  const some = isMany ? someEntry(inner, name) : { $and: [{ [name]: { $ne: null } }, prefixed(inner, name)] }
  if (!some || !matchesAbsent(filter, negated)) return some
  return { $or: [some, { [name]: isMany ? { $size: 0 } : { $eq: null } }] }
}

/** CASL's `$elemMatch` takes comparisons alone, so `$or` moves around it and `$and` is merged. null: neither is possible. */
function someEntry(inner: MongoConditions, name: string): MongoConditions | null {
  const plain = merged(inner)
  if (plain) return { [name]: { $elemMatch: plain } }
  if (!Array.isArray(inner.$or) || Object.keys(inner).length > 1) return null
  const parts = inner.$or.map(part => someEntry(part, name))
  return parts.includes(null) ? null : { $or: parts }
}

/** As comparisons without groups; null: an attribute would occur twice, or the condition has `$or` or `$nor`. */
function merged(conditions: MongoConditions): MongoConditions | null {
  const names = Object.keys(conditions)
  if (!names.some(name => name.startsWith('$'))) return names.length > 0 ? conditions : null
  if (names.length > 1 || !Array.isArray(conditions.$and)) return null
  const parts: readonly (MongoConditions | null)[] = conditions.$and.map(merged)
  const entries = parts.flatMap(part => Object.entries(part ?? {}))
  const isDistinct = new Set(entries.map(([name]) => name)).size === entries.length
  return isDistinct && !parts.includes(null) ? Object.fromEntries(entries) : null
}

const prefixed = (conditions: MongoConditions, name: string): MongoConditions =>
  Object.fromEntries(
    Object.entries(conditions).map(([key, value]) =>
      key.startsWith('$') && Array.isArray(value)
        ? [key, value.map(part => prefixed(part, name))]
        : [`${name}.${key}`, value],
    ),
  )

function convertComparison(
  { attribute, operator, values }: Comparison,
  negated: boolean,
): MongoConditions | null {
  if (attribute.private || attribute.type === 'password') return null
  const positive = negated ? NEGATED[operator] : operator
  if (operator === '$between') return convertBetween(attribute, values, negated)
  if (!positive) return null
  const test = testOf(positive, attribute, values)
  if (!test) return null
  return NEGATIVE_TEXT.has(positive) && !isListEntryOperator(positive, attribute.type)
    ? { $nor: [{ [attribute.name]: test }], [attribute.name]: { $ne: null } }
    : { [attribute.name]: test }
}

function convertBetween(attribute: ScalarAttribute, ends: readonly Value[], negated: boolean) {
  const [least, most] = ends.map(end => toPlainValue(attribute, end))
  if (least === undefined || most === undefined || !isOrdered(attribute)) return null
  const { name } = attribute
  return negated
    ? { $or: [{ [name]: { $ne: null, $lt: least } }, { [name]: { $ne: null, $gt: most } }] }
    : { [name]: { $ne: null, $gte: least, $lte: most } }
}

/** JavaScript orders null as 0. The order of texts is the database's, and a browser has big integers as texts. */
const isOrdered = ({ type }: ScalarAttribute): boolean =>
  !isTextual(type) && !['biginteger', 'boolean', 'json', 'blocks', 'array'].includes(type)

function testOf(operator: Operator, attribute: ScalarAttribute, values: readonly Value[]): unknown {
  if (operator === '$null' || operator === '$notNull')
    return (values[0] === true) === (operator === '$null') ? { $eq: null } : { $ne: null }
  const plain = values.map(value => toPlainValue(attribute, value))
  const [value] = plain
  if (isListEntryOperator(operator, attribute.type)) return entryTest(operator, value)
  if (JSON_TYPES.has(attribute.type)) return null
  switch (operator) {
    case '$eq':
      return { $eq: value }
    case '$ne':
      return { $nin: [value, null] }
    case '$in':
      return { $in: plain }
    case '$notIn':
      return { $nin: plain.length === 0 ? [] : [...plain, null] }
    case '$lt':
    case '$lte':
    case '$gt':
    case '$gte':
      return isOrdered(attribute) ? { $ne: null, [operator]: value } : null
    default:
      return isTextual(attribute.type) ? textTest(operator, String(value)) : null
  }
}

/** CASL compares scalars alone. */
function entryTest(operator: Operator, list: unknown): unknown {
  const entry: unknown = Array.isArray(list) ? list[0] : list
  if (typeof entry === 'object') return null
  return operator === '$contains' ? { $eq: entry } : { $ne: entry }
}

const JSON_TYPES: ReadonlySet<ValueType> = new Set(['json', 'blocks', 'array'])

/** A value as an answer contains it. */
function toPlainValue({ type }: ScalarAttribute, value: Value): unknown {
  // As PostgreSQL stores it: half of a surrogate pair is replaced.
  if (isTextual(type)) return Buffer.from(String(value)).toString()
  if (type === 'time') return String(value).replace(/\.0+$|(\.\d*[1-9])0+$/, '$1')
  return JSON_TYPES.has(type) ? JSON.parse(String(value)) : value
}

/** A regular expression; that of a negative operator is the one that must not match. */
function textTest(operator: Operator, text: string): MongoConditions {
  const literal = text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')
  const isWhole = /^\$(?:eq|ne)/.test(operator)
  const start = isWhole || operator.startsWith('$startsWith') ? '^' : ''
  const end = isWhole || operator.startsWith('$endsWith') ? '$' : ''
  return { $regex: `${start}${literal}${end}`, $options: operator.endsWith('i') ? 'i' : '' }
}

const NEGATIVE_TEXT: ReadonlySet<Operator> = new Set(['$nei', '$notContains', '$notContainsi'])

/** Absent: no operator says the opposite. */
const NEGATED: { readonly [Name in Operator]?: Operator } = {
  $eq: '$ne',
  $ne: '$eq',
  $eqi: '$nei',
  $nei: '$eqi',
  $lt: '$gte',
  $gte: '$lt',
  $gt: '$lte',
  $lte: '$gt',
  $in: '$notIn',
  $notIn: '$in',
  $contains: '$notContains',
  $notContains: '$contains',
  $containsi: '$notContainsi',
  $notContainsi: '$containsi',
  $null: '$notNull',
  $notNull: '$null',
}
