import type { ColumnType } from '../model/storage.ts'

/** As the catalogue writes them. */
export const CATALOGUE_TYPES = {
  integer: 'integer',
  bigint: 'bigint',
  'double precision': 'double precision',
  'numeric(10,2)': 'numeric(10,2)',
  boolean: 'boolean',
  'varchar(255)': 'character varying(255)',
  text: 'text',
  jsonb: 'jsonb',
  date: 'date',
  'time(3)': 'time(3) without time zone',
  'timestamptz(3)': 'timestamp(3) with time zone',
} as const satisfies Record<ColumnType, string>

export interface Conversion {
  /** Whether every row is written anew: forbidden on large tables. */
  readonly rewrites: boolean
  /** SQL that holds for the values that would not fit; null: all fit. */
  readonly unfit: ((column: string) => string) | null
}

const widening: Conversion = { rewrites: true, unfit: null }
const relabelling: Conversion = { rewrites: false, unfit: null }
const TOO_LONG: Conversion = { rewrites: true, unfit: column => `length(${column}) > 255` }
const OUT_OF_RANGE: Conversion = {
  rewrites: true,
  unfit: column => `${column} NOT BETWEEN -2147483648 AND 2147483647`,
}

/** The changes of type that lose nothing, by what is there (as the catalogue has it), then by what is wanted. */
export const CONVERSIONS: Readonly<Record<string, Readonly<Partial<Record<ColumnType, Conversion>>>>> = {
  integer: { bigint: widening, 'double precision': widening, text: widening, 'varchar(255)': widening },
  bigint: { integer: OUT_OF_RANGE, text: widening, 'varchar(255)': widening },
  'character varying(255)': { text: relabelling },
  'character varying': { text: relabelling, 'varchar(255)': TOO_LONG },
  text: { 'varchar(255)': TOO_LONG },
}
