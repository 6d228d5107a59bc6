import type { Alias } from './identifier.ts'

/**
 * SQL as data, discriminated by `kind`. print.ts has an entry for every kind, and the compiler finds a missing one.
 * Values are always parameters; constants come from code and the model.
 */
export type Expression =
  | ColumnNode
  | ParameterNode
  | ConstantNode
  | BinaryNode
  | TupleNode
  | AmongNode
  | ListTestNode
  | LogicNode
  | NotNode
  | NullTestNode
  | CastNode
  | CallNode
  | SharedCallNode
  | CaseNode
  | ExistsNode
  | SubqueryNode
  | RowJsonNode
  | RowsJsonNode

/** The types of parameters and casts. */
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
  | 'regconfig'
  | 'tsquery'

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
  /** The position of its value among those that a template is bound with; null: `value` is fixed. */
  readonly place: number | null
  /** Sends a LIKE pattern: the escaped value between these wildcards. */
  readonly pattern?: LikePattern
}

export interface LikePattern {
  readonly before: '%' | ''
  readonly after: '%' | ''
}

/** A list is one array parameter. */
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
  | '-'
  | 'IS DISTINCT FROM'
  | '@>'
  | '@@'

export interface BinaryNode {
  readonly kind: 'binary'
  readonly operator: BinaryOperator
  readonly left: Expression
  readonly right: Expression
}

/** A row value. Row comparison is lexicographic. */
export interface TupleNode {
  readonly kind: 'tuple'
  readonly terms: readonly Expression[]
}

/** True for the values of a select of one column. PostgreSQL reads them first and looks each up in an index. */
export interface AmongNode {
  readonly kind: 'among'
  readonly left: Expression
  readonly select: Select
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

export type FunctionName =
  | 'plinth_fold'
  | 'greatest'
  | 'nullif'
  | 'to_char'
  | 'epoch'
  | 'utc'
  | 'count'
  | 'json_array_length'
  | 'websearch_to_tsquery'
  | 'ts_rank'
  | 'tsquery_and'
  | 'numnode'
  | 'plinth_plain'
  | 'plinth_blocks_text'
  | 'plinth_highlight'
  | 'plinth_similar_words'
  | 'plinth_similar_rank'

export interface CallNode {
  readonly kind: 'call'
  readonly name: FunctionName
  readonly terms: readonly Expression[]
}

/**
 * A column of the row that a function returns. The statement calls the function once at most, and only if a value is needed (a CTE).
 * Equal names in one statement are equal calls.
 */
export interface SharedCallNode {
  readonly kind: 'shared-call'
  readonly name: Alias
  readonly call: CallNode
  readonly column: string
}

export interface CaseNode {
  readonly kind: 'case'
  readonly when: Expression
  readonly value: Expression
  readonly otherwise: Expression
}

export interface ExistsNode {
  readonly kind: 'exists'
  readonly negated: boolean
  readonly select: Select
}

/** A scalar subquery: one column of one row. */
export interface SubqueryNode {
  readonly kind: 'subquery'
  readonly select: Select
}

/** The row as a JSON object with its columns as keys; NULL if there is no row. */
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
  /** Joined in order; the first has no join condition. Empty: one row of constants. */
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
  /**
   * Restricts the table before anything is computed for its rows, so skipped rows stay cheap. The window of a joined source may depend
   * on the sources before it.
   */
  readonly window?: RowWindow
  /** Reads the rows of the answer's `page` in its order, or its `matches`, instead of the table. */
  readonly reads?: 'page' | 'matches'
}

export interface RowWindow extends Pick<Select, 'where' | 'order' | 'limit' | 'offset'> {
  /** Rows with NULL keys, read by a separate index scan (UNION ALL). Not combined with an offset. */
  readonly nullKeyRows?: Expression
  /** Selects ids first and joins the rows afterwards, so the sort does not carry the other columns of skipped rows. */
  readonly deferredJoin?: true
  /** A constant upper bound of the window's end. The planner sees only this, so one plan serves all windows within it. */
  readonly prefixLimit?: Expression
}

export interface Order {
  readonly expression: Expression
  readonly direction: 'asc' | 'desc'
}

/**
 * Rows of several shapes in one order: every part returns a JSON object of its columns and a number (or a row of numbers) to sort by.
 */
export interface Union {
  readonly kind: 'union'
  readonly parts: readonly { readonly row: Select; readonly position: Expression }[]
  /** Absent: all rows. */
  readonly limit?: Expression | null
}

/** The statement of a query: the answer as JSON text, and the total number of matching rows if requested. */
export interface AnswerStatement {
  readonly kind: 'answer'
  /** What page and total are both read from (a CTE, evaluated once): an id and sort keys of each match; null: nothing. */
  readonly matches: Select | null
  /** Rows that several parts of the answer read (a CTE, evaluated once); null: none. */
  readonly page: SqlSource | null
  readonly rows: Select
  /** `one`: an object or no row; `many`: an array. */
  readonly form: 'one' | 'many'
  readonly total: Select | null
  /** Appended to the text after the separator (print.ts); null: none. */
  readonly cursor: RowsJsonNode | null
  /** A deeply nested list fails at the first row beyond so many bytes; null: no limit. */
  readonly maxBytes: number | null
}
