/** The one way for a name into SQL. Names come from the model and from code, never from a request. */
export function quoteIdentifier(name: string): string {
  if (name === '' || name.includes('\0'))
    throw new TypeError(`no name for a table or a column: ${JSON.stringify(name)}`)
  return `"${name.replaceAll('"', '""')}"`
}

/** A text constant from code or the model (a status, a component's owner); what a request sends is a parameter. */
export function quoteText(text: string): string {
  if (text.includes('\0')) throw new TypeError('a text constant cannot hold NUL')
  const doubled = text.replaceAll("'", "''")
  return text.includes('\\') ? ` E'${doubled.replaceAll('\\', '\\\\')}'` : `'${doubled}'`
}

/**
 * The name that a statement gives to rows: of a table, a subquery, a function, or a WITH query. It ends in `$`.
 *
 * PostgreSQL resolves a bare name to a column first, and to the rows only where no column has it: in `row_to_json(r)`
 * a column `r` would win. Columns and tables are named after what a project declares, and columns of an answer after
 * what a request asks for (GraphQL aliases). None of these names can contain `$`, so none can hide an alias.
 */
export type Alias = `${string}$`

/** The same for a number of sources: `t1$`, `t2$`. */
export const numberedAlias = (at: number): Alias => `t${at}$`
