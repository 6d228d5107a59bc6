import { refuse } from './unwrap-result.ts'

/** Where a value stands, for faults, and whether there may be nothing. */
interface Place {
  readonly path: string
  /** In conditions, undefined would drop one of them unseen. */
  readonly strict: boolean
  readonly depth: number
}

/** Deeper than any document. */
const MAX_DEPTH = 100

/**
 * A value of code → as JSON has it: dates are ISO text, big integers text. Throws RequestFault for what JSON has
 * not, and for undefined inside of conditions.
 */
export function toPlain(value: unknown, key: string): unknown {
  return plain(value, { path: key, strict: key === 'filters', depth: 0 })
}

function plain(value: unknown, place: Place): unknown {
  if (place.depth > MAX_DEPTH) throw refuse(`${place.path} is more than ${MAX_DEPTH} levels deep`, place.path)
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value
  if (typeof value === 'number' && Number.isFinite(value)) return value
  if (typeof value === 'bigint') return String(value)
  if (value instanceof Date && !Number.isNaN(value.getTime())) return value.toISOString()
  if (Array.isArray(value))
    return value.map((each, index) => plain(each ?? orNull(each, place), inside(place, index)))
  if (typeof value === 'object' && isPlainObject(value)) return plainObject(value, place)
  throw refuse(`${place.path} is ${nameOf(value)}: expected plain values`, place.path)
}

/** As JSON has it: undefined in a list is null, in an object not there. */
function orNull(value: null | undefined, { path, strict }: Place): null {
  if (strict && value === undefined) throw refuse(`${path} has undefined in it`, path)
  return null
}

function plainObject(value: object, place: Place): Readonly<Record<string, unknown>> {
  const entries = Object.entries(value).filter(([key, each]) => {
    if (each === undefined && place.strict) throw refuse(`${place.path}.${key} is undefined`, key)
    return each !== undefined
  })
  return Object.fromEntries(entries.map(([key, each]) => [key, plain(each, inside(place, key))]))
}

const inside = ({ path, strict, depth }: Place, key: string | number): Place => ({
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
