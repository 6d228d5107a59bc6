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
}

/**
 * Converts a GraphQL filter (reference/graphql.md#4-filters) to REST's filter grammar: `{ title: { eq: 1 }, or: [] }` becomes
 * `{ title: { $eq: 1 }, $or: [] }`, and `id` of a document becomes `entityId`.
 */
export function toDollarFilter(raw: unknown, holder: Holder, entityId: EntityId): unknown {
  if (Array.isArray(raw)) return raw.map(item => toDollarFilter(item, holder, entityId))
  if (!isRecord(raw)) return raw
  return Object.fromEntries(
    conditionsOf(raw, holder).map(([key, value]) => toTerm(key, value, { holder, entityId })),
  )
}

function toTerm(key: string, value: unknown, place: FilterPlace): readonly [string, unknown] {
  const { holder, entityId } = place
  const logic = LOGIC.get(key)
  if (logic !== undefined) return [logic, toList(logic, toDollarFilter(value, holder, entityId))]
  const name = nameOf(key, place)
  const inner = holderBehind(holder, name)
  if (inner) return [name, toDollarFilter(value, inner, entityId)]
  return [name, toDollarOperators(value, holder.attributes.get(name))]
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

/** Operators that match nothing if compared with null (reference/graphql.md#4-filters); `eq` and `ne` accept null. */
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

const MATCHES_NOTHING = { $in: [] }

/** Converts the operators of one attribute: `{ eq: 1, not: {} }` becomes `{ $eq: 1 }`. */
function toDollarOperators(raw: unknown, attribute: Attribute | undefined): unknown {
  if (!isRecord(raw)) return raw
  const operators = Object.entries(raw).filter(([key, value]) => key !== 'not' || !isEmpty(value))
  if (operators.some(([key, value]) => matchesNothing(key, value))) return MATCHES_NOTHING
  return Object.fromEntries(
    operators.map(([key, value]) => [
      `$${key}`,
      key === 'not' ? toDollarOperators(value, attribute) : toOperand(key, value, attribute),
    ]),
  )
}

const isEmpty = (value: unknown): boolean => isRecord(value) && Object.keys(value).length === 0

/** In SQL, NOT IN a list with null is never true. */
function matchesNothing(key: string, value: unknown): boolean {
  if (key === 'in') return value === null
  if (key === 'notIn') return value === null || (Array.isArray(value) && value.includes(null))
  return value === null && NEEDS_VALUE.has(key)
}

const LISTS: ReadonlySet<string> = new Set(['in', 'notIn', 'between'])

function toOperand(key: string, value: unknown, attribute: Attribute | undefined): unknown {
  const values = key === 'in' && Array.isArray(value) ? value.filter(item => item !== null) : value
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
export const JSON_TYPES: ReadonlySet<string> = new Set(['json', 'blocks', 'array'])

/** Serializes a value for REST's parsers, which parse strings as JSON. */
export const toJsonText = (value: unknown): string => JSON.stringify(value)
