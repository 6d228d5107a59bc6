import { invalidParam, type Params } from '../actions/params.ts'
import { didYouMean } from '../base/nearest.ts'
import type { ContentType, Model } from '../model/model.ts'
import { isRecord } from '../query/parse-place.ts'

/** Checks that all keys are known and converts values to plain ones. Throws RequestFault with the nearest known key. */
export function checkParams(raw: unknown, known: readonly string[], name: string): Params {
  if (raw === undefined) return {}
  if (!isRecord(raw)) throw invalidParam(`${name} takes an object of parameters`, name)
  const params: [string, unknown][] = []
  for (const [key, value] of Object.entries(raw)) {
    if (!known.includes(key))
      throw invalidParam(
        `Unknown parameter ${key} of ${name}${didYouMean(key, known) || (known.length === 0 ? ': it takes none' : `: it takes ${known.join(', ')}`)}`,
        key,
      )
    if (value !== undefined) params.push([key, toPlain(value, key)])
  }
  return Object.fromEntries(params)
}

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
function toPlain(value: unknown, key: string): unknown {
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

/** As in JSON: undefined in a list becomes null, in an object it is dropped. */
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

/** Finds a content-type by uid or key. Throws RequestFault with the nearest name. */
export function findType(name: unknown, { contentTypes }: Model): ContentType {
  const found = contentTypes.get(String(name)) ?? [...contentTypes.values()].find(({ key }) => key === name)
  if (found) return found
  const names = [...contentTypes.values()].flatMap(({ uid, key }) => [uid, key])
  throw invalidParam(`There is no content-type ${String(name)}${didYouMean(String(name), names)}`, 'uid')
}
