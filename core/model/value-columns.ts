import type { ScalarAttribute, ValueType } from './model.ts'
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
const isUnbounded = (type: ValueType): boolean =>
  COLUMN_TYPES[type] === 'text' || COLUMN_TYPES[type] === 'jsonb'

/** PostgreSQL takes index entries of up to 2,704 bytes, and a character may be four. */
const LONGEST_INDEXED = 600

/** Whether every value fits into an index; where not, the check before a write stands alone for `unique`. */
export const fitsIndex = ({ type, maxLength }: Pick<ScalarAttribute, 'type' | 'maxLength'>): boolean =>
  !isUnbounded(type) ||
  (COLUMN_TYPES[type] === 'text' && maxLength !== undefined && maxLength <= LONGEST_INDEXED)
