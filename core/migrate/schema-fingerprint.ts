import { qualified, quoteConstant } from '../sql/ddl.ts'

/**
 * SQL for one text that changes whenever somebody changes Plinth's tables: their columns (names, types, nullability,
 * defaults), indexes, constraints, triggers, and Plinth's functions. Nothing leaves the database but the sum of hashes.
 * Not covered: tables that Plinth did not make, privileges, comments, storage options, and the rows of its own tables.
 */
export function printFingerprint(schema: string): string {
  const space = `(SELECT oid FROM pg_namespace WHERE nspname = ${quoteConstant(schema)})`
  const own = `SELECT c.oid, c.relname FROM pg_class AS c WHERE c.relnamespace = ${space} AND c.relkind IN ('r', 'p')
    AND (c.relname IN (SELECT name::name FROM ${qualified(schema, 'plinth_tables')}) OR c.relname LIKE 'plinth\\_%')`
  return `WITH own AS MATERIALIZED (${own}), parts AS (${[COLUMNS, INDEXES, CONSTRAINTS, TRIGGERS, functions(space)].join(' UNION ALL ')})
    SELECT count(*) || ':' || coalesce(sum(hashtextextended(part, 0)), 0) FROM parts`
}

const COLUMNS = `SELECT concat_ws(' ', 'column', own.relname, a.attname, a.atttypid, a.atttypmod, a.attnotnull,
  a.attidentity, a.attgenerated, d.adbin) AS part
  FROM own JOIN pg_attribute AS a ON a.attrelid = own.oid AND a.attnum > 0 AND NOT a.attisdropped
  LEFT JOIN pg_attrdef AS d ON d.adrelid = a.attrelid AND d.adnum = a.attnum`

const INDEXES = `SELECT concat_ws(' ', 'index', own.relname, c.relname, i.indkey, i.indisunique, i.indisvalid, i.indpred)
  FROM own JOIN pg_index AS i ON i.indrelid = own.oid JOIN pg_class AS c ON c.oid = i.indexrelid`

const CONSTRAINTS = `SELECT concat_ws(' ', 'constraint', own.relname, k.conname, k.contype, k.conkey, k.confrelid, k.confkey,
  k.confdeltype, k.convalidated, k.conbin) FROM own JOIN pg_constraint AS k ON k.conrelid = own.oid`

const TRIGGERS = `SELECT concat_ws(' ', 'trigger', own.relname, g.tgname, g.tgenabled, g.tgtype, g.tgfoid)
  FROM own JOIN pg_trigger AS g ON g.tgrelid = own.oid AND NOT g.tgisinternal`

const functions = (
  space: string,
): string => `SELECT concat_ws(' ', 'function', p.proname, p.prosrc, p.prosqlbody)
  FROM pg_proc AS p WHERE p.pronamespace = ${space} AND p.proname LIKE 'plinth\\_%'`
