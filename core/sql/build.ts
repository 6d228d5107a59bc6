import type { Alias } from './identifier.ts'
import type {
  BinaryNode,
  BinaryOperator,
  CallNode,
  ColumnNode,
  ConstantNode,
  Expression,
  FunctionName,
  ParameterNode,
  ParameterValue,
  Select,
  SqlType,
} from './nodes.ts'

export const column = (of: Alias, name: string): ColumnNode => ({ kind: 'column', of, name })

export const parameter = (
  value: ParameterValue,
  type: SqlType,
  place: number | null = null,
): ParameterNode => ({ kind: 'parameter', value, type, place })

export const sqlConstant = (value: ConstantNode['value']): ConstantNode => ({ kind: 'constant', value })

export const binary = (left: Expression, operator: BinaryOperator, right: Expression): BinaryNode => ({
  kind: 'binary',
  operator,
  left,
  right,
})

export const equal = (left: Expression, right: Expression): Expression => binary(left, '=', right)

export const call = (name: FunctionName, ...terms: readonly Expression[]): CallNode => ({
  kind: 'call',
  name,
  terms,
})

export const cast = (term: Expression, type: SqlType): Expression => ({ kind: 'cast', term, type })

export const isNull = (term: Expression, negated = false): Expression => ({
  kind: 'null-test',
  negated,
  term,
})

export const not = (term: Expression): Expression => ({ kind: 'not', term })

export const TRUE: ConstantNode = sqlConstant(true)
export const FALSE: ConstantNode = sqlConstant(false)

const isConstant = (term: Expression, value: boolean): boolean =>
  term.kind === 'constant' && term.value === value

/** AND of the terms. Drops constant true; a constant false makes it false. */
export function allOf(terms: readonly Expression[]): Expression {
  const open = terms.filter(term => !isConstant(term, true))
  if (open.some(term => isConstant(term, false))) return FALSE
  if (open.length === 0) return TRUE
  return open.length === 1 && open[0] ? open[0] : { kind: 'logic', operator: 'and', terms: open }
}

/** OR of the terms. Drops constant false; a constant true makes it true. */
export function anyOf(terms: readonly Expression[]): Expression {
  const open = terms.filter(term => !isConstant(term, false))
  if (open.some(term => isConstant(term, true))) return TRUE
  if (open.length === 0) return FALSE
  return open.length === 1 && open[0] ? open[0] : { kind: 'logic', operator: 'or', terms: open }
}

export const select = (parts: Partial<Omit<Select, 'kind'>>): Select => ({
  kind: 'select',
  columns: [],
  from: [],
  where: null,
  order: [],
  limit: null,
  offset: null,
  ...parts,
})
