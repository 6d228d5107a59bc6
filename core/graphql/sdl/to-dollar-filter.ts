import { type Attribute, type Holder, isLink } from '../../model/model.ts'
import { isRecord } from '../../query/parse-place.ts'
import type { GraphqlFormat } from '../formats/format.ts'

const LOGIC: ReadonlyMap<string, string> = new Map([
  ['and', '$and'],
  ['or', '$or'],
  ['not', '$not'],
])

type Filter = Readonly<Record<string, unknown>>

type EntityId = GraphqlFormat['entityId']

interface FilterPlace {
  readonly holder: Holder
  readonly entityId: EntityId
  /** Inside an odd number of `not`. */
  readonly negated: boolean
}

/**
 * Converts a GraphQL filter (reference/graphql.md#4-filters) to REST's filter grammar: `{ title: { eq: 1 }, or: [] }` becomes
 * `{ title: { $eq: 1 }, $or: [] }`, and `id` of a document becomes `entityId`.
 */
export const toDollarFilter = (raw: unknown, holder: Holder, entityId: EntityId): unknown =>
  toGroup(raw, { holder, entityId, negated: false })

function toGroup(raw: unknown, place: FilterPlace): unknown {
  if (Array.isArray(raw)) return raw.map(item => toGroup(item, place))
  if (!isRecord(raw)) return raw
  return Object.fromEntries(conditionsOf(raw, place.holder).map(([key, value]) => toTerm(key, value, place)))
}

function toTerm(key: string, value: unknown, place: FilterPlace): readonly [string, unknown] {
  const { holder, negated } = place
  const logic = LOGIC.get(key)
  if (logic !== undefined)
    return [logic, toList(logic, toGroup(value, { ...place, negated: negated !== (logic === '$not') }))]
  const name = nameOf(key, place)
  const inner = holderBehind(holder, name)
  if (inner) return [name, toGroup(value, { ...place, holder: inner })]
  return [name, toDollarOperators(value, { attribute: holder.attributes.get(name), negated })]
}

const nameOf = (key: string, { holder, entityId }: FilterPlace): string =>
  key === 'id' && holder.holder === 'content-type' ? entityId : key

/** Drops empty groups (reference/graphql.md#4-filters) and null relations and components. */
const conditionsOf = (filter: Filter, holder: Holder): readonly (readonly [string, unknown])[] =>
  Object.entries(filter).flatMap(([key, value]) => {
    if (!LOGIC.has(key)) return value === null && holderBehind(holder, key) ? [] : [[key, value] as const]
    const group = Array.isArray(value) ? value.filter(item => !isEmptyGroup(item)) : value
    return isEmptyGroup(group) ? [] : [[key, group] as const]
  })

const isEmptyGroup = (group: unknown): boolean =>
  group === null || (typeof group === 'object' && Object.keys(group).length === 0)

/** GraphQL coerces a single value to a list. */
const toList = (logic: string, value: unknown): unknown =>
  logic === '$not' || Array.isArray(value) ? value : [value]

function holderBehind(holder: Holder, name: string): Holder | null {
  const attribute = holder.attributes.get(name)
  if (!attribute) return null
  if (isLink(attribute)) return attribute.target
  return attribute.kind === 'component' ? attribute.component : null
}

/** Operators that are neither true nor false if compared with null (reference/graphql.md#4-filters); `eq` and `ne` accept null. */
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

interface Operand {
  readonly attribute: Attribute | undefined
  readonly negated: boolean
}

/**
 * Converts the operators of one attribute: `{ eq: 1, not: {} }` becomes `{ $eq: 1 }`. An operator that SQL neither calls true
 * nor false matches nothing, and neither does its negation: it counts as false, or as true inside of `not`.
 */
function toDollarOperators(raw: unknown, { attribute, negated }: Operand): unknown {
  if (!isRecord(raw)) return raw
  const operators = Object.entries(raw).filter(([key, value]) => key !== 'not' || !isEmpty(value))
  const known = operators.filter(([key, value]) => !isUnknown(key, value, negated))
  if (known.length < operators.length && (!negated || known.length === 0))
    return negated ? { $notIn: [] } : { $in: [] }
  return Object.fromEntries(
    known.map(([key, value]) => [
      `$${key}`,
      key === 'not'
        ? toDollarOperators(value, { attribute, negated: !negated })
        : toOperand(key, value, attribute),
    ]),
  )
}

const isEmpty = (value: unknown): boolean => isRecord(value) && Object.keys(value).length === 0

/**
 * In SQL, a value is neither in a list with null nor outside of it, unless it is one of the others. What IN finds among these is
 * all that matters outside of `not`, and what NOT IN excludes inside of it.
 */
function isUnknown(key: string, value: unknown, negated: boolean): boolean {
  if (key !== 'in' && key !== 'notIn') return value === null && NEEDS_VALUE.has(key)
  return value === null || ((key === 'in') === negated && Array.isArray(value) && value.includes(null))
}

const LISTS: ReadonlySet<string> = new Set(['in', 'notIn', 'between'])

function toOperand(key: string, value: unknown, attribute: Attribute | undefined): unknown {
  const isList = (key === 'in' || key === 'notIn') && Array.isArray(value)
  const values = isList ? value.filter(item => item !== null) : value
  if (attribute?.kind !== 'scalar' || !JSON_TYPES.has(attribute.type)) return values
  // An entry of an array is a value, not JSON text.
  if (attribute.type === 'array' && (key === 'contains' || key === 'notContains')) return values
  return LISTS.has(key) && Array.isArray(values) ? values.map(jsonOperand(key)) : jsonOperand(key)(values)
}

const FLAGS: ReadonlySet<string> = new Set(['null', 'notNull'])
/** Operators that search in the JSON text. */
const TEXTUAL: ReadonlySet<string> = new Set(['eqi', 'nei', 'containsi', 'notContainsi'])

/** The filter grammar expects JSON text. */
const jsonOperand = (key: string) => (value: unknown) =>
  value === null || FLAGS.has(key) || (TEXTUAL.has(key) && typeof value === 'string')
    ? value
    : toJsonText(value)

/** Attribute types with JSON values, which the JSON scalar accepts unchanged. */
const JSON_TYPES: ReadonlySet<string> = new Set(['json', 'blocks', 'array'])

/** Serializes a value for REST's parsers, which parse strings as JSON. */
export const toJsonText = (value: unknown): string => JSON.stringify(value)
