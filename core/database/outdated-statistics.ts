import { quoteIdentifier as ident } from '../sql/identifier.ts'
import type { Database, TransactionOptions } from './database.ts'

/** Bytes. A scan of a smaller table costs less than its analysis. */
const SMALL = 65_536

/**
 * Analysed never, or when it was empty or much smaller, or with another content. The number of its rows is -1 until then. The sizes
 * say at once what the counts of changes say seconds later. Another owner's table cannot be analysed, and the view of the statistics
 * is empty for the owner under a row-level security that is forced.
 */
const OUTDATED = `SELECT c.relname FROM pg_class c WHERE c.relnamespace = $1::regnamespace AND c.relname = ANY ($2::text[])
  AND c.relkind = 'r' AND NOT pg_is_in_recovery() AND pg_has_role(c.relowner, 'USAGE') AND pg_relation_size(c.oid) > $3::bigint
  AND (pg_relation_size(c.oid) > (1 + $5::float8) * c.relpages * current_setting('block_size')::bigint
    OR pg_stat_get_mod_since_analyze(c.oid) > $5::float8 * c.reltuples
    OR c.reltuples <> 0 AND NOT row_security_active(c.oid) AND NOT EXISTS (SELECT FROM pg_stats s WHERE s.schemaname = $4::text AND s.tablename = c.relname))`

export interface AnalyzeOptions {
  /** Names of tables of the database's schema. */
  readonly tables: readonly string[]
  /** The part of a table's rows whose changes make its statistics outdated: 1 means as many changes as rows. */
  readonly changed: number
  readonly transaction?: TransactionOptions
}

/**
 * Analyses the tables that PostgreSQL has no statistics of, or outdated ones. Without them it expects one row or hundreds where there is
 * the opposite, and reads whole tables for each row of an answer. A table that another session changes or builds an index of is left
 * as it is.
 */
export async function analyzeOutdated(
  database: Database,
  { tables, changed, transaction: options = {} }: AnalyzeOptions,
): Promise<void> {
  const { schema } = database
  const { rows } = await database.run(
    {
      name: 'find tables with outdated statistics',
      text: OUTDATED,
      values: [ident(schema), [...tables], SMALL, schema, changed],
    },
    { readonly: true, onPrimary: true },
  )
  for (const [table] of rows)
    await database.transaction(
      transaction =>
        transaction.run({
          name: `analyse ${String(table)}`,
          text: `ANALYZE (SKIP_LOCKED) ${ident(schema)}.${ident(String(table))}`,
          values: [],
        }),
      options,
    )
}
