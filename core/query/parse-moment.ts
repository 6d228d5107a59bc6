import { type Failed, failed, ok, type Result } from '../base/result.ts'

type Parsed = Result<string, InvalidValue>

const TIME = /^([01]\d|2[0-3]):([0-5]\d):([0-5]\d)(\.\d{1,3})?$/

/** reference/rest.md#3-attribute-values: `YYYY-MM-DD`. The rest of the text, such as a time, is ignored. */
export function parseDateValue(raw: unknown): Parsed {
  const day = typeof raw === 'string' ? DAY.exec(raw)?.[0] : undefined
  if (day === undefined) return invalidValue('a date (YYYY-MM-DD)', 'Invalid format, expected yyyy-MM-dd')
  const isDay = Number(day.slice(0, 4)) > 0 && !Number.isNaN(parseIso(day))
  return isDay ? ok(day) : invalidValue('a date (YYYY-MM-DD)', 'Invalid date')
}

const DAY = /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])/

/** reference/rest.md#3-attribute-values: `HH:mm:ss` with up to three decimals. */
export function parseTimeValue(raw: unknown): Parsed {
  const expected = 'a time (HH:mm:ss.SSS)'
  if (typeof raw !== 'string') return invalidValue(expected, `Expected a string, got a ${typeof raw}`)
  return TIME.test(raw) ? ok(raw) : invalidValue(expected, 'Invalid time format, expected HH:mm:ss.SSS')
}

/** reference/rest.md#3-attribute-values: ISO 8601 with or without an offset (none: UTC), a date, or milliseconds since 1970. Returns ISO in UTC. */
export function parseDateTime(raw: unknown): Parsed {
  if (isCanonical(raw)) return ok(raw)
  const moment = toEpochMilliseconds(raw)
  if (Number.isNaN(moment) || moment < MIN_MOMENT || moment > MAX_MOMENT)
    return invalidValue('a timestamp or an ISO date', 'Invalid format, expected a timestamp or an ISO date')
  return ok(new Date(moment).toISOString())
}

/** Answers have this form, and so has nearly everything that programs send back. */
function isCanonical(raw: unknown): raw is string {
  if (typeof raw !== 'string' || !CANONICAL.test(raw)) return false
  const moment = Date.parse(raw)
  // February 30th is March 2nd to Date.
  return moment >= MIN_MOMENT && new Date(moment).toISOString() === raw
}

const CANONICAL = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/

/** Years 0001 to 9999: PostgreSQL and the four-digit years of ISO agree on these. */
const MIN_MOMENT = Date.parse('0001-01-01T00:00:00Z')
const MAX_MOMENT = Date.parse('9999-12-31T23:59:59.999Z')

/** ISO 8601 takes precedence: `2024` is a year; `1700000000000` is not a valid date, so it is milliseconds. */
function toEpochMilliseconds(raw: unknown): number {
  if (typeof raw !== 'string' && typeof raw !== 'number') return Number.NaN
  const text = String(raw)
  const moment = parseIso(text)
  if (!Number.isNaN(moment)) return moment
  return /^-?\d{1,16}$/.test(text) ? Number(text) : Number.NaN
}

/** Why a value does not fit its attribute's type. */
export interface InvalidValue {
  /** The expected value: `an integer`. */
  readonly expected: string
  /** The complete message if the contract prescribes one (reference/rest.md#3-attribute-values). */
  readonly message: string | null
}

export const invalidValue = (expected: string, message: string | null = null): Failed<InvalidValue> =>
  failed({ expected, message })

const HOUR = 3_600_000
const MINUTE = 60_000
const DAY_MS = 24 * HOUR

/**
 * Parses an ISO 8601 timestamp to milliseconds since 1970; NaN if it is invalid. As in Strapi, also years, months, weeks
 * (`2024-W10-3`), days of a year (`2024-100`), the basic format (`20240601T101010Z`) and fractions of the last unit.
 * No offset means UTC.
 */
function parseIso(text: string): number {
  const [, day = '', clock] = PARTS.exec(text) ?? []
  const midnight = parseDay(day)
  return clock === undefined ? midnight : midnight + parseClock(clock)
}

const PARTS = /^([^T ]*)(?:[T ]([^T ]+))?$/

function parseDay(text: string): number {
  const [, year = '', century, rest = ''] = YEAR.exec(text) ?? []
  if (year === '' && century === undefined) return Number.NaN
  const first = startOfYear(century === undefined ? Number(year) : Number(century) * 100)
  const [found, dayOfYear, month, day = '01', week, weekday = '1'] = IN_YEAR.exec(rest) ?? []
  if (found === undefined) return Number.NaN
  if (dayOfYear !== undefined) return dayOfYearToTime(first, Number(dayOfYear))
  if (week !== undefined) return weekdayToTime(first, Number(week), Number(weekday))
  return dateToTime(first, Number(month ?? '01'), Number(day))
}

const YEAR = /^(?:(\d{4}|[+-]\d{6})|(\d{2}|[+-]\d{4})$)(.*)$/
const IN_YEAR = /^-?(?:(\d{3})|(\d{2})(?:-?(\d{2}))?|W(\d{2})(?:-?(\d))?|)-?$/

/** Not Date.UTC, which maps the years 0 to 99 to 1900 to 1999. */
const startOfYear = (year: number): number => new Date(0).setUTCFullYear(year, 0, 1)

const yearOf = (moment: number): number => new Date(moment).getUTCFullYear()

function dayOfYearToTime(first: number, day: number): number {
  const moment = first + (day - 1) * DAY_MS
  return yearOf(moment) === yearOf(first) ? moment : Number.NaN
}

/** Week 1 is the week of January 4th. */
function weekdayToTime(first: number, week: number, weekday: number): number {
  if (week < 1 || week > 53 || weekday < 1 || weekday > 7) return Number.NaN
  const fourth = first + 3 * DAY_MS
  const monday = fourth - ((new Date(fourth).getUTCDay() || 7) - 1) * DAY_MS
  return monday + ((week - 1) * 7 + weekday - 1) * DAY_MS
}

/** NaN for days that the month does not have. */
function dateToTime(first: number, month: number, day: number): number {
  const moment = new Date(first).setUTCMonth(month - 1, day)
  const found = new Date(moment)
  return found.getUTCMonth() === month - 1 && found.getUTCDate() === day ? moment : Number.NaN
}

function parseClock(text: string): number {
  const [found, hours = '', minutes = '0', seconds = '0', zone = ''] = CLOCK.exec(text) ?? []
  if (found === undefined) return Number.NaN
  const parts = [hours, minutes, seconds].map(part => Number(part.replace(',', '.')))
  const [h = 0, m = 0, s = 0] = parts
  const fits = h === 24 ? m === 0 && s === 0 : h < 25 && m < 60 && s < 60
  return fits ? h * HOUR + m * MINUTE + toMilliseconds(s) - offsetOf(zone) : Number.NaN
}

/** Truncates to milliseconds. Rounds first, because 32.245 × 1000 is slightly less than 32245. */
const toMilliseconds = (seconds: number): number => Math.trunc(Math.round(seconds * 1e9) / 1e6)

const CLOCK = /^(\d{2}(?:[.,]\d*)?)(?::?(\d{2}(?:[.,]\d*)?))?(?::?(\d{2}(?:[.,]\d*)?))?(Z|[+-].*)?$/

function offsetOf(zone: string): number {
  if (zone === '' || zone === 'Z') return 0
  const [found, sign, hours, minutes = '0'] = ZONE.exec(zone) ?? []
  if (found === undefined || Number(minutes) > 59) return Number.NaN
  return (sign === '-' ? -1 : 1) * (Number(hours) * HOUR + Number(minutes) * MINUTE)
}

const ZONE = /^([+-])(\d{2})(?::?(\d{2}))?$/
