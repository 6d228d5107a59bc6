import type { ScalarAttribute } from '../../model/model.ts'
import { notANumber, type ParseOutcome, type Refusal, rule } from './value-fault.ts'

/** What PostgreSQL can hold, which the reference answers with 500 (reference/rest.md#17-differences-from-strapi). */
const INTEGER = { least: -2_147_483_648n, most: 2_147_483_647n }
const BIG_INTEGER = { least: -9_223_372_036_854_775_808n, most: 9_223_372_036_854_775_807n }
/** numeric(10,2) */
const LARGEST_DECIMAL = 99_999_999.99

/** A number, numeric text, or a list that begins with one. */
export function parseInteger(value: unknown): ParseOutcome {
  const number = numberOf(value)
  if (typeof number !== 'number') return { refusal: number }
  if (!Number.isInteger(number)) return { refusal: rule('must be an integer'), compared: number }
  const outside = outOf(INTEGER, BigInt(number))
  return outside ? { refusal: outside } : { stored: number }
}

/** Stored and answered as text; numbers lost their last digits before they came here. */
export function parseBigInteger(value: unknown): ParseOutcome {
  const text = typeof value === 'number' ? toDigits(value) : value
  if (typeof text !== 'string' || !/^[+-]?\d{1,30}$/.test(text.trim()))
    return { refusal: rule('must be a valid integer') }
  const integer = BigInt(text.trim().replace('+', ''))
  const outside = outOf(BIG_INTEGER, integer)
  return outside ? { refusal: outside } : { stored: String(integer) }
}

const toDigits = (value: number): string => (Number.isInteger(value) ? String(BigInt(value)) : String(value))

export function parseDouble(value: unknown): ParseOutcome {
  const number = numberOf(value)
  return typeof number === 'number' ? { stored: number } : { refusal: number }
}

/** Two decimals are kept, halves go away from zero. */
export function parseDecimal(value: unknown): ParseOutcome {
  const number = numberOf(value)
  if (typeof number !== 'number') return { refusal: number }
  const text = toTwoPlaces(number)
  if (Math.abs(Number(text)) > LARGEST_DECIMAL)
    return { refusal: rule(`must be between -${LARGEST_DECIMAL} and ${LARGEST_DECIMAL}`) }
  return { stored: text }
}

/** On the digits that were written: 1.005 is a little less than that in binary, and rounds up all the same. */
function toTwoPlaces(number: number): string {
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
  const number = Number.parseFloat(String(value))
  return Number.isFinite(number) ? number : notANumber(value)
}

const outOf = ({ least, most }: typeof INTEGER, integer: bigint): Refusal | undefined =>
  integer < least || integer > most ? rule(`must be between ${least} and ${most}`) : undefined

/** The limits that the attribute declares, on a stored number. */
export function* numberLimits(
  { min, max }: ScalarAttribute,
  stored: number | string,
  strict: boolean,
): Generator<Refusal> {
  if (strict && min !== undefined && compare(stored, min) < 0)
    yield rule(`must be greater than or equal to ${min}`)
  if (max !== undefined && compare(stored, max) > 0) yield rule(`must be less than or equal to ${max}`)
}

function compare(stored: number | string, limit: number | string): number {
  const integers = [stored, limit].every(each => /^-?\d+$/.test(String(each)))
  if (!integers) return Number(stored) - Number(limit)
  const difference = BigInt(stored) - BigInt(limit)
  return difference < 0n ? -1 : difference > 0n ? 1 : 0
}
