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
