import type { ValueType } from '../model/model.ts'

/** How many values an operator takes: one, two, any number, or a boolean flag. */
export type Arity = 'one' | 'two' | 'many' | 'flag'

/** reference/rest.md#7-filters. `text`: compares as text; `fold`: ignores case. */
interface OperatorTraits {
  readonly arity: Arity
  readonly text: boolean
  readonly fold: boolean
}

const OPERATORS = {
  $eq: { arity: 'one', text: false, fold: false },
  $eqi: { arity: 'one', text: true, fold: true },
  $ne: { arity: 'one', text: false, fold: false },
  $nei: { arity: 'one', text: true, fold: true },
  $lt: { arity: 'one', text: false, fold: false },
  $lte: { arity: 'one', text: false, fold: false },
  $gt: { arity: 'one', text: false, fold: false },
  $gte: { arity: 'one', text: false, fold: false },
  $in: { arity: 'many', text: false, fold: false },
  $notIn: { arity: 'many', text: false, fold: false },
  $contains: { arity: 'one', text: true, fold: false },
  $notContains: { arity: 'one', text: true, fold: false },
  $containsi: { arity: 'one', text: true, fold: true },
  $notContainsi: { arity: 'one', text: true, fold: true },
  $null: { arity: 'flag', text: false, fold: false },
  $notNull: { arity: 'flag', text: false, fold: false },
  $between: { arity: 'two', text: false, fold: false },
  $startsWith: { arity: 'one', text: true, fold: false },
  $startsWithi: { arity: 'one', text: true, fold: true },
  $endsWith: { arity: 'one', text: true, fold: false },
  $endsWithi: { arity: 'one', text: true, fold: true },
} as const satisfies Record<`$${string}`, OperatorTraits>

export type Operator = keyof typeof OPERATORS

export const OPERATOR_NAMES = Object.keys(OPERATORS) as readonly Operator[]

export const isOperator = (name: string): name is Operator => Object.hasOwn(OPERATORS, name)

export const operatorTraits = (operator: Operator): OperatorTraits => OPERATORS[operator]

const TEXTUAL: ReadonlySet<ValueType> = new Set<ValueType>([
  'string',
  'text',
  'richtext',
  'enumeration',
  'email',
  'password',
  'uid',
  'documentId',
  'locale',
])

export const isTextual = (type: ValueType): boolean => TEXTUAL.has(type)

/** On a list attribute, `$contains` tests whether a value is one of the entries. */
export const isListEntryOperator = (operator: Operator, type: ValueType): boolean =>
  type === 'array' && (operator === '$contains' || operator === '$notContains')

/**
 * True if an operator applies to values of a type. Case-insensitive operators convert any value to text
 * (reference/rest.md#7-filters); other text operators need text. Every type has an order: false < true, and jsonb has its own.
 */
export function operatorAccepts(operator: Operator, type: ValueType): boolean {
  const { text, fold } = OPERATORS[operator]
  return !text || fold || isTextual(type) || isListEntryOperator(operator, type)
}
