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
}

export const EMPTY_MAPPING: LiteralMapping = new Map()

export const isMapping = (given: LiteralValue | undefined): given is LiteralMapping => given instanceof Map

export const isList = (given: LiteralValue | undefined): given is readonly LiteralValue[] =>
  Array.isArray(given)

export const isFromEnvironment = (given: LiteralValue | undefined): given is EnvironmentValue =>
  isTagged(given) && given.kind === 'environment'

const isTagged = (given: LiteralValue | undefined): given is EnvironmentValue | UnevaluatedCode =>
  typeof given === 'object' && given !== null && !isMapping(given) && !isList(given)

/** The value at a path through mappings. */
export function valueAt(
  given: LiteralValue | undefined,
  ...way: readonly string[]
): LiteralValue | undefined {
  return way.reduce<LiteralValue | undefined>(
    (inner, key) => (isMapping(inner) ? inner.get(key) : undefined),
    given,
  )
}

export function mappingAt(given: LiteralValue | undefined, ...way: readonly string[]): LiteralMapping {
  const found = valueAt(given, ...way)
  return isMapping(found) ? found : EMPTY_MAPPING
}

export function textAt(given: LiteralValue | undefined, ...way: readonly string[]): string | undefined {
  const found = valueAt(given, ...way)
  return typeof found === 'string' ? found : undefined
}

export function textsAt(given: LiteralValue | undefined, ...way: readonly string[]): readonly string[] {
  const found = valueAt(given, ...way)
  return isList(found) ? found.filter(each => typeof each === 'string') : []
}

/** The value as JSON; undefined if any part of it is unknown. */
export function toJson(given: LiteralValue | undefined): Json | undefined {
  if (given === undefined || isTagged(given)) return undefined
  if (isList(given)) {
    const items = given.map(toJson).filter(each => each !== undefined)
    return items.length === given.length ? items : undefined
  }
  if (!isMapping(given)) return given
  const entries = [...given].map(([key, value]): [string, Json | undefined] => [key, toJson(value)])
  if (entries.some(([, value]) => value === undefined)) return undefined
  return Object.fromEntries(entries.flatMap(([key, value]) => (value === undefined ? [] : [[key, value]])))
}

/** Converts JSON; mappings become Maps, so that keys such as `__proto__` are harmless. */
export function fromJson(value: Json): LiteralValue {
  if (Array.isArray(value)) return value.map(fromJson)
  if (typeof value !== 'object' || value === null) return value as null | boolean | number | string
  return new Map(Object.entries(value).map(([key, each]) => [key, fromJson(each)]))
}
