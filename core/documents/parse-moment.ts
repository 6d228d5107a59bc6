import { format, type Refusal } from './value-fault.ts'
import type { Stored } from './written.ts'

/** The stored form, or why there is none. */
export type Parsed = { readonly stored: Stored } | { readonly refusal: Refusal }

const DATE = /^(\d{4})-(\d{2})-(\d{2})$/
const TIME = /^([01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{1,3})?$/
const DATETIME = /^\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d+)?)?(Z|[+-]\d{2}(?::?\d{2})?)?)?$/i
const MILLISECONDS = /^-?\d{1,15}$/

/** contract/rest.md 3: `YYYY-MM-DD`, or the date part of an ISO datetime. */
export function parseDate(value: unknown): Parsed {
  if (typeof value !== 'string') return refuse('Invalid format, expected yyyy-MM-dd')
  const [date = ''] = value.split(/[T ]/i)
  if (!DATE.test(date) || (date !== value && !DATETIME.test(value)))
    return refuse('Invalid format, expected yyyy-MM-dd')
  return isDay(date) ? { stored: date } : refuse('Invalid date')
}

/** `HH:mm:ss` with up to three decimals; trailing zeros go, as they do in answers. */
export function parseTime(value: unknown): Parsed {
  if (typeof value !== 'string') return refuse(`Expected a string, got a ${typeof value}`)
  if (!TIME.test(value)) return refuse('Invalid time format, expected HH:mm:ss.SSS')
  return { stored: value.includes('.') ? value.replace(/\.?0*$/, '') : value }
}

/** ISO with or without an offset (none is UTC), a date, or milliseconds as a number or a text. */
export function parseDatetime(value: unknown): Parsed {
  const moment = momentOf(value)
  const year = moment?.getUTCFullYear()
  return moment === undefined || year === undefined || !(year >= 1 && year <= 9999)
    ? refuse('Invalid format, expected a timestamp or an ISO date')
    : { stored: moment.toISOString() }
}

function momentOf(value: unknown): Date | undefined {
  if (typeof value === 'number') return new Date(value)
  if (typeof value !== 'string') return undefined
  if (MILLISECONDS.test(value)) return new Date(Number(value))
  const found = DATETIME.exec(value)
  if (!found || !isDay(value.slice(0, 10))) return undefined
  return new Date(`${toIso(value)}${found[1] === undefined && value.length > 10 ? 'Z' : ''}`)
}

/** JavaScript wants a T, and minutes in an offset. */
const toIso = (text: string): string =>
  text
    .toUpperCase()
    .replace(' ', 'T')
    .replace(/([+-]\d{2})(\d{2})?$/, (offset, hours: string, minutes?: string) =>
      text.length > 10 ? `${hours}:${minutes ?? '00'}` : offset,
    )

/** 30 February is none. */
function isDay(text: string): boolean {
  const day = new Date(`${text}T00:00:00Z`)
  return !Number.isNaN(day.getTime()) && day.toISOString().startsWith(text) && text > '0001'
}

const refuse = (message: string): Parsed => ({ refusal: format(message) })
