import { IMPORT_OPTIONS } from '../../../core/import/write-batch.ts'
import { quoteIdentifier as ident } from '../../../core/sql/identifier.ts'
import type { ImporterOptions } from './import-options.ts'

/** Bytes. A scan of a smaller table costs less than its analysis. */
const SMALL = 65_536

const OUTDATED = `SELECT c.relname FROM pg_class c WHERE c.relnamespace = $1::regnamespace AND c.relname = ANY ($2::text[])
  AND c.relkind = 'r' AND pg_relation_size(c.oid) > $3::bigint
  AND (NOT EXISTS (SELECT FROM pg_stats s WHERE s.schemaname = $4::text AND s.tablename = c.relname)
    OR pg_stat_get_mod_since_analyze(c.oid) > c.reltuples / 10)`

/**
 * Analyses the tables that PostgreSQL has no statistics of, or whose rows changed by a tenth since. Without them it expects
 * hundreds of rows for each document, and reads the tables whole for each batch of an update; and nested reads of what was
 * imported take seconds until autovacuum, after a minute, analyses it. A table that another session changes or builds an
 * index of is left as it is.
 */
export async function analyzeTables({ database, storage }: ImporterOptions): Promise<void> {
  const { schema } = database
  const { rows } = await database.run({
    name: 'find tables with outdated statistics',
    text: OUTDATED,
    values: [ident(schema), storage.tables.map(({ name }) => name), SMALL, schema],
  })
  for (const [table] of rows)
    await database.transaction(
      transaction =>
        transaction.run({
          name: `analyse ${String(table)}`,
          text: `ANALYZE (SKIP_LOCKED) ${ident(schema)}.${ident(String(table))}`,
          values: [],
        }),
      IMPORT_OPTIONS,
    )
}
