import type { Alias } from './identifier.ts'

/**
 * SQL as data. Each node is told apart by `kind`; print.ts has a line for every kind, and the compiler
 * finds a forgotten one. Values are parameters always; constants come from code and the model.
 */
export type Expression =
  | ColumnNode
  | ParameterNode
  | ConstantNode
  | BinaryNode
  | TupleNode
  | ListTestNode
  | LogicNode
  | NotNode
  | NullTestNode
  | CastNode
  | CallNode
  | ExistsNode
  | SubqueryNode
  | RowJsonNode
  | RowsJsonNode

/** The types that values and casts name. */
export type SqlType =
  | 'integer'
  | 'bigint'
  | 'double precision'
  | 'numeric'
  | 'boolean'
  | 'text'
  | 'jsonb'
  | 'date'
  | 'time'
  | 'timestamptz'
  | 'json'

export interface ColumnNode {
  readonly kind: 'column'
  /** The alias of its source. */
  readonly of: Alias
  readonly name: string
}

export interface ParameterNode {
  readonly kind: 'parameter'
  readonly value: ParameterValue
  readonly type: SqlType
  /** Which of the values it is that a template is bound with; null: always this one. */
  readonly place: number | null
  /** Sends a pattern for LIKE: the value, taken literally, between these. */
  readonly pattern?: LikePattern
}

export interface LikePattern {
  readonly before: '%' | ''
  readonly after: '%' | ''
}

/** A list goes out as one array parameter. */
export type ParameterValue = string | number | boolean | readonly (string | number | boolean)[]

export interface ConstantNode {
  readonly kind: 'constant'
  readonly value: string | number | boolean | null
}

export type BinaryOperator =
  | '='
  | '<>'
  | '<'
  | '<='
  | '>'
  | '>='
  | 'LIKE'
  | 'NOT LIKE'
  | '+'
  | 'IS DISTINCT FROM'
  | '@>'

export interface BinaryNode {
  readonly kind: 'binary'
  readonly operator: BinaryOperator
  readonly left: Expression
  readonly right: Expression
}

/** Several values, compared as one with as many others: the first that differ decide. */
export interface TupleNode {
  readonly kind: 'tuple'
  readonly terms: readonly Expression[]
}

/** `left = ANY (list)` or `left <> ALL (list)`. */
export interface ListTestNode {
  readonly kind: 'list-test'
  readonly negated: boolean
  readonly left: Expression
  readonly list: ParameterNode
}

/** An empty `and` is true, an empty `or` false. */
export interface LogicNode {
  readonly kind: 'logic'
  readonly operator: 'and' | 'or'
  readonly terms: readonly Expression[]
}

export interface NotNode {
  readonly kind: 'not'
  readonly term: Expression
}

export interface NullTestNode {
  readonly kind: 'null-test'
  readonly negated: boolean
  readonly term: Expression
}

export interface CastNode {
  readonly kind: 'cast'
  readonly term: Expression
  readonly type: SqlType
}

export type FunctionName = 'plinth_fold' | 'greatest' | 'to_char' | 'epoch' | 'utc' | 'count'

export interface CallNode {
  readonly kind: 'call'
  readonly name: FunctionName
  readonly terms: readonly Expression[]
}

export interface ExistsNode {
  readonly kind: 'exists'
  readonly negated: boolean
  readonly select: Select
}

/** The only column of the only row. */
export interface SubqueryNode {
  readonly kind: 'subquery'
  readonly select: Select
}

/** The only row as a JSON object, its columns the keys; NULL where there is none. */
export interface RowJsonNode {
  readonly kind: 'row-json'
  readonly select: Select
}

/** All rows as a JSON array of objects. */
export interface RowsJsonNode {
  readonly kind: 'rows-json'
  readonly rows: Select | Union
}

export interface Select {
  readonly kind: 'select'
  readonly columns: readonly NamedColumn[]
  /** Joined in order; the first has no condition. Empty: a row of constants. */
  readonly from: readonly SqlSource[]
  readonly where: Expression | null
  readonly order: readonly Order[]
  readonly limit: Expression | null
  readonly offset: Expression | null
}

export interface NamedColumn {
  readonly as: string
  readonly expression: Expression
}

export interface SqlSource {
  readonly table: string
  readonly alias: Alias
  /** The join's condition; null on the first source. */
  readonly on: Expression | null
  /** Only these rows of the table, chosen before anything is computed for one: skipped rows cost nothing more. */
  readonly window?: RowWindow
  /** Of the table's rows those of the answer's `page`, in its order. */
  readonly isPage?: true
}

export interface RowWindow extends Pick<Select, 'where' | 'order' | 'limit' | 'offset'> {
  /** Other rows, which are in the window, too: looked for by themselves, so that an index finds the one and the other; there is no offset then. */
  readonly nullKeyRows?: Expression
  /** Looked for by their ids first: of rows that are only sorted and skipped nothing else is carried along. */
  readonly deferredJoin?: true
  /** That it lies within so many first rows is all that a plan is told of it, so that one plan serves all that do. */
  readonly prefixLimit?: Expression
}

export interface Order {
  readonly expression: Expression
  readonly direction: 'asc' | 'desc'
}

/**
 * Rows of several shapes in one order: every part yields a JSON object (its columns) and one number to sort by.
 */
export interface Union {
  readonly kind: 'union'
  readonly parts: readonly { readonly row: Select; readonly position: Expression }[]
}

/** What a query becomes: the answer as JSON text, and the number of all matching rows where that was asked. */
export interface AnswerStatement {
  readonly kind: 'answer'
  /** Rows that several parts of the answer are made of: they are looked for once; null: there are none. */
  readonly page: SqlSource | null
  readonly rows: Select
  /** `one`: an object or no row; `many`: an array. */
  readonly form: 'one' | 'many'
  readonly total: Select | null
  /** Put behind the text, after the separator (print.ts); null: nothing is. */
  readonly cursor: RowsJsonNode | null
  /** A deep list is ended at the first row beyond so many bytes; null: no list is. */
  readonly maxBytes: number | null
}
