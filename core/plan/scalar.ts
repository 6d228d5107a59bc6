import type { ScalarAttribute, ValueType } from '../model/model.ts'
import { call, cast, column, sqlConstant } from '../sql/build.ts'
import type { Expression, SqlType } from '../sql/nodes.ts'
import type { PlanContext, Row } from './row.ts'

/** A scalar attribute of a row, as it is stored. */
export function planScalar(row: Row, attribute: ScalarAttribute, context: PlanContext): Expression {
  const own = column(row.alias, context.storage.column(row.holder, attribute.name))
  return isShownStamp(row, attribute) ? call('greatest', own, column(row.alias, 'shared_updated_at')) : own
}

/** `updatedAt` of a localized document with drafts includes changes of its shared attributes (reference/documents.md#4-time-stamps). */
const isShownStamp = (row: Row, attribute: ScalarAttribute): boolean =>
  attribute.system &&
  attribute.name === 'updatedAt' &&
  row.holder.holder === 'content-type' &&
  row.holder.localized &&
  row.holder.draftAndPublish

const ISO_DATETIME = 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'

/** A timestamp as ISO 8601 text with milliseconds. */
export const planIso = (moment: Expression): Expression =>
  call('to_char', call('utc', moment), sqlConstant(ISO_DATETIME))

/** A scalar attribute in the output format: reference/rest.md#3-attribute-values, column "Answers". */
export function planOutput(row: Row, attribute: ScalarAttribute, context: PlanContext): Expression {
  const own = planScalar(row, attribute, context)
  switch (attribute.type) {
    case 'datetime':
      return planIso(own)
    case 'timestamp':
      return cast(call('epoch', own), 'text')
    case 'biginteger':
      return cast(own, 'text')
    default:
      return own
  }
}

const SQL_TYPES: { readonly [Type in ValueType]: SqlType } = {
  id: 'integer',
  documentId: 'text',
  locale: 'text',
  string: 'text',
  text: 'text',
  richtext: 'text',
  enumeration: 'text',
  email: 'text',
  password: 'text',
  uid: 'text',
  date: 'date',
  time: 'time',
  datetime: 'timestamptz',
  timestamp: 'timestamptz',
  integer: 'integer',
  biginteger: 'bigint',
  float: 'double precision',
  decimal: 'numeric',
  boolean: 'boolean',
  json: 'jsonb',
  blocks: 'jsonb',
  array: 'jsonb',
}

export const sqlTypeOf = (attribute: ScalarAttribute): SqlType => SQL_TYPES[attribute.type]
