import { BIG_INTEGER, INTEGER } from '../base/integers.ts'
import { hasFiniteNumbers, isDeeperThan } from '../base/plain-data.ts'
import { ok, type Result } from '../base/result.ts'
import { parseJsonText } from '../base/text.ts'
import type { ScalarAttribute, ValueType } from '../model/model.ts'
import {
  type InvalidValue,
  invalidValue,
  parseDateTime,
  parseDateValue,
  parseTimeValue,
} from './parse-moment.ts'
import type { Value } from './query.ts'

type Parsed = Result<Value, InvalidValue>

/** Parses a value of a request or a file (text, number, boolean) to the form that PostgreSQL accepts for the attribute's type. */
export const parseValue = ({ type }: ScalarAttribute, raw: unknown): Parsed => PARSERS[type](raw)

/** PostgreSQL cannot store NUL in text. */
export function parseTextValue(raw: unknown): Parsed {
  if (typeof raw === 'number' || typeof raw === 'boolean') return ok(String(raw))
  if (typeof raw !== 'string') return invalidValue('a text')
  return raw.includes('\0') ? invalidValue('a text without NUL characters') : ok(raw)
}

function toNumber(raw: unknown): number {
  if (typeof raw === 'number') return raw
  return typeof raw === 'string' && raw.trim() !== '' ? Number(raw) : Number.NaN
}

function parseInteger(raw: unknown): Parsed {
  const number = toNumber(raw)
  if (!Number.isInteger(number)) return invalidValue('an integer')
  return isWithin(INTEGER, number) ? ok(number) : outOfRange(INTEGER, number > 0)
}

type Range = typeof INTEGER | typeof BIG_INTEGER

const isWithin = ({ least, most }: Range, number: number | bigint): boolean =>
  number >= least && number <= most

const outOfRange = ({ least, most }: Range, above: boolean): Parsed =>
  invalidValue(above ? `an integer of at most ${most}` : `an integer of at least ${least}`)

function parseBigInteger(raw: unknown): Parsed {
  const text = typeof raw === 'number' || typeof raw === 'bigint' ? String(raw) : raw
  if (typeof text !== 'string' || !/^\s*[+-]?\d{1,40}\s*$/.test(text)) return invalidValue('an integer')
  const number = BigInt(text.trim().replace(/^\+/, ''))
  return isWithin(BIG_INTEGER, number) ? ok(String(number)) : outOfRange(BIG_INTEGER, number > 0n)
}

function parseNumber(raw: unknown): Parsed {
  const number = toNumber(raw)
  return Number.isFinite(number) ? ok(number) : invalidValue('a number')
}

const FALSE = [false, 0, 'false', 'f', '0']
const FALSE_WORDS: ReadonlySet<unknown> = new Set([...FALSE, null, undefined, ''])
const WORDS: ReadonlySet<unknown> = new Set([...FALSE, true, 1, 'true', 't', '1'])

/** reference/rest.md#7-filters: any other value is true, including these words in capitals. */
export const isTrue = (raw: unknown): boolean => !FALSE_WORDS.has(raw)

/** True for the words that mean true or false themselves. */
export const isBooleanWord = (raw: unknown): boolean => WORDS.has(raw)

const parseBoolean = (raw: unknown): Parsed =>
  typeof raw === 'object' ? invalidValue('true or false') : ok(isTrue(raw))

function parseJson(raw: unknown): Parsed {
  const value = typeof raw === 'string' ? parseJsonText(raw) : raw
  if (isDeeperThan(value, MAX_JSON_DEPTH)) return invalidValue(`JSON of at most ${MAX_JSON_DEPTH} levels`)
  const text = JSON.stringify(value)
  if (text === undefined) return invalidValue('JSON text')
  if (!hasFiniteNumbers(value)) return invalidValue(`JSON text without numbers beyond ±${Number.MAX_VALUE}`)
  return UNSTORABLE.test(text)
    ? invalidValue('JSON text without NUL characters and broken letters')
    : ok(text)
}

/** NUL and lone surrogates, which are the only characters that JSON.stringify escapes this way. */
const UNSTORABLE = /(?<!\\)(?:\\\\)*\\u(?:0000|d[89a-f])/i

/** The same limit as for stored values (documents/values/). */
const MAX_JSON_DEPTH = 1_000

const PARSERS: { readonly [Type in ValueType]: (raw: unknown) => Parsed } = {
  id: parseInteger,
  documentId: parseTextValue,
  locale: parseTextValue,
  string: parseTextValue,
  text: parseTextValue,
  richtext: parseTextValue,
  enumeration: parseTextValue,
  email: parseTextValue,
  password: parseTextValue,
  uid: parseTextValue,
  date: parseDateValue,
  time: parseTimeValue,
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
