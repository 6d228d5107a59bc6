import type { ColumnType } from '../../model/storage.ts'
import { whenever } from './cast.ts'

/** What a text says, for each type that texts can be written in. A text that says nothing of the kind is null. */
export const READ_TEXT: Readonly<Partial<Record<ColumnType, (text: string) => string>>> = {
  integer: text => whole(text, 'integer', '2147483647'),
  bigint: text => whole(text, 'bigint', '9223372036854775807'),
  'double precision': text => whenever(`${text} ~ '${NUMBER}'`, `${text}::double precision`),
  'numeric(10,2)': text =>
    whenever(
      `${text} ~ '${NUMBER}'`,
      whenever(`abs(${text}::numeric) < 99999999.995`, `round(${text}::numeric, 2)`),
    ),
  boolean: text => `CASE ${text} WHEN 'true' THEN true WHEN 'false' THEN false END`,
  date: text => onDay(text, `^${DAY}$`, `${text}::date`),
  'time(3)': text => whenever(`${text} ~ '^${TIME}$'`, `${text}::time(3)`),
  // Without a zone it is UTC, as the session is.
  'timestamptz(3)': text => onDay(text, `^${DAY}([T ]${TIME}${ZONE})?$`, `${text}::timestamptz(3)`),
}

/** Digits are bounded: PostgreSQL refuses numbers that no double holds. */
const NUMBER = '^[+-]?[0-9]{1,250}([.][0-9]{1,250})?$'
const DAY = '(?!0000)[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])'
const TIME = '([01][0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9]([.][0-9]{1,6})?)?'
const ZONE = '(Z|[+-](0[0-9]|1[0-4]):?[0-5][0-9])?'

const whole = (text: string, type: ColumnType, largest: string): string =>
  whenever(
    `${text} ~ '^[+-]?[0-9]{1,20}$'`,
    whenever(`abs(${text}::numeric) <= ${largest}`, `${text}::${type}`),
  )

/** Refuses the 31st of a month of thirty days. */
function onDay(text: string, pattern: string, value: string): string {
  const month = `(left(${text}, 7) || '-01')::date`
  const days = `extract(day FROM ${month} + interval '1 month - 1 day')`
  return whenever(`${text} ~ '${pattern}'`, whenever(`substr(${text}, 9, 2)::integer <= ${days}`, value))
}
