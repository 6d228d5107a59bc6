import { BIG_INTEGER, INTEGER } from '../../base/integers.ts'
import type { Column, ColumnType } from '../../model/storage.ts'
import { CATALOGUE_TYPES } from './read-catalogue.ts'

/** SQL for a value, if a condition holds; else null. Unlike AND, it never looks at the value before. */
export const whenever = (condition: string, value: string): string =>
  `CASE WHEN ${condition} THEN ${value} END`

/** How values of one type become values of another. */
interface Cast {
  /** SQL for the new value; never an error: null where there is none. */
  readonly to: (value: string) => string
  /** SQL that holds for values that the new type keeps whole; null: for all. */
  readonly keeps: ((value: string) => string) | null
  /** True if every row is rewritten. */
  readonly rewrites: boolean
}

const keepingAll = (to: Cast['to']): Cast => ({ to, keeps: null, rewrites: true })

const keepingSome = (to: Cast['to'], keeps: (value: string) => string): Cast => ({
  to,
  keeps,
  rewrites: true,
})

/** The same bytes under another type. */
const RELABELLED: Cast = { to: value => value, keeps: null, rewrites: false }

type Casts = Readonly<Partial<Record<ColumnType, Cast>>>

/** How the values of a column in the database become those of the model's; null: not one of them can. */
export function castOf(actual: string, { type, attribute }: Pick<Column, 'type' | 'attribute'>): Cast | null {
  if (isTextType(actual) && type === 'jsonb')
    return attribute?.kind === 'scalar' ? wrapText(attribute.type) : null
  return castsFrom(actual)?.[type] ?? null
}

/** Types that Plinth does not use come from changes by hand: other lengths, precisions and widths. */
function castsFrom(actual: string): Casts | undefined {
  const [, length] = /^character varying\((\d+)\)$/.exec(actual) ?? []
  if (CASTS[actual] !== undefined) return CASTS[actual]
  if (length !== undefined) return Number(length) <= 255 ? FROM_SHORT_TEXT : FROM_LONG_TEXT
  return CASTS[actual.replace(/\(\d+(,-?\d+)?\)/, '')]
}

export const isTextType = (type: string): boolean => type === 'text' || type.startsWith('character varying')

/** A text in a list is its only element; in blocks, its only paragraph. */
function wrapText(type: string): Cast {
  const list = (element: Cast['to']) =>
    keepingAll(text => whenever(`${text} IS NOT NULL`, `jsonb_build_array(${element(text)})`))
  if (type === 'array') return list(text => text)
  if (type !== 'blocks') return keepingAll(text => `to_jsonb(${text}::text)`)
  const leaf = (text: string) => `jsonb_build_object('type', 'text', 'text', ${text})`
  return list(text => `jsonb_build_object('type', 'paragraph', 'children', jsonb_build_array(${leaf(text)}))`)
}

const asText = (print: (value: string) => string): Casts => ({
  text: keepingAll(print),
  'varchar(255)': keepingSome(
    value => `left(${print(value)}, 255)`,
    value => `length(${print(value)}) <= 255`,
  ),
  jsonb: keepingAll(value => `to_jsonb(${print(value)})`),
})

/** A type that no text of which is long. */
const asShortText = (print: (value: string) => string): Casts => ({
  ...asText(print),
  'varchar(255)': keepingAll(print),
})

/** SQL for the value of a text, for each type that a text can hold; null if the text is no value of the type. */
const READ_TEXT: Readonly<Partial<Record<ColumnType, (text: string) => string>>> = {
  integer: text => whole(text, 'integer', INTEGER.most),
  bigint: text => whole(text, 'bigint', BIG_INTEGER.most),
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

const whole = (text: string, type: ColumnType, largest: number | bigint): string =>
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

/** The converted value must print as the original text: `007` is not a number, and `1.50` is one. */
function readBack(type: ColumnType, same: (text: string, value: string) => string): Cast {
  const read = READ_TEXT[type] ?? (() => 'NULL')
  return keepingSome(read, text => same(text, read(text)))
}

/** Leading zeros are part of a code, not of a number. */
const sameNumber = (text: string, value: string): string =>
  `${text} ~ '^-?(0|[1-9][0-9]*)([.][0-9]+)?$' AND ${value} IS NOT NULL AND (${value})::text::numeric = ${text}::numeric`

const FROM_TEXT: Casts = {
  integer: readBack('integer', (text, value) => `(${value})::text = ${text}`),
  bigint: readBack('bigint', (text, value) => `(${value})::text = ${text}`),
  'double precision': readBack('double precision', (text, value) =>
    whenever(`${text} ~ '^-?[0-9.]{1,250}$'`, sameNumber(text, value)),
  ),
  'numeric(10,2)': readBack('numeric(10,2)', sameNumber),
  boolean: readBack('boolean', (_, value) => `${value} IS NOT NULL`),
  date: readBack('date', (text, value) => `(${value})::text = ${text}`),
  'time(3)': readBack('time(3)', (text, value) => `${value} IS NOT NULL AND ${text} !~ '[.][0-9]{4}'`),
  'timestamptz(3)': readBack(
    'timestamptz(3)',
    (text, value) => `${value} IS NOT NULL AND ${text} !~ '[.][0-9]{4}'`,
  ),
}

const within = (value: string, low: string, high: string): string => `${value} BETWEEN ${low} AND ${high}`
const inInteger = (value: string) => within(value, `${INTEGER.least}`, `${INTEGER.most}`)
/** The next double beyond it is no bigint. */
const inBigint = (value: string) => within(value, '-9223372036854774784', '9223372036854774784')
const inDecimal = (value: string) => `abs(${value}) < 99999999.995`
/** Whole numbers that a double holds exactly. */
const inDouble = (value: string) => within(value, '-9007199254740992', '9007199254740992')
const cast = (type: ColumnType) => (value: string) => `${value}::${type}`
const isWhole = (value: string) => `${value} = trunc(${value})`
const both = (one: Cast['to'], other: Cast['to']) => (value: string) => `${one(value)} AND ${other(value)}`

/** The nearest value of the new type if the value is in range, else null. */
const ranged = (type: ColumnType, inRange: Cast['to'], keeps: Cast['to'] = inRange): Cast =>
  keepingSome(value => whenever(inRange(value), cast(type)(value)), keeps)

const ZERO_OR_ONE: Cast = keepingSome(
  value => `${value} <> 0`,
  value => `${value} IN (0, 1)`,
)

const plain = (value: string) => `${value}::text`
const asNumber = (print: (value: string) => string): Casts => ({
  ...asShortText(print),
  jsonb: keepingAll(value => `to_jsonb(${value})`),
})

const FROM_INTEGER: Casts = {
  ...asNumber(plain),
  bigint: keepingAll(cast('bigint')),
  'double precision': keepingAll(cast('double precision')),
  'numeric(10,2)': ranged('numeric(10,2)', inDecimal),
  boolean: ZERO_OR_ONE,
}

const FROM_BIGINT: Casts = {
  ...asNumber(plain),
  integer: ranged('integer', inInteger),
  'double precision': keepingSome(cast('double precision'), inDouble),
  'numeric(10,2)': ranged('numeric(10,2)', inDecimal),
  boolean: ZERO_OR_ONE,
}

const FROM_DOUBLE: Casts = {
  ...asNumber(plain),
  integer: ranged('integer', inInteger, both(inInteger, isWhole)),
  bigint: ranged('bigint', inBigint, both(inDouble, isWhole)),
  'numeric(10,2)': keepingSome(
    value => whenever(inDecimal(value), `round(${value}::text::numeric, 2)`),
    value => whenever(inDecimal(value), `round(${value}::text::numeric, 2) = ${value}::text::numeric`),
  ),
}

const FROM_DECIMAL: Casts = {
  ...asNumber(value => `trim_scale(${value})::text`),
  jsonb: keepingAll(value => `to_jsonb(trim_scale(${value}))`),
  integer: ranged('integer', inInteger, both(inInteger, isWhole)),
  bigint: ranged('bigint', inBigint, both(inBigint, isWhole)),
  'double precision': keepingAll(cast('double precision')),
}

const inUtc = (value: string) => `(${value} AT TIME ZONE 'UTC')`

/** The years that ISO 8601 writes in four digits; psql may have written others, and `infinity`. */
const inCalendar = (value: string) => within(inUtc(value), `'0001-01-01'`, `'9999-12-31 23:59:59.999'`)
const printMoment = (value: string) =>
  whenever(inCalendar(value), `to_char(${inUtc(value)}, 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`)

const FROM_MOMENT: Casts = {
  text: keepingSome(printMoment, inCalendar),
  'varchar(255)': keepingSome(printMoment, inCalendar),
  jsonb: keepingSome(value => `to_jsonb(${printMoment(value)})`, inCalendar),
  date: keepingSome(
    value => `${inUtc(value)}::date`,
    value => `${inUtc(value)} = date_trunc('day', ${inUtc(value)})`,
  ),
}

/** A JSON text is that text; all else is read as it is written. */
const jsonText = (value: string) => `(${value} #>> '{}')`

const FROM_JSON: Casts = {
  ...asText(jsonText),
  ...Object.fromEntries(
    Object.entries(FROM_TEXT).map(([type, { to, keeps }]) => [
      type,
      keepingSome(
        value => to(jsonText(value)),
        value => `(${value} = 'null'::jsonb OR ${keeps?.(jsonText(value)) ?? 'true'})`,
      ),
    ]),
  ),
}

const TOO_LONG: Cast = keepingSome(
  text => `left(${text}, 255)`,
  text => `length(${text}) <= 255`,
)

const FROM_SHORT_TEXT: Casts = { ...FROM_TEXT, text: RELABELLED, 'varchar(255)': RELABELLED }
const FROM_LONG_TEXT: Casts = { ...FROM_TEXT, text: RELABELLED, 'varchar(255)': TOO_LONG }

const FROM_NUMERIC: Casts = {
  ...FROM_DECIMAL,
  'numeric(10,2)': keepingSome(
    value => whenever(inDecimal(value), `round(${value}, 2)`),
    value => whenever(inDecimal(value), `round(${value}, 2) = ${value}`),
  ),
}

const toMilliseconds = (type: 'time(3)' | 'timestamptz(3)', to: Cast['to'] = cast(type)): Cast =>
  keepingSome(to, value => `date_trunc('milliseconds', ${value}) = ${value}`)

/** By what is there (as the catalogue has it), then by what is wanted. A name without a precision covers all precisions. */
const CASTS: Readonly<Record<string, Casts>> = {
  [CATALOGUE_TYPES.integer]: FROM_INTEGER,
  [CATALOGUE_TYPES.bigint]: FROM_BIGINT,
  [CATALOGUE_TYPES['double precision']]: FROM_DOUBLE,
  [CATALOGUE_TYPES['numeric(10,2)']]: FROM_DECIMAL,
  [CATALOGUE_TYPES.boolean]: {
    ...asNumber(plain),
    integer: keepingAll(cast('integer')),
    bigint: keepingAll(value => `${value}::integer::bigint`),
  },
  [CATALOGUE_TYPES['varchar(255)']]: { ...FROM_TEXT, text: RELABELLED },
  'character varying': FROM_LONG_TEXT,
  [CATALOGUE_TYPES.text]: { ...FROM_TEXT, 'varchar(255)': TOO_LONG },
  [CATALOGUE_TYPES.jsonb]: FROM_JSON,
  [CATALOGUE_TYPES.date]: {
    ...asShortText(plain),
    'timestamptz(3)': keepingAll(value => `(${value}::timestamp AT TIME ZONE 'UTC')`),
  },
  [CATALOGUE_TYPES['time(3)']]: asShortText(value => `to_char(${value}, 'HH24:MI:SS.MS')`),
  [CATALOGUE_TYPES['timestamptz(3)']]: FROM_MOMENT,
  smallint: { ...FROM_INTEGER, integer: keepingAll(cast('integer')) },
  real: { ...FROM_DOUBLE, 'double precision': keepingAll(value => `${value}::text::double precision`) },
  numeric: FROM_NUMERIC,
  json: { jsonb: keepingAll(cast('jsonb')) },
  'time without time zone': { 'time(3)': toMilliseconds('time(3)') },
  'timestamp with time zone': { ...FROM_MOMENT, 'timestamptz(3)': toMilliseconds('timestamptz(3)') },
  'timestamp without time zone': {
    'timestamptz(3)': toMilliseconds(
      'timestamptz(3)',
      value => `(${value} AT TIME ZONE 'UTC')::timestamptz(3)`,
    ),
  },
}
