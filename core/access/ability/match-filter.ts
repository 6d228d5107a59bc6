import { isRecord } from '../../base/plain-data.ts'
import type { ScalarAttribute, ValueType } from '../../model/model.ts'
import { isListEntryOperator, isTextual, type Operator } from '../../query/operators.ts'
import { parseValue } from '../../query/parse-value.ts'
import type { Comparison, Filter, RelatedFilter, Value } from '../../query/query.ts'
import { AbilityError } from './ability-error.ts'

/** A document as in an answer of REST: values by attribute, populated relations as objects and lists. */
export type MatchedDocument = Readonly<Record<string, unknown>>

/**
 * True if a document meets a filter, with the same result as the SQL of core/plan/filter.ts. Throws an AbilityError if
 * the result depends on a value that the document does not contain, or that only the database can compare.
 */
export function matchFilter(filter: Filter, document: MatchedDocument): boolean {
  const truth = evaluate(filter, { document, path: [] }, false)
  if (truth instanceof AbilityError) throw truth
  return truth === true
}

/** Three-valued logic as in SQL (null is unknown). An error: the result cannot be decided from the document. */
type Truth = boolean | null | AbilityError

/** The document at which a part of the filter is evaluated. */
interface Place {
  readonly document: MatchedDocument
  /** Names of the relations and components above. */
  readonly path: readonly string[]
}

/** `negated`: the number of `not` around the filter is odd. Negations are pushed down to the comparisons, as in SQL. */
function evaluate(filter: Filter, place: Place, negated: boolean): Truth {
  switch (filter.kind) {
    case 'and':
    case 'or': {
      const truths = filter.filters.map(part => evaluate(part, place, negated))
      return combine(truths, (filter.kind === 'and') === negated)
    }
    case 'not':
      return evaluate(filter.filter, place, !negated)
    case 'comparison':
      return negate(compare(filter, place), negated)
    case 'related':
      return evaluateRelated(filter, place, negated)
  }
}

const negate = (truth: Truth, negated: boolean): Truth =>
  typeof truth === 'boolean' ? truth !== negated : truth

/** `deciding`: the truth of one part that decides the whole: true for a disjunction, false for a conjunction. */
function combine(truths: readonly Truth[], deciding: boolean): Truth {
  if (truths.includes(deciding)) return deciding
  const error = truths.find(truth => truth instanceof AbilityError)
  if (error) return error
  return truths.includes(null) ? null : !deciding
}

/** True if some target meets the filter. Without targets the filter is evaluated on a row of nulls, as by a left join. */
function evaluateRelated({ attribute, filter }: RelatedFilter, place: Place, negated: boolean): Truth {
  const targets = targetsOf(attribute.name, place)
  if (targets instanceof AbilityError) return targets
  const path = [...place.path, attribute.name]
  if (targets.length === 0) return matchesAbsent(filter, negated)
  const truths = targets.map(document => evaluate(filter, { document, path }, negated))
  const truth = combine(truths, true)
  return truth instanceof AbilityError ? truth : truth === true
}

/** True if a filter on a relation holds for a document without a target. */
export const matchesAbsent = (filter: Filter, negated: boolean): boolean =>
  evaluateAbsent(filter, negated) === true

/** As in core/plan/filter.ts: `$null` is true for a missing target, `$notNull` false, all other comparisons are unknown. */
function evaluateAbsent(filter: Filter, negated: boolean): boolean | null {
  switch (filter.kind) {
    case 'comparison': {
      const { operator, values } = filter
      if (operator !== '$null' && operator !== '$notNull') return null
      return ((operator === '$null') === (values[0] === true)) !== negated
    }
    case 'not':
      return evaluateAbsent(filter.filter, !negated)
    case 'related':
      return evaluateAbsent(filter.filter, negated)
    default: {
      const truths = filter.filters.map(part => evaluateAbsent(part, negated))
      const truth = combine(truths, (filter.kind === 'and') === negated)
      return truth instanceof AbilityError ? null : truth
    }
  }
}

function targetsOf(name: string, place: Place): readonly MatchedDocument[] | AbilityError {
  const value = ownValue(name, place)
  if (value instanceof AbilityError) return value
  if (value === null) return []
  const targets: readonly unknown[] = Array.isArray(value) ? value : [value]
  if (targets.every(isRecord)) return targets
  return new AbilityError(`\`${pathOf(name, place)}\` of the document is no document: populate it`)
}

function ownValue(name: string, place: Place): unknown {
  const value = Object.hasOwn(place.document, name) ? place.document[name] : undefined
  if (value !== undefined) return value
  const where = pathOf(name, place)
  return new AbilityError(`the condition needs \`${where}\`, which the document lacks: select or populate it`)
}

const pathOf = (name: string, { path }: Place): string => [...path, name].join('.')

function compare(comparison: Comparison, place: Place): Truth {
  const { attribute, operator, values } = comparison
  const isNullTest = operator === '$null' || operator === '$notNull'
  const isKey = attribute.system && (attribute.type === 'id' || attribute.type === 'documentId')
  if (isNullTest && isKey) return (operator === '$null') !== (values[0] === true)
  const raw = ownValue(attribute.name, place)
  if (raw instanceof AbilityError) return raw
  if (isNullTest) return ((raw === null) === (operator === '$null')) === (values[0] === true)
  if (raw === null) return compareNull(operator, values)
  const own = storedValue(attribute, raw)
  if (own === undefined)
    return new AbilityError(`\`${pathOf(attribute.name, place)}\` of the document is no ${attribute.type}`)
  return decide({
    attribute,
    operator,
    values: values.map(withoutLoneSurrogates),
    own: withoutLoneSurrogates(own),
  })
}

/** As the database stores a text: a lone surrogate is replaced by U+FFFD. */
const withoutLoneSurrogates = (value: Value): Value =>
  typeof value === 'string' ? Buffer.from(value).toString() : value

/** A comparison with NULL is unknown. The exception is an empty list: `$in` is false, `$notIn` true. */
const compareNull = (operator: Operator, values: readonly Value[]): Truth =>
  values.length === 0 && (operator === '$in' || operator === '$notIn') ? operator === '$notIn' : null

/** A value of a document in the form that PostgreSQL takes; undefined: it does not fit the attribute's type. */
function storedValue(attribute: ScalarAttribute, raw: unknown): Value | undefined {
  const plain = raw instanceof Date ? dateText(raw) : raw
  if (JSON_TYPES.has(attribute.type)) return jsonText(plain)
  const isScalar = typeof plain === 'string' || typeof plain === 'number' || typeof plain === 'boolean'
  if (!isScalar && typeof plain !== 'bigint') return undefined
  if (attribute.type === 'boolean') return typeof plain === 'boolean' ? plain : undefined
  if (isTextual(attribute.type)) return typeof plain === 'string' ? plain : undefined
  const parsed = parseValue(attribute, plain)
  return parsed.ok ? parsed.value : undefined
}

/** undefined: a value that is no JSON, such as a cycle. */
function jsonText(value: unknown): string | undefined {
  try {
    return JSON.stringify(value)
  } catch (error) {
    if (error instanceof TypeError) return undefined
    throw error
  }
}

const dateText = (date: Date): string | undefined =>
  Number.isNaN(date.getTime()) ? undefined : date.toISOString()

const JSON_TYPES: ReadonlySet<ValueType> = new Set(['json', 'blocks', 'array'])

interface Operands {
  readonly attribute: ScalarAttribute
  readonly operator: Operator
  readonly values: readonly Value[]
  /** The document's value. */
  readonly own: Value
}

/** Compares two values that are not null. */
function decide(operands: Operands): Truth {
  const { attribute, operator, values, own } = operands
  const [value = '', second = ''] = values
  switch (operator) {
    case '$eq':
      return isEqual(operands, value)
    case '$ne':
      return !isEqual(operands, value)
    case '$in':
      return values.some(each => isEqual(operands, each))
    case '$notIn':
      return !values.some(each => isEqual(operands, each))
    case '$lt':
      return compareOrder(operands, value, order => order < 0)
    case '$lte':
      return compareOrder(operands, value, order => order <= 0)
    case '$gt':
      return compareOrder(operands, value, order => order > 0)
    case '$gte':
      return compareOrder(operands, value, order => order >= 0)
    case '$between': {
      const ends = [
        compareOrder(operands, value, order => order >= 0),
        compareOrder(operands, second, order => order <= 0),
      ]
      return combine(ends, false)
    }
    default:
      if (isListEntryOperator(operator, attribute.type))
        return containsJson(JSON.parse(String(own)), JSON.parse(String(value))) === (operator === '$contains')
      return matchText(operands, String(value))
  }
}

function isEqual({ attribute, own }: Operands, value: Value): boolean {
  if (JSON_TYPES.has(attribute.type)) return equalsJson(JSON.parse(String(own)), JSON.parse(String(value)))
  if (attribute.type === 'time') return clockOf(own) === clockOf(value)
  return own === value
}

/** `09:30:00` → `09:30:00.000` */
const clockOf = (value: Value): string => {
  const [clock = '', decimals = ''] = String(value).split('.')
  return `${clock}.${decimals.padEnd(3, '0')}`
}

/** Texts and JSON cannot be ordered here: their order depends on the database's collation. */
function compareOrder(
  { attribute, operator, own }: Operands,
  value: Value,
  test: (order: number) => boolean,
): Truth {
  const { name, type } = attribute
  if (isTextual(type) || JSON_TYPES.has(type))
    return new AbilityError(
      `${operator} on \`${name}\` cannot be decided without the database, which orders values of type ${type}`,
    )
  return test(orderOf(type, own, value))
}

function orderOf(type: ValueType, own: Value, value: Value): number {
  if (type === 'biginteger') return sign(BigInt(own), BigInt(value))
  if (type === 'time') return sign(clockOf(own), clockOf(value))
  return sign(own, value)
}

const sign = <Each extends Value | bigint>(a: Each, b: Each): number => (a < b ? -1 : a > b ? 1 : 0)

function matchText({ attribute, operator, own }: Operands, value: string): Truth {
  const isFolded = operator.endsWith('i')
  const { name, type } = attribute
  const undecided = (reason: string) =>
    new AbilityError(`${operator} on \`${name}\` cannot be decided without the database: ${reason}`)
  if (!isTextual(type) && !PLAIN_TEXTS.has(type)) return undecided(`it prints values of type ${type}`)
  const text = String(own)
  if (!isFolded) return TEXT_TESTS[operator]?.(text, value) ?? undecided('unknown operator')
  if (UNCERTAIN_FOLDING.test(text) || UNCERTAIN_FOLDING.test(value))
    return undecided('the lower case of İ and Σ depends on it')
  return TEXT_TESTS[operator.slice(0, -1)]?.(fold(text), fold(value)) ?? undecided('unknown operator')
}

/** Types whose values PostgreSQL and JavaScript print equally. */
const PLAIN_TEXTS: ReadonlySet<ValueType> = new Set(['id', 'integer', 'biginteger', 'boolean', 'date'])

const UNCERTAIN_FOLDING = /[\u0130\u03a3]/

/** Character by character, because toLowerCase() of a whole text also depends on neighbouring letters. */
const fold = (text: string): string => Array.from(text, letter => letter.toLowerCase()).join('')

const TEXT_TESTS: Readonly<Record<string, (text: string, value: string) => boolean>> = {
  $eq: (text, value) => text === value,
  $ne: (text, value) => text !== value,
  $contains: (text, value) => text.includes(value),
  $notContains: (text, value) => !text.includes(value),
  $startsWith: (text, value) => text.startsWith(value),
  $endsWith: (text, value) => text.endsWith(value),
}

/** Equality of jsonb: the order of keys is irrelevant. */
function equalsJson(a: unknown, b: unknown): boolean {
  if (Array.isArray(a) || Array.isArray(b))
    return (
      Array.isArray(a) &&
      Array.isArray(b) &&
      a.length === b.length &&
      a.every((each, at) => equalsJson(each, b[at]))
    )
  if (!isRecord(a) || !isRecord(b)) return a === b
  const names = Object.keys(a)
  return (
    names.length === Object.keys(b).length &&
    names.every(name => Object.hasOwn(b, name) && equalsJson(a[name], b[name]))
  )
}

/** `@>` of jsonb. A list contains a list if it has each entry in any place; an object contains an object by its keys. */
function containsJson(whole: unknown, part: unknown): boolean {
  if (Array.isArray(part))
    return Array.isArray(whole) && part.every(entry => whole.some(each => containsEntry(each, entry)))
  if (Array.isArray(whole)) return !isRecord(part) && whole.some(each => equalsJson(each, part))
  if (!isRecord(whole) || !isRecord(part)) return equalsJson(whole, part)
  return Object.entries(part).every(
    ([name, value]) => Object.hasOwn(whole, name) && containsEntry(whole[name], value),
  )
}

/** A list contains a value that is not in a list only at the top level. */
const containsEntry = (whole: unknown, part: unknown): boolean =>
  Array.isArray(whole) === Array.isArray(part) && containsJson(whole, part)
