import { qualified, quoteConstant } from '../sql/ddl.ts'
import { EVERY_TABLE } from '../sql/print.ts'

/** Shards of a table's version. More concurrent writers than this create further shards. */
const SHARDS = 16

/** Largest step of a version. A bigint holds 10^13 steps of this size. */
const LONGEST_STEP = 1_000_000

/**
 * SQL of the trigger function that advances a table's version. The version is the sum of the table's shards in
 * `plinth_versions` and only grows. The step is random, so two divergent states (replica and primary, before and after
 * a restore) do not share a version.
 *
 * A transaction owns its shard until it ends. It takes the shard by a non-blocking advisory lock, starting at the
 * backend's pid modulo 16 and going past 16 when more transactions write at once. Writers therefore never wait for
 * each other's version rows and cannot deadlock on them.
 */
export const printMoveVersion = (schema: string): string =>
  `CREATE OR REPLACE FUNCTION ${qualified(schema, 'plinth_move_version')}() RETURNS trigger LANGUAGE plpgsql AS ` +
  quoteConstant(body(schema, qualified(schema, 'plinth_versions')))

/** Free space in each page keeps updates of version rows heap-only (HOT): they touch no index. */
export const printVersionsStorage = (schema: string): string =>
  `ALTER TABLE IF EXISTS ${qualified(schema, 'plinth_versions')} SET (fillfactor = 50)`

const body = (schema: string, versions: string): string => `
DECLARE
  moved constant text := TG_TABLE_NAME;
  lane constant integer := hashtext(${quoteConstant(`plinth versions of ${schema}`)});
  own constant integer := pg_backend_pid() % ${SHARDS};
  step constant bigint := 1 + floor(random() * ${LONGEST_STEP});
  tries integer := 0;
  shard_taken integer := own;
BEGIN
  WHILE NOT pg_try_advisory_xact_lock(lane, shard_taken) LOOP
    tries := tries + 1;
    shard_taken := CASE WHEN tries < ${SHARDS} THEN (own + tries) % ${SHARDS} ELSE tries END;
  END LOOP;
  UPDATE ${versions} SET version = version + step WHERE table_name = moved AND shard = shard_taken;
  IF NOT FOUND THEN
    INSERT INTO ${versions} AS held (table_name, shard, version) VALUES (moved, shard_taken, step)
    ON CONFLICT (table_name, shard) DO UPDATE SET version = held.version + step;
  END IF;
  RETURN NULL;
END
`

/** A renamed table keeps its version and never falls below a version that the new name had before. */
export function printVersionsCopy(schema: string, from: string, to: string): string {
  const versions = qualified(schema, 'plinth_versions')
  return (
    `INSERT INTO ${versions} AS held (table_name, shard, version) ` +
    `SELECT ${quoteConstant(to)}, shard, version + 1 FROM ${versions} WHERE table_name = ${quoteConstant(from)} ` +
    `ON CONFLICT (table_name, shard) DO UPDATE SET version = held.version + excluded.version`
  )
}

/** Schema changes advance the version that all tables share: triggers see changes of rows only. */
export function printVersionsMoved(schema: string): string {
  const versions = qualified(schema, 'plinth_versions')
  return (
    `INSERT INTO ${versions} AS held (table_name, shard, version) VALUES (${quoteConstant(EVERY_TABLE)}, 0, 1) ` +
    'ON CONFLICT (table_name, shard) DO UPDATE SET version = held.version + 1'
  )
}
