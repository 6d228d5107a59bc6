import { quoteIdentifier as ident } from '../../sql/identifier.ts'

// Statements of writes keep their plans, which have to suit a table that was empty when its statistics were taken. These conditions
// leave PostgreSQL no other plan than to look rows up.

/**
 * Condition: a column holds a value that a query selects. PostgreSQL runs the query first and looks its values up, whatever its
 * statistics say: an `IN` may become a join that begins with the other table.
 */
export const inValuesOf = (column: string, query: string): string => `${column} = ANY (ARRAY(${query}))`

/**
 * Compares columns for equality so that PostgreSQL looks rows up, by an index that begins with the first column. Two plans look as
 * good until statistics are taken, and take quadratic time: the index of targets finds all links to a document for each of its
 * owners; a join that begins with the table reads all of it for each value, which needs an equality that could be merged.
 */
export function inOrder(pairs: readonly (readonly [string, string])[]): readonly string[] {
  const columns = pairs.map(([column]) => column).join(', ')
  const values = pairs.map(([, value]) => value).join(', ')
  return [`(${columns}) >= (${values})`, `(${columns}) <= (${values})`]
}

/** Rows of a table that are looked up for each row before them in a FROM. OFFSET 0 lets PostgreSQL begin with no other. */
export const lookUp = (table: string, alias: string, condition: string): string =>
  `LATERAL (SELECT * FROM ${ident(table)} ${alias} WHERE ${condition} OFFSET 0) ${alias}`

/**
 * Locks the rows of documents that a write links to: a concurrent deletion waits for its end and takes the new links along, or it was
 * first and the rows are not found. Other writes of these documents lock them by `FOR NO KEY UPDATE`, which does not wait.
 */
export const KEEPING_TARGETS = 'FOR KEY SHARE'

/** A condition by which PostgreSQL looks up no rows, in an index or a join. */
export const filter = (condition: string): string => `(${condition}) IS TRUE`
