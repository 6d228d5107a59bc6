import { BIG_INTEGER, INTEGER } from '../../base/integers.ts'
import { fitsPassword } from '../../base/passwords.ts'
import { hasFiniteNumbers, isDeeperThan } from '../../base/plain-data.ts'
import type { Result } from '../../base/result.ts'
import { parseJsonText, printJsonValue, trimDecimal } from '../../base/text.ts'
import type { Path } from '../../faults/diagnostic.ts'
import type { ScalarAttribute, ValueType } from '../../model/model.ts'
import type { InvalidValue } from '../../query/parse-moment.ts'
import * as query from '../../query/parse-moment.ts'
import type { Stored } from '../desired-state.ts'
import { parseBlocks } from './parse-blocks.ts'
import {
  format,
  notANumber,
  type ParseOutcome,
  type Refusal,
  rule,
  secretOfWrongType,
  toFault,
  toSecretFault,
  type ValueFault,
  wrongType,
} from './value-fault.ts'

/** reference/rest.md#3-attribute-values: any value; a text is taken as JSON text. */
function parseJson(value: unknown): ParseOutcome {
  if (typeof value !== 'string') return storedJson(value)
  const parsed = parseJsonText(value)
  return parsed === undefined
    ? { refusal: rule('must be JSON: a text is read as JSON text') }
    : storedJson(parsed)
}

/** A JSON list. */
const parseArray = (value: unknown): ParseOutcome =>
  Array.isArray(value) ? storedJson(value) : { refusal: wrongType('array', value) }

/** A list of block nodes; anything else is stored as null, as observed. */
const storedBlocks = (value: unknown): ParseOutcome =>
  Array.isArray(value) ? storedJson(value) : { stored: null }

/** Deeper than any document, and far from what the call stack takes. */
const DEEPEST = 1_000

/** JSON null is SQL's: nothing is stored. */
function storedJson(value: unknown): ParseOutcome {
  if (value === null) return { stored: null }
  if (isDeeperThan(value, DEEPEST)) return { refusal: rule(`must be at most ${DEEPEST} levels deep`) }
  if (!isStorable(value))
    return { refusal: rule('must not hold the character NUL or half of a surrogate pair') }
  return hasFiniteNumbers(value)
    ? { stored: JSON.stringify(value) }
    : { refusal: rule(`must not hold a number beyond ±${Number.MAX_VALUE}`) }
}

/** PostgreSQL's text and jsonb have no NUL and no lone surrogates. */
function isStorable(value: unknown): boolean {
  if (typeof value === 'string') return !value.includes('\0') && !LONE_SURROGATE.test(value)
  if (Array.isArray(value)) return value.every(isStorable)
  if (typeof value !== 'object' || value === null) return true
  return Object.entries(value).every(([key, each]) => isStorable(key) && isStorable(each))
}

const LONE_SURROGATE = /\p{Surrogate}/u

/** varchar(255) */
const COLUMN_LENGTH = 255
const UNBOUNDED: ReadonlySet<string> = new Set(['text', 'richtext'])

/** A text as given: no trimming, no conversion of numbers. */
function parseText(value: unknown): ParseOutcome {
  if (typeof value !== 'string') return { refusal: wrongType('string', value) }
  if (!isStorable(value))
    return { refusal: rule('must not hold the character NUL or half of a surrogate pair') }
  return { stored: value }
}

/** Checks the rules of the attribute and of its column for a text. `strict` is false for drafts (reference/rest.md#3-attribute-values). */
function textRules(attribute: ScalarAttribute, text: string, strict: boolean): readonly Refusal[] {
  const refusals: Refusal[] = []
  addLengths(attribute, text, strict, refusals)
  if (attribute.type === 'password' && !fitsPassword(text)) refusals.push(rule('must be at most 72 bytes'))
  if (attribute.values && !attribute.values.includes(text)) refusals.push(rule(oneOf(attribute.values)))
  if (!strict) return refusals
  if (attribute.regex && !(text === '' && !attribute.required) && !attribute.regex.test(text))
    refusals.push(rule(`must match the following: "${attribute.regex}"`))
  if (attribute.type === 'uid' && !UID.test(text)) refusals.push(rule(`must match the following: "${UID}"`))
  if (attribute.type === 'email') refusals.push(...email(text))
  return refusals
}

function addLengths(attribute: ScalarAttribute, text: string, strict: boolean, refusals: Refusal[]): void {
  const { minLength, maxLength } = attribute
  const most = Math.min(maxLength ?? Number.POSITIVE_INFINITY, columnLength(attribute))
  if (strict && minLength !== undefined && text.length < minLength)
    refusals.push(rule(`must be at least ${minLength} characters`))
  if (text.length > most) refusals.push(rule(`must be at most ${most} characters`))
}

/** A password's column holds its hash. */
const columnLength = ({ type }: ScalarAttribute): number =>
  UNBOUNDED.has(type) || type === 'password' ? Number.POSITIVE_INFINITY : COLUMN_LENGTH

/** The reference ends the list with an empty item. */
const oneOf = (values: readonly string[]): string =>
  `must be one of the following values: ${[...values, ''].join(', ')}`

const UID = /^[A-Za-z0-9-_.~]*$/

/** Characters beyond ASCII that an address may contain: nearly all. */
const BEYOND = '\\u00A0-\\uD7FF\\uF900-\\uFDCF\\uFDF0-\\uFFEF'
const NAME = `[\\w!#$%&'*+\\-/=?^\`{|}~${BEYOND}]+`
const QUOTED = `"(?:[^"\\\\\\r\\n]|\\\\.)*"`

/** RFC 5322 without comments, with the letters of all languages. Each is linear in the length of the text. */
const BEFORE_AT = new RegExp(`^(?:${NAME}(?:\\.${NAME})*|${QUOTED})@`, 'i')
const DOMAIN = new RegExp(`^[a-z0-9${BEYOND}][\\w\\-.~${BEYOND}]*[a-z${BEYOND}]$`, 'i')
const DOT = new RegExp(`[a-z0-9${BEYOND}]\\.[a-z${BEYOND}]`, 'i')

function isEmail(text: string): boolean {
  const [before] = BEFORE_AT.exec(text) ?? []
  if (before === undefined) return false
  const domain = text.slice(before.length)
  return DOMAIN.test(domain) && DOT.test(domain)
}

function email(text: string): readonly Refusal[] {
  if (text === '') return [rule('cannot be empty')]
  return isEmail(text) ? [] : [rule('must be a valid email')]
}

/** Dates and times are read in bodies as they are in filters (reference/rest.md#3-attribute-values). */
const reading =
  (parse: (value: unknown) => Result<string, InvalidValue>) =>
  (value: unknown): ParseOutcome => {
    const parsed = parse(value)
    return parsed.ok
      ? { stored: parsed.value }
      : {
          refusal: format(
            parsed.reasons.map(({ message, expected }) => message ?? `must be ${expected}`).join(', '),
          ),
        }
  }

const parseDate = reading(query.parseDateValue)

export const parseDatetime = reading(query.parseDateTime)

const parseClock = reading(query.parseTimeValue)

/** Trailing zeros go, as they do in answers. */
function parseTime(value: unknown): ParseOutcome {
  const parsed = parseClock(value)
  if (!('stored' in parsed) || typeof parsed.stored !== 'string') return parsed
  return { stored: trimDecimal(parsed.stored) }
}

/** numeric(10,2) */
const LARGEST_DECIMAL = 99_999_999.99

/** A number, numeric text, or a list that begins with one. */
function parseInteger(value: unknown): ParseOutcome {
  const number = numberOf(value)
  if (typeof number !== 'number') return { refusal: number }
  if (!Number.isInteger(number)) return { refusal: rule('must be an integer'), number }
  const outside = outOf(INTEGER, number)
  return outside ? { refusal: outside } : { stored: number }
}

/** Stored and answered as text; numbers lost their last digits before they came here. */
function parseBigInteger(value: unknown): ParseOutcome {
  const text = typeof value === 'number' ? toDigits(value) : value
  if (typeof text !== 'string' || !/^[+-]?\d{1,30}$/.test(text.trim()))
    return { refusal: rule('must be a valid integer') }
  const integer = BigInt(text.trim().replace('+', ''))
  const outside = outOf(BIG_INTEGER, integer)
  return outside ? { refusal: outside } : { stored: String(integer) }
}

const toDigits = (value: number): string => (Number.isInteger(value) ? String(BigInt(value)) : String(value))

function parseDouble(value: unknown): ParseOutcome {
  const number = numberOf(value)
  return typeof number === 'number' ? { stored: number } : { refusal: number }
}

/** Two decimals are kept, halves go away from zero. */
function parseDecimal(value: unknown): ParseOutcome {
  const number = numberOf(value)
  if (typeof number !== 'number') return { refusal: number }
  const text = toTwoPlaces(number)
  if (Math.abs(Number(text)) > LARGEST_DECIMAL)
    return { refusal: rule(`must be between -${LARGEST_DECIMAL} and ${LARGEST_DECIMAL}`) }
  return { stored: text, number }
}

/** On the digits that were written: 1.005 is a little less than that in binary, and rounds up all the same. */
function toTwoPlaces(number: number): string {
  const near = number.toFixed(2)
  // Of no more than two decimals.
  if (Number(near) === number && number !== 0) return near
  const text = String(Math.abs(number))
  if (!/^\d+(\.\d+)?$/.test(text)) return number.toFixed(2)
  const [whole = '0', part = ''] = text.split('.')
  const hundredths = BigInt(whole + part.slice(0, 2).padEnd(2, '0')) + (Number(part[2] ?? 0) >= 5 ? 1n : 0n)
  const digits = String(hundredths).padStart(3, '0')
  const sign = number < 0 && hundredths !== 0n ? '-' : ''
  return `${sign}${digits.slice(0, -2)}.${digits.slice(-2)}`
}

function numberOf(value: unknown): number | Refusal {
  if (typeof value === 'number') return Number.isFinite(value) ? value : notANumber(value)
  if (Array.isArray(value)) return listed(value)
  if (typeof value !== 'string') return notANumber(value)
  const text = value.replace(/\s/g, '')
  const number = Number(text)
  return text === '' || !Number.isFinite(number) ? notANumber(value) : number
}

/** The reference reads a list as its text, as far as that is a number. */
function listed(value: readonly unknown[]): number | Refusal {
  const number = Number.parseFloat(printJsonValue(value))
  return Number.isFinite(number) ? number : notANumber(value)
}

/** The reference answers such values with 500 (reference/rest.md#17-differences-from-strapi). */
const outOf = (
  { least, most }: typeof INTEGER | typeof BIG_INTEGER,
  integer: number | bigint,
): Refusal | undefined =>
  integer < least || integer > most ? rule(`must be between ${least} and ${most}`) : undefined

/** The limits that the attribute declares. */
function numberLimits(
  { min, max }: ScalarAttribute,
  number: number | string,
  strict: boolean,
): readonly Refusal[] {
  const isBelow = strict && min !== undefined && compare(number, min) < 0
  const isAbove = max !== undefined && compare(number, max) > 0
  if (!isBelow && !isAbove) return NONE
  return [
    ...(isBelow ? [rule(`must be greater than or equal to ${min}`)] : []),
    ...(isAbove ? [rule(`must be less than or equal to ${max}`)] : []),
  ]
}

function compare(stored: number | string, limit: number | string): number {
  const integers = [stored, limit].every(each => /^-?\d+$/.test(String(each)))
  if (!integers) return Number(stored) - Number(limit)
  const difference = BigInt(stored) - BigInt(limit)
  return difference < 0n ? -1 : difference > 0n ? 1 : 0
}

/** `draft` leaves out what a document must fulfil only once it is published (reference/rest.md#3-attribute-values). */
export type Strictness = 'draft' | 'full'

export type ParsedScalar =
  | { readonly stored: Stored; readonly faults: readonly [] }
  | { readonly stored: undefined; readonly faults: readonly ValueFault[] }

/** A value as a body or a file gives it (null included) becomes its stored form, or everything that is wrong with it. */
export function parseScalar(
  attribute: ScalarAttribute,
  value: unknown,
  { path, strictness }: { readonly path: Path; readonly strictness: Strictness },
): ParsedScalar {
  const strict = strictness === 'full'
  if (value === null) return strict && attribute.required ? failed([missing(attribute, path)]) : passed(null)
  if (attribute.type === 'blocks' && Array.isArray(value)) {
    const { blocks, faults } = parseBlocks(value, path)
    return faults.length > 0 ? failed(faults) : parsed(attribute, blocks, { path, strict })
  }
  return parsed(attribute, value, { path, strict })
}

interface Options {
  readonly path: Path
  readonly strict: boolean
}

function parsed(attribute: ScalarAttribute, value: unknown, { path, strict }: Options): ParsedScalar {
  const parsed = PARSERS[attribute.type](value)
  const refusals = refusalsOf(attribute, parsed, strict)
  if (refusals.length > 0)
    return failed(
      refusals.map(refusal =>
        attribute.type === 'password' ? toSecretFault(refusal, path) : toFault(refusal, path, value),
      ),
    )
  return passed('stored' in parsed ? caseOf(attribute, parsed.stored) : null)
}

function refusalsOf(attribute: ScalarAttribute, parsed: ParseOutcome, strict: boolean): readonly Refusal[] {
  if ('stored' in parsed) return rulesOf(attribute, parsed.number ?? parsed.stored, strict)
  if (parsed.number === undefined) return [parsed.refusal]
  return [parsed.refusal, ...numberLimits(attribute, parsed.number, strict)]
}

const caseOf = ({ lowerCase }: ScalarAttribute, stored: Stored): Stored =>
  lowerCase && typeof stored === 'string' ? stored.toLowerCase() : stored

const NONE = [] as const

const passed = (stored: Stored): ParsedScalar => ({ stored, faults: NONE })
const failed = (faults: readonly ValueFault[]): ParsedScalar => ({ stored: undefined, faults })

/** A required attribute that is null, or is not there in a version that is published. */
export const missing = (attribute: ScalarAttribute, path: Path): ValueFault => {
  const type = TYPE_WORDS[attribute.type]
  return toFault(type === undefined ? rule('must be defined.') : wrongType(type, null), path, null)
}

function rulesOf(attribute: ScalarAttribute, stored: Stored, strict: boolean): readonly Refusal[] {
  const kind = TYPE_WORDS[attribute.type]
  if (kind === 'string' && typeof stored === 'string') return textRules(attribute, stored, strict)
  if (kind === 'number' && (typeof stored === 'string' || typeof stored === 'number'))
    return numberLimits(attribute, stored, strict)
  return NONE
}

/** true, false, 1, 0, these as text in any case, and a list of one of them. */
function parseBoolean(value: unknown): ParseOutcome {
  const word = printJsonValue(value).toLowerCase()
  if (word === 'true' || word === '1') return { stored: true }
  if (word === 'false' || word === '0') return { stored: false }
  return { refusal: wrongType('boolean', value) }
}

const PARSERS: { readonly [Type in ValueType]: (value: unknown) => ParseOutcome } = {
  id: parseInteger,
  documentId: parseText,
  locale: parseText,
  string: parseText,
  text: parseText,
  richtext: parseText,
  enumeration: parseText,
  email: parseText,
  password: value => (typeof value === 'string' ? parseText(value) : { refusal: secretOfWrongType }),
  uid: parseText,
  date: parseDate,
  time: parseTime,
  datetime: parseDatetime,
  timestamp: parseDatetime,
  integer: parseInteger,
  biginteger: parseBigInteger,
  float: parseDouble,
  decimal: parseDecimal,
  boolean: parseBoolean,
  json: parseJson,
  array: parseArray,
  blocks: storedBlocks,
}

/** The words that the contract has for types in refusals. */
const TYPE_WORDS: { readonly [Type in ValueType]?: 'string' | 'number' | 'boolean' | 'array' } = {
  string: 'string',
  text: 'string',
  richtext: 'string',
  enumeration: 'string',
  email: 'string',
  password: 'string',
  uid: 'string',
  integer: 'number',
  biginteger: 'number',
  float: 'number',
  decimal: 'number',
  boolean: 'boolean',
  array: 'array',
}
