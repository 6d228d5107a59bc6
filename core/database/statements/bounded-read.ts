import type { Statement } from '../../sql/statement.ts'
import { tooLargeFailure } from '../connect/answer-size.ts'
import type { Rows, Transaction } from '../database.ts'

/**
 * Runs a read inside a transaction, with a limit for the size of its answer. PostgreSQL compares the size and sends no row
 * above it: an error, or a connection that ends while the answer arrives, would roll the transaction back.
 * Rejects with a DatabaseFailure of kind `too-large`; the transaction goes on.
 */
export async function runBoundedRead(
  transaction: Pick<Transaction, 'run'>,
  statement: Statement,
  maxBytes: number,
): Promise<Rows> {
  const { rows } = await transaction.run(withSize(statement, maxBytes))
  const bytes = Number(rows[0]?.at(-1))
  if (bytes > maxBytes) throw tooLargeFailure(maxBytes, [])
  const found = bytes === 0 ? [] : rows.map(row => row.slice(0, -1))
  return { rows: found, count: found.length }
}

/** One row at least; the last column is the size of all rows, 0 if there are none. */
const withSize = ({ text, values, ...rest }: Statement, maxBytes: number): Statement => ({
  ...rest,
  text: `WITH answer$ AS MATERIALIZED (${text}), size$ AS (SELECT coalesce(sum(pg_column_size(a.*)), 0) AS bytes FROM answer$ AS a)
SELECT a.*, s.bytes FROM size$ AS s LEFT JOIN answer$ AS a ON s.bytes <= $${values.length + 1}::bigint`,
  values: [...values, maxBytes],
})
