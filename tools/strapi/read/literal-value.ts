import type { Json } from '../../../core/project/settings/settings.ts'

/** A value of a Strapi project's file, as far as it can be known without running the file. */
export type Given =
  | null
  | boolean
  | number
  | string
  | readonly Given[]
  | GivenMapping
  | FromEnvironment
  | Code

export type GivenMapping = ReadonlyMap<string, Given>

/** `env('NAME', fallback)`, `env.int('NAME')`, `process.env.NAME`. */
export interface FromEnvironment {
  readonly kind: 'environment'
  readonly name: string
  readonly fallback?: Given
}

/** Whatever only running the file would tell. */
export interface Code {
  readonly kind: 'code'
  readonly text: string
}

export const NOTHING: GivenMapping = new Map()

export const isMapping = (given: Given | undefined): given is GivenMapping => given instanceof Map

export const isList = (given: Given | undefined): given is readonly Given[] => Array.isArray(given)

export const isFromEnvironment = (given: Given | undefined): given is FromEnvironment =>
  isTagged(given) && given.kind === 'environment'

const isTagged = (given: Given | undefined): given is FromEnvironment | Code =>
  typeof given === 'object' && given !== null && !isMapping(given) && !isList(given)

/** What lies at the end of a way through mappings. */
export function at(given: Given | undefined, ...way: readonly string[]): Given | undefined {
  return way.reduce<Given | undefined>((inner, key) => (isMapping(inner) ? inner.get(key) : undefined), given)
}

export function mappingAt(given: Given | undefined, ...way: readonly string[]): GivenMapping {
  const found = at(given, ...way)
  return isMapping(found) ? found : NOTHING
}

export function textAt(given: Given | undefined, ...way: readonly string[]): string | undefined {
  const found = at(given, ...way)
  return typeof found === 'string' ? found : undefined
}

export function textsAt(given: Given | undefined, ...way: readonly string[]): readonly string[] {
  const found = at(given, ...way)
  return isList(found) ? found.filter(each => typeof each === 'string') : []
}

/** The value as JSON; undefined where any part of it is not known. */
export function toJson(given: Given | undefined): Json | undefined {
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

/** What JSON.parse answers, with mappings that no key of theirs can harm. */
export function fromJson(value: Json): Given {
  if (Array.isArray(value)) return value.map(fromJson)
  if (typeof value !== 'object' || value === null) return value as null | boolean | number | string
  return new Map(Object.entries(value).map(([key, each]) => [key, fromJson(each)]))
}
