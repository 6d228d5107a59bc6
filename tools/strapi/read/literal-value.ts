import { parseJsonText } from '../../../core/base/text.ts'
import type { Json } from '../../../core/project/settings/settings.ts'

/** A value in a file of a Strapi project, evaluated without running the file. */
export type LiteralValue =
  | null
  | boolean
  | number
  | string
  | readonly LiteralValue[]
  | LiteralMapping
  | EnvironmentValue
  | UnevaluatedCode

export type LiteralMapping = ReadonlyMap<string, LiteralValue>

/** A mapping whose keys have positions in a file of the project. */
export class LocatedMapping extends Map<string, LiteralValue> {
  /** `config/server.ts:12`, by key. */
  readonly places = new Map<string, string>()

  put(key: string, value: LiteralValue, place: string | undefined): void {
    this.set(key, value)
    if (place !== undefined) this.places.set(key, place)
  }

  putAll(more: LiteralMapping): void {
    for (const [key, value] of more)
      this.put(key, value, more instanceof LocatedMapping ? more.places.get(key) : undefined)
  }
}

/** Entries that a mapping gets at run time: `...limits(env)`, `[name]: 1`. Their key begins with this. */
export const UNKNOWN_KEYS = '...'

/** `env('NAME', fallback)`, `env.int('NAME')`, `process.env.NAME`. */
export interface EnvironmentValue {
  readonly kind: 'environment'
  readonly name: string
  readonly fallback?: LiteralValue
}

/** An expression that cannot be evaluated without running the file. */
export interface UnevaluatedCode {
  readonly kind: 'code'
  readonly text: string
  /** `config/server.ts:12`. */
  readonly place: string
}

export const EMPTY_MAPPING: LiteralMapping = new Map()

export const isMapping = (declared: LiteralValue | undefined): declared is LiteralMapping =>
  declared instanceof Map

export const isLiteralList = (declared: LiteralValue | undefined): declared is readonly LiteralValue[] =>
  Array.isArray(declared)

export const isFromEnvironment = (declared: LiteralValue | undefined): declared is EnvironmentValue =>
  isTagged(declared) && declared.kind === 'environment'

export const isCode = (declared: LiteralValue | undefined): declared is UnevaluatedCode =>
  isTagged(declared) && declared.kind === 'code'

const isTagged = (declared: LiteralValue | undefined): declared is EnvironmentValue | UnevaluatedCode =>
  typeof declared === 'object' && declared !== null && !isMapping(declared) && !isLiteralList(declared)

/** The value at a path through mappings. */
export function valueAt(
  declared: LiteralValue | undefined,
  ...way: readonly string[]
): LiteralValue | undefined {
  return way.reduce<LiteralValue | undefined>(
    (inner, key) => (isMapping(inner) ? inner.get(key) : undefined),
    declared,
  )
}

/** `file:line` of the deepest key on a path, if it is known. */
export function scriptPlace(
  declared: LiteralValue | undefined,
  ...way: readonly string[]
): string | undefined {
  let inner = declared
  let place: string | undefined
  for (const key of way) {
    if (inner instanceof LocatedMapping) place = inner.places.get(key) ?? place
    inner = valueAt(inner, key)
  }
  return place
}

/** The code that decides the value at a path at run time; undefined: the value is known, or there is none. */
export function codeAt(
  declared: LiteralValue | undefined,
  ...way: readonly string[]
): UnevaluatedCode | undefined {
  const [key, ...rest] = way
  if (isCode(declared)) return declared
  if (isFromEnvironment(declared)) return codeAt(declared.fallback)
  if (!isMapping(declared))
    return isLiteralList(declared) ? declared.map(each => codeAt(each)).find(Boolean) : undefined
  const [, spread] = [...declared].find(([each]) => each.startsWith(UNKNOWN_KEYS)) ?? []
  if (key === undefined)
    return isCode(spread) ? spread : [...declared.values()].map(each => codeAt(each)).find(Boolean)
  if (declared.has(key)) return codeAt(declared.get(key), ...rest)
  return isCode(spread) ? spread : undefined
}

/** Merges mappings at all depths, and lists by index, as Strapi does with config/env. */
export function mergeValues(
  base: LiteralValue | undefined,
  over: LiteralValue | undefined,
): LiteralValue | undefined {
  if (over === undefined || base === undefined) return over ?? base
  if (isLiteralList(base) && isLiteralList(over))
    return Array.from(
      { length: Math.max(base.length, over.length) },
      (_, index) => mergeValues(base[index], over[index]) ?? null,
    )
  if (!isMapping(base) || !isMapping(over)) return over
  const merged = new LocatedMapping()
  for (const key of new Set([...base.keys(), ...over.keys()])) {
    const value = mergeValues(base.get(key), over.get(key))
    if (value !== undefined) merged.put(key, value, scriptPlace(over, key) ?? scriptPlace(base, key))
  }
  return merged
}

export function mappingAt(declared: LiteralValue | undefined, ...way: readonly string[]): LiteralMapping {
  const found = valueAt(declared, ...way)
  return isMapping(found) ? found : EMPTY_MAPPING
}

export function textAt(declared: LiteralValue | undefined, ...way: readonly string[]): string | undefined {
  const found = valueAt(declared, ...way)
  return typeof found === 'string' ? found : undefined
}

export function itemsAt(
  declared: LiteralValue | undefined,
  ...way: readonly string[]
): readonly LiteralValue[] {
  const found = valueAt(declared, ...way)
  return isLiteralList(found) ? found : []
}

export const textsAt = (declared: LiteralValue | undefined, ...way: readonly string[]): readonly string[] =>
  itemsAt(declared, ...way).filter(each => typeof each === 'string')

/** The JSON of a text; Strapi also stores and returns a text that is none. */
export function jsonOrText(text: string): Json {
  const parsed = parseJsonText(text) as Json | undefined
  return parsed === undefined ? text : parsed
}

/** The value as JSON; undefined if any part of it is unknown. */
export function toJson(declared: LiteralValue | undefined): Json | undefined {
  if (declared === undefined || isTagged(declared)) return undefined
  if (isLiteralList(declared)) {
    const items = declared.map(toJson).filter(each => each !== undefined)
    return items.length === declared.length ? items : undefined
  }
  if (!isMapping(declared)) return declared
  const entries = [...declared].map(([key, value]): [string, Json | undefined] => [key, toJson(value)])
  if (entries.some(([, value]) => value === undefined)) return undefined
  return Object.fromEntries(entries.flatMap(([key, value]) => (value === undefined ? [] : [[key, value]])))
}

/** Converts JSON; mappings become Maps, so that keys such as `__proto__` are harmless. */
export function fromJson(value: Json): LiteralValue {
  if (Array.isArray(value)) return value.map(fromJson)
  if (typeof value !== 'object' || value === null) return value as null | boolean | number | string
  return new Map(Object.entries(value).map(([key, each]) => [key, fromJson(each)]))
}
