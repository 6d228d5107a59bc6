import type { Database } from '../database/database.ts'

/** PostgreSQL's statistics of a table and its indexes. */
export interface TableNumbers {
  readonly name: string
  /** Estimated. */
  readonly rows: number
  readonly dead: number
  /** True if the table was ever analyzed; the planner needs it. */
  readonly analyzed: boolean
  /** True if writes increment the table's version, which validates cached responses. */
  readonly versioned: boolean
  readonly indexes: readonly IndexNumbers[]
}

export interface IndexNumbers {
  readonly name: string
  /** null: an expression. */
  readonly columns: readonly (string | null)[]
  readonly unique: boolean
  readonly partial: boolean
  readonly valid: boolean
  /** It is being created right now. */
  readonly underWay: boolean
  readonly scans: number
  readonly bytes: number
}

export interface TableStatistics {
  readonly tables: readonly TableNumbers[]
  /** Milliseconds since the statistics were reset. */
  readonly counting: number
  /** How many connections this user may open: the limit of the server without reserved ones, or that of the user or database. */
  readonly connections: number
  /** Connected replicas with their lag in milliseconds, if the database role may see them. */
  readonly replicas: readonly { readonly name: string; readonly behind: number }[]
}

/** Reads the statistics of those tables that exist. */
export async function readStatistics(
  database: Database,
  tables: readonly string[],
): Promise<TableStatistics> {
  const values = [database.schema, tables]
  const { rows } = await database.run({ text: NUMBERS, values, name: 'read numbers' })
  return JSON.parse(String(rows[0]?.[0]))
}

const INDEXES = `
SELECT json_agg(json_build_object(
  'name', x.relname,
  'columns', (SELECT json_agg(a.attname ORDER BY n.place)
    FROM unnest(i.indkey::smallint[]) WITH ORDINALITY AS n (number, place)
    LEFT JOIN pg_attribute AS a ON a.attrelid = i.indrelid AND a.attnum = n.number AND n.number > 0),
  'unique', i.indisunique, 'partial', i.indpred IS NOT NULL, 'valid', i.indisvalid,
  'underWay', EXISTS (SELECT FROM pg_stat_progress_create_index AS p WHERE p.index_relid = x.oid),
  'scans', coalesce(s.idx_scan, 0), 'bytes', pg_relation_size(x.oid)
) ORDER BY x.relname)
FROM pg_index AS i JOIN pg_class AS x ON x.oid = i.indexrelid
LEFT JOIN pg_stat_all_indexes AS s ON s.indexrelid = i.indexrelid WHERE i.indrelid = c.oid AND x.relkind = 'i'`

const TABLES = `
SELECT coalesce(json_agg(json_build_object(
  'name', c.relname, 'rows', CASE WHEN c.reltuples > 0 THEN c.reltuples ELSE coalesce(s.n_live_tup, 0) END,
  'dead', coalesce(s.n_dead_tup, 0),
  'analyzed', EXISTS (SELECT FROM pg_stats AS known WHERE known.schemaname = space.nspname AND known.tablename = c.relname),
  'versioned', (SELECT coalesce(bool_and(g.tgenabled IN ('O', 'A')), false) FROM pg_trigger AS g
    WHERE g.tgrelid = c.oid AND starts_with(g.tgname, 'plinth_version')),
  'indexes', coalesce((${INDEXES}), '[]')
) ORDER BY c.relname), '[]')
FROM pg_class AS c JOIN pg_namespace AS space ON space.oid = c.relnamespace
LEFT JOIN pg_stat_all_tables AS s ON s.relid = c.oid
WHERE space.nspname = $1 AND c.relkind IN ('r', 'p') AND c.relname = ANY ($2::text[])`

/** `reserved_connections` is a setting of PostgreSQL 16 and later. Superusers have no limits of their own; -1 is none. */
const CONNECTIONS = `
SELECT least(
  current_setting('max_connections')::integer - current_setting('superuser_reserved_connections')::integer
    - coalesce(current_setting('reserved_connections', true)::integer, 0),
  CASE WHEN NOT r.rolsuper THEN nullif(r.rolconnlimit, -1) END,
  CASE WHEN NOT r.rolsuper THEN nullif(d.datconnlimit, -1) END)
FROM pg_roles AS r, pg_database AS d WHERE r.rolname = session_user AND d.datname = current_database()`

const NUMBERS = `
SELECT json_build_object(
  'tables', (${TABLES}),
  'counting', (SELECT extract(epoch FROM now() - coalesce(stats_reset, pg_postmaster_start_time())) * 1000
    FROM pg_stat_database WHERE datname = current_database()),
  'connections', (${CONNECTIONS}),
  'replicas', (SELECT coalesce(json_agg(json_build_object('name', application_name,
    'behind', coalesce(extract(epoch FROM replay_lag) * 1000, 0))), '[]') FROM pg_stat_replication)
)::text`
