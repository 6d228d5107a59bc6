import { qualified, quoteConstant } from '../sql/ddl.ts'
import { EVERY_TABLE } from '../sql/print-versioned.ts'

/** How many rows a table's version is spread over before writers are more than that at once. */
const SHARDS = 16

/** A bigint has room for 10^13 of them. */
const LONGEST_STEP = 1_000_000

/**
 * SQL that makes the function of the trigger: it moves the version of a table, which is the sum of the table's
 * shards in `plinth_versions` and only grows. By how much is left to chance: so two states that do not follow one
 * another (a replica's and the primary's, one before and one after a restore) have not the same versions either.
 *
 * A shard is a writer's own until its transaction ends: it takes a number by an advisory lock that nobody waits
 * for, trying from its backend's pid modulo 16 on and past 16 where more write at once. So a writer's rows are
 * locked by no other writer: versions add no waiting and, whatever the order of tables, no deadlock.
 */
export const printMoveVersion = (schema: string): string =>
  `CREATE OR REPLACE FUNCTION ${qualified(schema, 'plinth_move_version')}() RETURNS trigger LANGUAGE plpgsql AS ` +
  quoteConstant(body(schema, qualified(schema, 'plinth_versions')))

/** Room in each page for the next version of its rows, so that moving them touches no index. */
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

/** A renamed table goes on from where it was, and never below what its new name has been at. */
export function printVersionsCopy(schema: string, from: string, to: string): string {
  const versions = qualified(schema, 'plinth_versions')
  return (
    `INSERT INTO ${versions} AS held (table_name, shard, version) ` +
    `SELECT ${quoteConstant(to)}, shard, version + 1 FROM ${versions} WHERE table_name = ${quoteConstant(from)} ` +
    `ON CONFLICT (table_name, shard) DO UPDATE SET version = held.version + excluded.version`
  )
}

/** What changes tables by other means than their rows moves what the versions of all of them have in common. */
export function printVersionsMoved(schema: string): string {
  const versions = qualified(schema, 'plinth_versions')
  return (
    `INSERT INTO ${versions} AS held (table_name, shard, version) VALUES (${quoteConstant(EVERY_TABLE)}, 0, 1) ` +
    'ON CONFLICT (table_name, shard) DO UPDATE SET version = held.version + 1'
  )
}
