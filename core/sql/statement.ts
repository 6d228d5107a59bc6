/** SQL with its parameters: `$1` stands for the first of `values`. No value is ever part of `text`. */
export interface Statement {
  readonly text: string
  readonly values: readonly unknown[]
  /** What it is for, in observations: `find article`. Never sent to the database. */
  readonly name?: string
  /** Its parameters are single values: PostgreSQL keeps a plan for it by itself. */
  readonly keepsPlan?: true
}
