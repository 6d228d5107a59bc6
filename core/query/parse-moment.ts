import { ok, type Result } from '../base/result.ts'
import { type BadValue, badValue } from './bad-value.ts'

type Parsed = Result<string, BadValue>

const DAY = /^(\d{4})-(\d{2})-(\d{2})$/
const ISO =
  /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?(Z|[+-]\d{2}(?::?\d{2})?)?)?$/i
const TIME = /^([01]\d|2[0-3]):([0-5]\d):([0-5]\d)(\.\d{1,3})?$/

/** Contract 3: `YYYY-MM-DD`, or the date part of an ISO datetime. */
export function parseDate(raw: unknown): Parsed {
  const day = typeof raw === 'string' ? ISO.exec(raw)?.[1] : undefined
  if (day === undefined) return badValue('a date (YYYY-MM-DD)', 'Invalid format, expected yyyy-MM-dd')
  return isDay(day) ? ok(day) : badValue('a date (YYYY-MM-DD)', 'Invalid date')
}

/** Contract 3: `HH:mm:ss` with up to three decimals. */
export function parseTime(raw: unknown): Parsed {
  const expected = 'a time (HH:mm:ss.SSS)'
  if (typeof raw !== 'string') return badValue(expected, `Expected a string, got a ${typeof raw}`)
  return TIME.test(raw) ? ok(raw) : badValue(expected, 'Invalid time format, expected HH:mm:ss.SSS')
}

/** Contract 3: ISO with or without an offset (none: UTC), a date, or milliseconds since 1970. As ISO in UTC. */
export function parseDateTime(raw: unknown): Parsed {
  const moment = momentOf(raw)
  if (Number.isNaN(moment) || moment < FIRST || moment > LAST)
    return badValue('a timestamp or an ISO date', 'Invalid format, expected a timestamp or an ISO date')
  return ok(new Date(moment).toISOString())
}

/** Years 0001 to 9999: within what PostgreSQL and the four digits of ISO can say alike. */
const FIRST = Date.parse('0001-01-01T00:00:00Z')
const LAST = Date.parse('9999-12-31T23:59:59.999Z')

function momentOf(raw: unknown): number {
  if (typeof raw === 'number') return raw
  if (typeof raw !== 'string') return Number.NaN
  if (/^-?\d{5,16}$/.test(raw)) return Number(raw)
  const parts = ISO.exec(raw)
  const day = parts?.[1]
  if (!parts || day === undefined || !isDay(day)) return Number.NaN
  const [, , hours = '00', minutes = '00', seconds = '00', fraction = '0', zone = 'Z'] = parts
  return Date.parse(`${day}T${hours}:${minutes}:${seconds}.${milliseconds(fraction)}${zoneOf(zone)}`)
}

const milliseconds = (fraction: string): string => fraction.slice(0, 3).padEnd(3, '0')

/** `+02` and `+0200` as `+02:00`. */
function zoneOf(zone: string): string {
  if (zone.length === 1) return 'Z'
  return `${zone.slice(0, 3)}:${zone.slice(3).replace(':', '') || '00'}`
}

/** The day is in the calendar: no 30th of February. */
function isDay(text: string): boolean {
  const [, year, month, day] = DAY.exec(text) ?? []
  const date = new Date(Date.UTC(2000, 0, 1))
  date.setUTCFullYear(Number(year), Number(month) - 1, Number(day))
  return Number(year) > 0 && date.getUTCMonth() === Number(month) - 1 && date.getUTCDate() === Number(day)
}
