import { fault, invalidKey, type QueryParam, RequestFault } from '../faults/fault.ts'
import type { Attribute, Holder, ScalarAttribute } from '../model/model.ts'
import {
  isListEntryOperator,
  isOperator,
  type Operator,
  operatorAccepts,
  operatorTraits,
} from './operators.ts'
import type { InvalidValue } from './parse-moment.ts'
import {
  isRecord,
  type ParsePlace,
  pathWithin,
  refuseKey,
  refuseValue,
  targetHolder,
  unknownKey,
} from './parse-place.ts'
import { isTrue, parseTextValue, parseValue } from './parse-value.ts'
import type { Comparison, Filter, Value } from './query.ts'

export interface FilterOptions {
  /** The part of the request that faults name. */
  readonly param?: QueryParam
}

/**
 * Parses REST `filters` and permissions' `where` (reference/rest.md#7-filters): objects of attributes, operators and
 * groups, from a query string or a file. Fails with the first fault. Attributes are resolved without permissions;
 * access/ checks whether the caller may use them.
 */
export function parseFilter(raw: unknown, holder: Holder, { param = 'filters' }: FilterOptions = {}): Filter {
  if (raw === null || typeof raw !== 'object')
    throw new RequestFault(fault('validation', 'The filters parameter must be an object or an array'))
  return parseGroup(raw, { holder, param, path: null, id: null })
}

interface FilterPlace extends ParsePlace {
  /** The id attribute behind a link, which operators without an attribute compare; null at the top. */
  readonly id: ScalarAttribute | null
}

/** All terms of an object must hold. */
function parseGroup(raw: unknown, place: FilterPlace): Filter {
  if (!isRecord(raw)) return Array.isArray(raw) ? refuseKey(place, '0') : refuseGroup(place, 'filters')
  return parseAll(Object.entries(raw), ([key, value]) => parseTerm(key, value, place))
}

const refuseGroup = (place: FilterPlace, key: string) =>
  refuseValue(place, key, place.path ?? key, 'an object of conditions')

function parseTerm(key: string, value: unknown, place: FilterPlace): Filter {
  if (key === '$and' || key === '$or') return parseList(key, value, place)
  if (key === '$not') return { kind: 'not', filter: parseNegated(value, place) }
  if (isOperator(key))
    return place.id ? parseConditions({ [key]: value }, place.id, onId(place)) : refuseKey(place, key)
  const attribute = place.holder.attributes.get(key)
  return attribute ? parseAttribute(attribute, value, place) : refuseKey(place, key)
}

function parseList(key: '$and' | '$or', value: unknown, place: FilterPlace): Filter {
  if (!Array.isArray(value))
    return refuseValue(place, key, pathWithin(place, key), 'a list of objects of conditions')
  const kind = key === '$and' ? 'and' : 'or'
  return parseAll(value, item => (isRecord(item) ? parseGroup(item, place) : refuseGroup(place, key)), kind)
}

/** A list is negated as a whole. */
function parseNegated(value: unknown, place: FilterPlace): Filter {
  if (place.id && !isRecord(value)) return parseConditions(value, place.id, onId(place))
  if (!Array.isArray(value)) return isRecord(value) ? parseGroup(value, place) : refuseGroup(place, '$not')
  return parseAll(value, item => (isRecord(item) ? parseGroup(item, place) : refuseGroup(place, '$not')))
}

function parseAttribute(attribute: Attribute, value: unknown, place: FilterPlace): Filter {
  if (attribute.kind === 'scalar')
    return parseConditions(value, attribute, { param: place.param, path: pathWithin(place, attribute.name) })
  // reference/rest.md#7-filters: filtering on dynamic zones, media and `related` of files is not possible.
  if (attribute.kind === 'zone' || attribute.kind === 'media' || attribute.kind === 'morph')
    throw new RequestFault(unknownKey(place, attribute.name))
  const holder = targetHolder(attribute)
  const id = holder?.attributes.get('id')
  if (!holder || id?.kind !== 'scalar') throw new RequestFault(unknownKey(place, attribute.name))
  const there: FilterPlace = { holder, id, param: place.param, path: pathWithin(place, attribute.name) }
  const filter = isRecord(value) ? parseGroup(value, there) : parseConditions(value, id, onId(there))
  return { kind: 'related', attribute, scope: null, filter }
}

/** Faults of a condition on the id behind a link report the place of the link. */
const onId = ({ param, path }: FilterPlace) => ({ param, path: path ?? 'id' })

/** The place of the conditions for faults: the dotted path to their attribute, including the attribute. */
interface ConditionPlace {
  readonly param: QueryParam
  readonly path: string
}

/** Parses the conditions on a scalar attribute: a value (`$eq`), a list (`$in`), or an object of operators. */
function parseConditions(raw: unknown, attribute: ScalarAttribute, place: ConditionPlace): Filter {
  const on: ComparedAttribute = { attribute, place }
  if (Array.isArray(raw)) return parseConditionList(raw, on)
  if (!isRecord(raw)) return parseOperator('$eq', raw, on)
  return parseOperators(raw, on)
}

/** `a=1&a[$lt]=5` arrives as one list: one of its values must match, and all of its conditions. */
function parseConditionList(raw: readonly unknown[], on: ComparedAttribute): Filter {
  const values = raw.filter(item => !isOperatorRecord(item))
  const conditions = raw.filter(isOperatorRecord)
  if (conditions.length === 0) return parseOperator('$in', values, on)
  const terms = values.length === 0 ? conditions : [{ $in: values }, ...conditions]
  return parseAll(terms, term => parseOperators(term, on))
}

type Operators = Readonly<Record<string, unknown>>

const isOperatorRecord = (item: unknown): item is Operators =>
  isRecord(item) && Object.keys(item).every(isOperator)

const parseOperators = (raw: Operators, on: ComparedAttribute): Filter =>
  parseAll(Object.entries(raw), ([key, value]) => parseCondition(key, value, on))

interface ComparedAttribute {
  readonly attribute: ScalarAttribute
  readonly place: ConditionPlace
}

function parseCondition(key: string, value: unknown, on: ComparedAttribute): Filter {
  if (key === '$not') return parseNot(value, on)
  if (!isOperator(key)) throw new RequestFault(invalidKey(key, on.place.path, on.place.param))
  if (!operatorAccepts(key, on.attribute.type))
    return refuse(key, on, `an operator for values of type ${on.attribute.type}`)
  // `[$eq][$eq]=x` is read as `[$eq]=x`.
  if (key === '$eq' && isOperatorRecord(value)) return parseOperators(value, on)
  return parseOperator(key, value, on)
}

/** A list is negated as a whole: NOT (a AND b). */
function parseNot(value: unknown, { attribute, place }: ComparedAttribute): Filter {
  const parsed = Array.isArray(value)
    ? parseAll(value, item => parseConditions(item, attribute, place))
    : parseConditions(value, attribute, place)
  return { kind: 'not', filter: parsed }
}

function parseOperator(operator: Operator, raw: unknown, on: ComparedAttribute): Filter {
  switch (operatorTraits(operator).arity) {
    case 'flag':
      return parseFlag(operator, raw, on)
    case 'one':
      return parseOne(operator, raw, on)
    case 'two':
      return Array.isArray(raw) && raw.length === 2
        ? parseMany(operator, raw, on)
        : refuse(operator, on, 'a list of exactly two values')
    case 'many':
      return parseMany(operator, Array.isArray(raw) ? raw.flat(Number.POSITIVE_INFINITY) : [raw], on)
  }
}

const compare = (
  operator: Operator,
  values: readonly Value[],
  { attribute }: ComparedAttribute,
): Comparison => ({
  kind: 'comparison',
  attribute,
  operator,
  values,
})

function parseFlag(operator: Operator, raw: unknown, on: ComparedAttribute): Filter {
  if (raw !== null && typeof raw === 'object') return refuse(operator, on, 'true or false')
  return compare(operator, [isTrue(raw)], on)
}

/** Comparisons with null become null tests. */
const NULL_TESTS: ReadonlyMap<Operator, '$null' | '$notNull'> = new Map([
  ['$eq', '$null'],
  ['$eqi', '$null'],
  ['$ne', '$notNull'],
  ['$nei', '$notNull'],
  ['$notContains', '$notNull'],
  ['$notContainsi', '$notNull'],
])

/** One of several values must match. null becomes a null test (`filters[a]` without `=`). */
function parseOne(operator: Operator, raw: unknown, on: ComparedAttribute): Filter {
  if (Array.isArray(raw)) return parseAny(operator, raw.flat(Number.POSITIVE_INFINITY), on)
  const nullTest = raw === null ? NULL_TESTS.get(operator) : undefined
  if (nullTest) return compare(nullTest, [true], on)
  return parseMany(operator, [raw], on)
}

function parseAny(operator: Operator, items: readonly unknown[], on: ComparedAttribute): Filter {
  if (operator === '$eq') return parseMany('$in', items, on)
  return parseAll(items, item => parseMany(operator, [item], on), 'or')
}

function parseMany(operator: Operator, items: readonly unknown[], on: ComparedAttribute): Filter {
  const values: Value[] = []
  if (isListEntryOperator(operator, on.attribute.type)) return parseEntries(operator, items, on)
  for (const item of items) {
    const parsed = operatorTraits(operator).text ? parseTextValue(item) : parseValue(on.attribute, item)
    if (!parsed.ok) return refuseValueOf(operator, parsed.reasons[0], on)
    values.push(parsed.value)
  }
  return compare(operator, values, on)
}

/**
 * The entry that a list must contain. A text matches as text and as the JSON value that it spells, because a query
 * string has only texts. `$notContains`: none of the two.
 */
function parseEntries(operator: Operator, items: readonly unknown[], on: ComparedAttribute): Filter {
  const wanted = items.flatMap(entryReadings)
  const parts: Filter[] = []
  for (const entry of wanted) {
    const parsed = parseValue(on.attribute, [entry])
    if (!parsed.ok) return refuseValueOf(operator, parsed.reasons[0], on)
    parts.push(compare(operator, [parsed.value], on))
  }
  return { kind: operator === '$contains' ? 'or' : 'and', filters: parts }
}

function entryReadings(item: unknown): readonly unknown[] {
  if (typeof item !== 'string' || !/^(?:-?\d[\d.eE+-]*|true|false)$/.test(item)) return [item]
  const number = Number(item)
  if (item === 'true' || item === 'false') return [item, item === 'true']
  return Number.isFinite(number) ? [item, number] : [item]
}

/** Dates and times have their own messages (reference/rest.md#3-attribute-values). */
function refuseValueOf(operator: Operator, reason: InvalidValue | undefined, on: ComparedAttribute): never {
  if (typeof reason?.message === 'string') throw new RequestFault(fault('validation', reason.message))
  return refuse(operator, on, reason?.expected ?? 'another value')
}

/** reference/rest.md#17-differences-from-strapi, section 18: the message names the key, its place and what was expected. */
function refuse(operator: Operator, { attribute, place }: ComparedAttribute, expected: string): never {
  const { param, path } = place
  const at = path === attribute.name ? '' : ` at ${path}`
  throw new RequestFault(
    fault('validation', `Invalid value for ${operator} of ${attribute.name}${at}: expected ${expected}`, {
      key: operator,
      path,
      source: 'query',
      param,
      expected,
    }),
  )
}

/** Parses the items up to the first fault and joins the filters. A single filter is returned as it is. */
function parseAll<Item>(
  items: readonly Item[],
  parse: (item: Item) => Filter,
  kind: 'and' | 'or' = 'and',
): Filter {
  const filters: Filter[] = []
  for (const item of items) {
    filters.push(parse(item))
  }
  const [only] = filters
  return only && filters.length === 1 ? only : { kind, filters }
}
