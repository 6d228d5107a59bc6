import { type Failed, failed, ok, type Result } from '../base/result.ts'
import { parseIso } from './parse-iso.ts'

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
  const moment = toEpochMilliseconds(raw)
  if (Number.isNaN(moment) || moment < MIN_MOMENT || moment > MAX_MOMENT)
    return invalidValue('a timestamp or an ISO date', 'Invalid format, expected a timestamp or an ISO date')
  return ok(new Date(moment).toISOString())
}

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
