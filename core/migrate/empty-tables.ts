import type { ReuseStatements } from '../database/open-options.ts'
import type { Table } from '../model/storage.ts'
import { qualified, quoteConstant } from '../sql/ddl.ts'
import { printFingerprint, printIsOwn, printSpace, toTableRecord } from './recorded-schema.ts'
import { hashSchema } from './schema-hash.ts'

/** Tables whose rows describe the schema. */
const RECORDS = ['plinth_migrations', 'plinth_migration_files', 'plinth_tables', 'plinth_generations']

/** SQL that makes a database ready for another project with these tables, of which it may have some or all. */
export function printReuse(schema: string, tables: readonly Table[]): ReuseStatements {
  const hash = hashSchema(schema, tables, [])
  return { same: printEmptyTables(schema, hash), similar: printKeepTables(schema, tables) }
}

/**
 * SQL that deletes all rows but the record of the migration, and resets the sequences: the database is then as after its
 * first migration. It fails and changes nothing unless that migration, of the schema with this hash, was the only one and
 * nothing else was created or changed since. Statistics of tables fail it too: they would change plans.
 */
function printEmptyTables(schema: string, hash: string): string {
  const isRecord = `relname IN (${RECORDS.map(quoteConstant).join(', ')})`
  const migrations = qualified(schema, 'plinth_migrations')
  return printBlock(`IF (SELECT array_agg(hash) FROM ${migrations}) IS DISTINCT FROM ARRAY[${quoteConstant(hash)}]
    THEN RAISE EXCEPTION 'The database has another schema.'; END IF;
    ${printCheckUnchanged(schema)}
    IF EXISTS (SELECT FROM pg_class WHERE ${printIsTable(schema)} AND NOT ${isRecord} AND reltuples > 0)
    THEN RAISE EXCEPTION 'The tables have statistics.'; END IF;
    ${printDeleteRows(schema, `NOT ${isRecord}`)}`)
}

/**
 * SQL that drops the tables that the schema of these tables does not have, that are searched or that have statistics, and
 * functions but those of triggers and indexes; deletes the rows of the other tables and resets their sequences. The next
 * migration is then the first one, and has fewer tables to create. The newest function is dropped first: others may call only
 * older ones. It fails and changes nothing if the schema has an extension, or if anything was created or changed since the last
 * migration.
 */
function printKeepTables(schema: string, tables: readonly Table[]): string {
  const space = printSpace(schema)
  const ledger = qualified(schema, 'plinth_tables')
  // A searched table is created together with the functions that its triggers call.
  const kept = tables.filter(({ searchTriggers = [] }) => searchTriggers.length === 0)
  const wanted = quoteConstant(JSON.stringify(kept.map(table => toTableRecord(table, []))))
  const unwanted = `SELECT name FROM ${ledger} AS ledger
    WHERE jsonb_strip_nulls(to_jsonb(ledger)) NOT IN (SELECT jsonb_strip_nulls(jsonb_array_elements(${wanted}::jsonb)))`
  return printBlock(`${printCheckUnchanged(schema)}
    IF EXISTS (SELECT FROM pg_extension WHERE extnamespace = ${space})
    THEN RAISE EXCEPTION 'The schema has an extension.'; END IF;
    FOR dropped IN SELECT relname FROM pg_class WHERE ${printIsTable(schema)}
      AND (reltuples > 0 OR relname = 'plinth_migrations' OR relname IN (${unwanted}))
    LOOP EXECUTE format('DROP TABLE %I.%I CASCADE', ${quoteConstant(schema)}, dropped); END LOOP;
    FOR dropped IN SELECT oid::regprocedure FROM pg_proc AS o WHERE pronamespace = ${space} AND proname LIKE 'plinth\\_%'
      AND proname <> 'plinth_fold' AND NOT EXISTS (SELECT FROM pg_trigger WHERE tgfoid = o.oid)
      ORDER BY oid DESC
    LOOP EXECUTE format('DROP FUNCTION %s', dropped); END LOOP;
    DELETE FROM ${ledger} AS ledger WHERE NOT EXISTS (SELECT FROM pg_class WHERE ${printIsTable(schema)} AND relname = ledger.name);
    ${printDeleteRows(schema, `relname <> 'plinth_tables'`)}`)
}

const printBlock = (statements: string): string =>
  `DO ${quoteConstant(`DECLARE emptied regclass; dropped text; BEGIN ${statements} END`)}`

const printIsTable = (schema: string): string => `relnamespace = ${printSpace(schema)} AND relkind = 'r'`

/** Fails if anything was created or changed since the last migration. */
const printCheckUnchanged = (
  schema: string,
): string => `IF (SELECT fingerprint FROM ${qualified(schema, 'plinth_migrations')} ORDER BY id DESC LIMIT 1)
      IS DISTINCT FROM (${printFingerprint(schema)})
    THEN RAISE EXCEPTION 'The schema was changed.'; END IF;
    IF ${printHasOthers(schema, printSpace(schema))} THEN RAISE EXCEPTION 'The database has objects that the migration did not create.'; END IF;`

/** Deletes the rows of the tables with these names, and resets all sequences but that of the migrations. */
const printDeleteRows = (
  schema: string,
  named: string,
): string => `SET LOCAL session_replication_role = replica;
    FOR emptied IN SELECT oid::regclass FROM pg_class WHERE ${printIsTable(schema)} AND ${named} AND pg_relation_size(oid) > 0
    LOOP EXECUTE format('DELETE FROM %s', emptied); END LOOP;
    PERFORM setval(seqrelid, seqstart, false) FROM pg_sequence JOIN pg_class ON pg_class.oid = seqrelid
      WHERE relnamespace = ${printSpace(schema)} AND relname <> 'plinth_migrations_id_seq' AND pg_sequence_last_value(seqrelid) IS NOT NULL;`

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
