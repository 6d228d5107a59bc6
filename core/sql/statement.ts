/** One SQL statement: its text, and the values of its parameters in order. */
export interface Statement {
  readonly text: string
  readonly values: readonly unknown[]
}
