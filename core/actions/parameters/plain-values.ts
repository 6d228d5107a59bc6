import { isRecord } from '../../query/parse-place.ts'
import { invalidParam, type Params } from '../action-params.ts'

/** Parameters that code wrote in place of a query string, in the form of one: its pages are texts. */
export function toQueryStringForm(query: Params): Params {
  const plain = Object.entries(query).flatMap(([key, value]) =>
    value === undefined || value === null ? [] : [[key, toPlain(value, key)]],
  )
  return withPageTexts(Object.fromEntries(plain))
}

/** The pages of a query string are texts. */
export const withPageTexts = (params: Params): Params =>
  isRecord(params.pagination) ? { ...params, pagination: textsOf(params.pagination) } : params

const textsOf = (page: Params): Params =>
  Object.fromEntries(
    Object.entries(page).map(([key, value]) => [key, isScalar(value) ? String(value) : value]),
  )

const isScalar = (value: unknown): boolean => typeof value === 'number' || typeof value === 'boolean'

/** The position of a value, for faults. */
interface ValuePlace {
  readonly path: string
  /** Refuse undefined: in filters it would silently drop a condition. */
  readonly strict: boolean
  readonly depth: number
}

/** Maximum nesting of a value. */
const MAX_DEPTH = 100

/**
 * Converts a value to its JSON form: dates to ISO text, big integers to text. Throws RequestFault for values that JSON
 * cannot represent, and for undefined inside filters.
 */
export function toPlain(value: unknown, key: string): unknown {
  return plain(value, { path: key, strict: key === 'filters', depth: 0 })
}

function plain(value: unknown, place: ValuePlace): unknown {
  if (place.depth > MAX_DEPTH)
    throw invalidParam(`${place.path} is more than ${MAX_DEPTH} levels deep`, place.path)
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value
  if (typeof value === 'number' && Number.isFinite(value)) return value
  if (typeof value === 'bigint') return String(value)
  if (value instanceof Date && !Number.isNaN(value.getTime())) return value.toISOString()
  if (Array.isArray(value))
    return value.map((each, index) => plain(each ?? orNull(each, place), inside(place, index)))
  if (typeof value === 'object' && isPlainObject(value)) return plainObject(value, place)
  throw invalidParam(`${place.path} is ${nameOf(value)}: expected plain values`, place.path)
}

/** Undefined in a list becomes null and in an object it is dropped, like in JSON. */
function orNull(value: null | undefined, { path, strict }: ValuePlace): null {
  if (strict && value === undefined) throw invalidParam(`${path} has undefined in it`, path)
  return null
}

function plainObject(value: object, place: ValuePlace): Readonly<Record<string, unknown>> {
  const entries = Object.entries(value).filter(([key, each]) => {
    if (each === undefined && place.strict) throw invalidParam(`${place.path}.${key} is undefined`, key)
    return each !== undefined
  })
  return Object.fromEntries(entries.map(([key, each]) => [key, plain(each, inside(place, key))]))
}

const inside = ({ path, strict, depth }: ValuePlace, key: string | number): ValuePlace => ({
  path: `${path}.${key}`,
  strict,
  depth: depth + 1,
})

function isPlainObject(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || prototype === Object.prototype
}

const nameOf = (value: unknown): string =>
  typeof value === 'object' ? `a ${value?.constructor.name ?? 'null'}` : String(value ?? typeof value)
