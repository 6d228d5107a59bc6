import { quoteText } from './identifier.ts'

/** The pseudo table whose version changes invalidate all tables: migrations increment it. */
export const EVERY_TABLE = '*'

/** A list of table names in SQL. Equal for equal sets of tables. */
export const printTableNames = (tables: ReadonlySet<string>): string =>
  [EVERY_TABLE, ...[...tables].toSorted()].map(quoteText).join(', ')

/** The sum of the tables' versions. Every write increments one of them and none ever decreases, so an equal sum means no write. */
export const printVersion = (tableNames: string): string =>
  `SELECT coalesce(sum(version), 0)::text FROM plinth_versions WHERE table_name IN (${tableNames})`

/**
 * A statement that returns one row: the version of the tables, and the shards of it that differ from known ones, as a JSON
 * list of table, shard, version and recorded changes; null: none. Its parameter is a JSON object of the known versions of
 * shards by `table shard`.
 */
export function printVersionChanges(tableNames: string): string {
  const known = `($1::text::json ->> (table_name || ' ' || shard))`
  const differing =
    `SELECT json_agg(json_build_array(table_name, shard, version::text, changes))::text FROM plinth_versions ` +
    `WHERE table_name IN (${tableNames}) AND version::text IS DISTINCT FROM ${known}`
  return `SELECT (${printVersion(tableNames)}), (${differing})`
}
