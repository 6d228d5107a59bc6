import type { ValueType } from './model.ts'
import type { ColumnType } from './storage.ts'

/** How PostgreSQL keeps the values of each type. */
export const COLUMN_TYPES: { readonly [Type in ValueType]: ColumnType } = {
  id: 'integer',
  documentId: 'varchar(255)',
  locale: 'varchar(255)',
  string: 'varchar(255)',
  email: 'varchar(255)',
  uid: 'varchar(255)',
  password: 'varchar(255)',
  enumeration: 'varchar(255)',
  text: 'text',
  richtext: 'text',
  blocks: 'jsonb',
  json: 'jsonb',
  array: 'jsonb',
  date: 'date',
  time: 'time(3)',
  datetime: 'timestamptz(3)',
  timestamp: 'timestamptz(3)',
  integer: 'integer',
  biginteger: 'bigint',
  float: 'double precision',
  decimal: 'numeric(10,2)',
  boolean: 'boolean',
}

/** Values that may be longer than an entry of an index can be. */
export const isUnbounded = (type: ValueType): boolean =>
  COLUMN_TYPES[type] === 'text' || COLUMN_TYPES[type] === 'jsonb'
