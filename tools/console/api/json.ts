export type JsonValue = string | number | boolean | null | readonly JsonValue[] | JsonRecord
export interface JsonRecord {
  readonly [key: string]: JsonValue
}

export const isJsonObject = (value: unknown): value is JsonRecord =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export const asList = (value: JsonValue | undefined): readonly JsonValue[] =>
  Array.isArray(value) ? (value as readonly JsonValue[]) : []

/** The objects of a value that is one or a list of them, such as links and files. */
export const objectsOf = (value: JsonValue | undefined): readonly JsonRecord[] =>
  (Array.isArray(value) ? asList(value) : [value]).filter(isJsonObject)

export const asText = (value: JsonValue | undefined): string => (typeof value === 'string' ? value : '')

export const equalJson = (one: unknown, other: unknown): boolean =>
  one === other || JSON.stringify(one ?? null) === JSON.stringify(other ?? null)

/** Prefix of the digits of a number that a double cannot represent. PostgreSQL text cannot contain this character. */
const EXACT_MARK = '\u0000'
const EXACT_IN_JSON = /"\\u0000(-?\d[\d.eE+-]*)"/g

/** JSON strings (matched, so that their digits stay unchanged) and numbers. */
const STRING_OR_NUMBER = /"(?:[^"\\]|\\[\s\S])*"?|-?\d[\d.eE+-]*/g

/**
 * Parses JSON without losing digits: a number that does not survive a round trip through a double becomes a string with
 * EXACT_MARK, which `printExact` prints as the original number.
 */
export function parseExact(text: string): JsonValue {
  const marked = text.replaceAll(STRING_OR_NUMBER, token =>
    token.startsWith('"') || String(Number(token)) === token || Number.isNaN(Number(token))
      ? token
      : `"\\u0000${token}"`,
  )
  return JSON.parse(marked) as JsonValue
}

export const printExact = (value: unknown, indent?: number): string =>
  JSON.stringify(value, undefined, indent).replaceAll(EXACT_IN_JSON, '$1')

/** A number or text for display: without EXACT_MARK. */
export const digitsOf = (value: JsonValue): string =>
  value === null ? '' : String(value).replace(EXACT_MARK, '')

/** A query string with nested brackets. null, undefined and empty lists are omitted. */
export function toQuery(params: Readonly<Record<string, unknown>>): string {
  const parts: string[] = []
  const add = (name: string, value: unknown): void => {
    if (value === undefined || value === null) return
    if (typeof value === 'object')
      for (const [key, each] of Object.entries(value)) add(`${name}[${key}]`, each)
    else parts.push(`${encodeURIComponent(name)}=${encodeURIComponent(String(value))}`)
  }
  for (const [name, value] of Object.entries(params)) add(name, value)
  return parts.length === 0 ? '' : `?${parts.join('&')}`
}
