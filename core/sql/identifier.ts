/** The only way for names into SQL. They come from the model or from code, never from a request. */
export function quoteIdentifier(name: string): string {
  if (name === '' || name.includes('\0'))
    throw new TypeError(`no name for a table or a column: ${JSON.stringify(name)}`)
  return `"${name.replaceAll('"', '""')}"`
}

/** Quotes a text constant from code or the model (a status, a component's owner). Request values are parameters. */
export function quoteText(text: string): string {
  if (text.includes('\0')) throw new TypeError('a text constant cannot hold NUL')
  const doubled = text.replaceAll("'", "''")
  return text.includes('\\') ? ` E'${doubled.replaceAll('\\', '\\\\')}'` : `'${doubled}'`
}

/**
 * The alias of a table, a subquery, a function or a WITH query in a statement. It ends in `$`.
 *
 * PostgreSQL resolves a bare name to a column first, and to the rows only where no column has it: in `row_to_json(r)`
 * a column `r` would win. Columns and tables have names that a project declares, and columns of a result have names
 * that a request chooses (GraphQL aliases). None of these names can contain `$`, so they cannot hide an alias.
 */
export type Alias = `${string}$`

/** `t1$`, `t2$`, … */
export const numberedAlias = (at: number): Alias => `t${at}$`
