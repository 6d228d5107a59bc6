import type { ColumnType } from '../../model/storage.ts'

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
