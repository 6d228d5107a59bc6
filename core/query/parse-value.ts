import { isDeeperThan } from '../base/plain-data.ts'
import { ok, type Result } from '../base/result.ts'
import type { ScalarAttribute, ValueType } from '../model/model.ts'
import { type BadValue, badValue } from './bad-value.ts'
import { parseDate, parseDateTime, parseTime } from './parse-moment.ts'
import type { Value } from './query.ts'

type Parsed = Result<Value, BadValue>

/** A value as a request or a file has it (text, number, boolean) → as PostgreSQL takes it for the attribute's type. */
export const parseValue = ({ type }: ScalarAttribute, raw: unknown): Parsed => PARSERS[type](raw)

/** PostgreSQL keeps no NUL in text. */
export function parseText(raw: unknown): Parsed {
  if (typeof raw === 'number' || typeof raw === 'boolean') return ok(String(raw))
  if (typeof raw !== 'string') return badValue('a text')
  return raw.includes('\0') ? badValue('a text without NUL characters') : ok(raw)
}

function numberOf(raw: unknown): number {
  if (typeof raw === 'number') return raw
  return typeof raw === 'string' && raw.trim() !== '' ? Number(raw) : Number.NaN
}

const MAX_INTEGER = 2_147_483_647

function parseInteger(raw: unknown): Parsed {
  const number = numberOf(raw)
  if (!Number.isInteger(number)) return badValue('an integer')
  return Math.abs(number) > MAX_INTEGER ? badValue(`an integer of at most ${MAX_INTEGER}`) : ok(number)
}

const MAX_BIGINTEGER = 2n ** 63n - 1n

function parseBigInteger(raw: unknown): Parsed {
  const text = typeof raw === 'number' || typeof raw === 'bigint' ? String(raw) : raw
  if (typeof text !== 'string' || !/^\s*[+-]?\d{1,40}\s*$/.test(text)) return badValue('an integer')
  const number = BigInt(text.trim().replace(/^\+/, ''))
  if (number > MAX_BIGINTEGER || number < -MAX_BIGINTEGER)
    return badValue(`an integer of at most ${MAX_BIGINTEGER}`)
  return ok(String(number))
}

function parseNumber(raw: unknown): Parsed {
  const number = numberOf(raw)
  return Number.isFinite(number) ? ok(number) : badValue('a number')
}

const FALSE_WORDS: ReadonlySet<unknown> = new Set([false, 0, null, undefined, 'false', 'f', '0', ''])

/** Contract 7: any other word is true, as these are in capitals. */
export const isTrue = (raw: unknown): boolean => !FALSE_WORDS.has(raw)

const parseBoolean = (raw: unknown): Parsed =>
  typeof raw === 'object' ? badValue('true or false') : ok(isTrue(raw))

function parseJson(raw: unknown): Parsed {
  const value = typeof raw === 'string' ? jsonOf(raw) : raw
  if (isDeeperThan(value, DEEPEST)) return badValue(`JSON of at most ${DEEPEST} levels`)
  const text = JSON.stringify(value)
  if (text === undefined) return badValue('JSON text')
  return UNSTORABLE.test(text) ? badValue('JSON text without NUL characters and broken letters') : ok(text)
}

/** NUL, and halves of surrogate pairs: JSON.stringify escapes no other letters this way. */
const UNSTORABLE = /(?<!\\)(?:\\\\)*\\u(?:0000|d[89a-f])/i

/** As of a stored value (documents/parse-json.ts). */
const DEEPEST = 1_000

/** undefined: the text is no JSON. */
function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (reason) {
    if (reason instanceof SyntaxError) return undefined
    throw reason
  }
}

const PARSERS: { readonly [Type in ValueType]: (raw: unknown) => Parsed } = {
  id: parseInteger,
  documentId: parseText,
  locale: parseText,
  string: parseText,
  text: parseText,
  richtext: parseText,
  enumeration: parseText,
  email: parseText,
  password: parseText,
  uid: parseText,
  date: parseDate,
  time: parseTime,
  datetime: parseDateTime,
  timestamp: parseDateTime,
  integer: parseInteger,
  biginteger: parseBigInteger,
  float: parseNumber,
  decimal: parseNumber,
  boolean: parseBoolean,
  json: parseJson,
  blocks: parseJson,
  array: parseJson,
}
