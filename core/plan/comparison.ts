import { isListEntryOperator, isTextual, type Operator } from '../query/operators.ts'
import type { Comparison, Value } from '../query/query.ts'
import { allOf, binary, call, cast, equal, isNull, not, parameter } from '../sql/build.ts'
import type { BinaryOperator, Expression, LikePattern, ParameterNode } from '../sql/nodes.ts'
import type { PlanContext, Row } from './row.ts'
import { planScalar, sqlTypeOf } from './scalar.ts'

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

interface LikeTerms extends LikePattern {
  readonly fold: boolean
  readonly negated?: boolean
}

const like =
  ({ before, after, fold, negated = false }: LikeTerms): Operation =>
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
