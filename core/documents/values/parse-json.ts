import { isDeeperThan } from '../../base/plain-data.ts'
import { type ParseOutcome, rule, wrongType } from './value-fault.ts'

/** reference/rest.md#3-attribute-values: any value; a text is taken as JSON text. */
export function parseJson(value: unknown): ParseOutcome {
  if (typeof value !== 'string') return storedJson(value)
  try {
    return storedJson(JSON.parse(value))
  } catch (error) {
    if (error instanceof SyntaxError) return { refusal: rule('must be JSON: a text is read as JSON text') }
    throw error
  }
}

/** A JSON list. */
export const parseArray = (value: unknown): ParseOutcome =>
  Array.isArray(value) ? storedJson(value) : { refusal: wrongType('array', value) }

/** A list of block nodes; anything else is stored as null, as observed. */
export const storedBlocks = (value: unknown): ParseOutcome =>
  Array.isArray(value) ? storedJson(value) : { stored: null }

/** Deeper than any document, and far from what the call stack takes. */
const DEEPEST = 1_000

/** JSON null is SQL's: nothing is stored. */
function storedJson(value: unknown): ParseOutcome {
  if (value === null) return { stored: null }
  if (isDeeperThan(value, DEEPEST)) return { refusal: rule(`must be at most ${DEEPEST} levels deep`) }
  return isStorable(value)
    ? { stored: JSON.stringify(value) }
    : { refusal: rule('must not hold the character NUL or half of a surrogate pair') }
}

/** PostgreSQL's text and jsonb have no NUL and no lone surrogates. */
export function isStorable(value: unknown): boolean {
  if (typeof value === 'string') return !value.includes('\0') && !LONE_SURROGATE.test(value)
  if (Array.isArray(value)) return value.every(isStorable)
  if (typeof value !== 'object' || value === null) return true
  return Object.entries(value).every(([key, each]) => isStorable(key) && isStorable(each))
}

const LONE_SURROGATE = /\p{Surrogate}/u
