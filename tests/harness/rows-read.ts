import type { Transaction } from '../../core/database/database.ts'

/** Entries of indexes do not count: those of former rows stay while other transactions, such as an ANALYZE, may still see them. */
const READ = `SELECT sum(CASE relkind WHEN 'r' THEN pg_stat_get_xact_tuples_returned(oid) ELSE 0 END + pg_stat_get_xact_tuples_fetched(oid))
  FROM pg_class WHERE relkind IN ('r', 'i') AND relnamespace = 'public'::regnamespace`

/** What work in a transaction resolves to, and the rows that it reads in tables. */
export async function withRowsRead<Value>(
  transaction: Transaction,
  work: () => Promise<Value>,
): Promise<{ readonly value: Value; readonly read: number }> {
  const count = async () => Number((await transaction.run({ text: READ, values: [] })).rows[0]?.[0])
  const before = await count()
  const value = await work()
  return { value, read: (await count()) - before }
}
