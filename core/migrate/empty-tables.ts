import { qualified, quoteConstant } from '../sql/ddl.ts'
import { printFingerprint, printIsOwn, printSpace } from './recorded-schema.ts'

/** Tables whose rows describe the schema. */
const RECORDS = ['plinth_migrations', 'plinth_migration_files', 'plinth_tables', 'plinth_generations']

/**
 * SQL that deletes all rows but the record of the migration, and resets the sequences: the database is then as after its
 * first migration. It fails and changes nothing unless that migration, of the schema with this hash, was the only one and
 * nothing else was created or changed since. Statistics of tables fail it too: they would change plans.
 */
export function printEmptyTables(schema: string, hash: string): string {
  const space = printSpace(schema)
  const records = RECORDS.map(quoteConstant).join(', ')
  const migrations = qualified(schema, 'plinth_migrations')
  return `DO ${quoteConstant(`DECLARE emptied regclass; BEGIN
    IF (SELECT array_agg(concat_ws(' ', hash, fingerprint)) FROM ${migrations})
      IS DISTINCT FROM ARRAY[concat_ws(' ', ${quoteConstant(hash)}, (${printFingerprint(schema)}))]
    THEN RAISE EXCEPTION 'The database has another schema.'; END IF;
    IF ${printHasOthers(schema, space)} THEN RAISE EXCEPTION 'The database has objects that the migration did not create.'; END IF;
    IF EXISTS (SELECT FROM pg_class WHERE relnamespace = ${space} AND relkind = 'r' AND relname NOT IN (${records}) AND reltuples > 0)
    THEN RAISE EXCEPTION 'The tables have statistics.'; END IF;
    SET LOCAL session_replication_role = replica;
    FOR emptied IN SELECT oid::regclass FROM pg_class
      WHERE relnamespace = ${space} AND relkind = 'r' AND relname NOT IN (${records}) AND pg_relation_size(oid) > 0
    LOOP EXECUTE format('DELETE FROM %s', emptied); END LOOP;
    PERFORM setval(seqrelid, seqstart, false) FROM pg_sequence JOIN pg_class ON pg_class.oid = seqrelid
      WHERE relnamespace = ${space} AND relname <> 'plinth_migrations_id_seq' AND pg_sequence_last_value(seqrelid) IS NOT NULL;
  END`)}`
}

/** True if there are schemas, relations, functions or types that neither Plinth nor an extension created. */
function printHasOthers(schema: string, space: string): string {
  const isPart = (catalogue: string) =>
    `EXISTS (SELECT FROM pg_depend AS d WHERE d.classid = '${catalogue}'::regclass AND d.objid = o.oid AND d.deptype IN ('e', 'i', 'a'))`
  return [
    `EXISTS (SELECT FROM pg_namespace WHERE nspname !~ '^pg_' AND nspname NOT IN ('information_schema', ${quoteConstant(schema)}))`,
    `EXISTS (SELECT FROM pg_class AS o WHERE relnamespace = ${space} AND relkind NOT IN ('i', 'I', 't', 'c') AND NOT ${printIsOwn(schema, 'relname')} AND NOT ${isPart('pg_class')})`,
    `EXISTS (SELECT FROM pg_proc AS o WHERE pronamespace = ${space} AND proname NOT LIKE 'plinth\\_%' AND NOT ${isPart('pg_proc')})`,
    `EXISTS (SELECT FROM pg_type AS o WHERE typnamespace = ${space} AND typtype IN ('d', 'e', 'r') AND NOT ${isPart('pg_type')})`,
  ].join(' OR ')
}
