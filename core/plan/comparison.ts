import type { ScalarAttribute, ValueType } from '../model/model.ts'
import { isListEntryOperator, isTextual, type Operator } from '../query/operators.ts'
import type { Comparison, Value } from '../query/query.ts'
import {
  allOf,
  binary,
  call,
  cast,
  column,
  equal,
  isNull,
  not,
  parameter,
  sqlConstant,
} from '../sql/build.ts'
import type { BinaryOperator, Expression, LikePattern, ParameterNode, SqlType } from '../sql/nodes.ts'
import type { PlanContext, Row } from './row.ts'

/** One comparison of an attribute of a row with values, in the semantics of reference/rest.md#7-filters and reference/rest.md#7-filters. */
export function planComparison(
  comparison: Comparison,
  row: Row,
  context: PlanContext,
  place = context.parameterPlace(comparison),
): Expression {
  const { attribute, operator, values } = comparison
  const left = planScalar(row, attribute, context)
  const text = isTextual(attribute.type) ? left : cast(left, 'text')
  const operands = { comparison, values, place, left, text }
  if (isListEntryOperator(operator, attribute.type)) return entryTest(operands)
  return OPERATIONS[operator](operands)
}

interface Operands {
  readonly comparison: Comparison
  readonly values: readonly Value[]
  /** The operand for the first value. */
  readonly place: number | null
  readonly left: Expression
  /** The left side as text. */
  readonly text: Expression
}

type Operation = (operands: Operands) => Expression

const typed = ({ comparison, values, place }: Operands, at = 0): ParameterNode =>
  parameter(
    valueAt(values, at, comparison),
    sqlTypeOf(comparison.attribute),
    place === null ? null : place + at,
  )

function valueAt(values: readonly Value[], at: number, { operator, attribute }: Comparison): Value {
  const value = values[at]
  if (value === undefined) throw new TypeError(`${operator} on ${attribute.name} lacks a value`)
  return value
}

const comparing =
  (operator: BinaryOperator): Operation =>
  operands =>
    binary(operands.left, operator, typed(operands))

const folded =
  (operator: '=' | '<>'): Operation =>
  operands =>
    binary(call('plinth_fold', operands.text), operator, call('plinth_fold', textOf(operands)))

const textOf = ({ comparison, values, place }: Operands): ParameterNode =>
  parameter(valueAt(values, 0, comparison), 'text', place)

interface LikeOptions extends LikePattern {
  readonly fold: boolean
  readonly negated?: boolean
}

const like =
  ({ before, after, fold, negated = false }: LikeOptions): Operation =>
  operands => {
    const pattern: ParameterNode = { ...textOf(operands), pattern: { before, after } }
    const operator = negated ? 'NOT LIKE' : 'LIKE'
    if (!fold) return binary(operands.text, operator, pattern)
    return binary(call('plinth_fold', operands.text), operator, call('plinth_fold', pattern))
  }

const listed =
  (negated: boolean): Operation =>
  ({ comparison, values, place, left }) => ({
    kind: 'list-test',
    negated,
    left,
    list: parameter(values, sqlTypeOf(comparison.attribute), place),
  })

const nullTest =
  (wanted: boolean): Operation =>
  ({ comparison, values, left }) =>
    isNull(left, (valueAt(values, 0, comparison) === true) !== wanted)

/** The value is a list with this one entry. */
function entryTest(operands: Operands): Expression {
  const contains = binary(operands.left, '@>', typed(operands))
  return operands.comparison.operator === '$contains' ? contains : not(contains)
}

const OPERATIONS: { readonly [Name in Operator]: Operation } = {
  $eq: operands => equal(operands.left, typed(operands)),
  $eqi: folded('='),
  $ne: comparing('<>'),
  $nei: folded('<>'),
  $lt: comparing('<'),
  $lte: comparing('<='),
  $gt: comparing('>'),
  $gte: comparing('>='),
  $in: listed(false),
  $notIn: listed(true),
  $contains: like({ before: '%', after: '%', fold: false }),
  $notContains: like({ before: '%', after: '%', fold: false, negated: true }),
  $containsi: like({ before: '%', after: '%', fold: true }),
  $notContainsi: like({ before: '%', after: '%', fold: true, negated: true }),
  $null: nullTest(true),
  $notNull: nullTest(false),
  $between: operands =>
    allOf([binary(operands.left, '>=', typed(operands, 0)), binary(operands.left, '<=', typed(operands, 1))]),
  $startsWith: like({ before: '', after: '%', fold: false }),
  $startsWithi: like({ before: '', after: '%', fold: true }),
  $endsWith: like({ before: '%', after: '', fold: false }),
  $endsWithi: like({ before: '%', after: '', fold: true }),
}

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
