import { openSerialQueue } from '../base/serial-queue.ts'
import { quoteIdentifier as ident } from '../sql/identifier.ts'
import type { Database, TransactionOptions } from './database.ts'

export interface KeepStatisticsOptions {
  /** Names of the tables that are analysed. */
  readonly tables: readonly string[]
  /** Receives the message of an analysis that failed. The next one tries again. */
  failed(message: string): void
  /** Milliseconds from a write to the analysis; default: 5,000. */
  readonly delay?: number
}

export interface KeptStatistics {
  /** The database whose writes are noticed. */
  readonly database: Database
  /** Analyses what was filled before, such as by a script, without waiting for it. Earlier writes are ignored. */
  start(): void
  /** Ends the analyses; resolves when none is running. */
  close(): Promise<void>
}

/** Milliseconds. */
const DELAY = 5_000

/** Autovacuum's part is a tenth, a minute later. This only serves tables that grow to twice their size before that. */
const CHANGED = 1

/**
 * Analyses the tables that writes of this process have filled. Autovacuum does so once a minute; until then filters through relations
 * take hundreds of times as long, since PostgreSQL expects that a status has hardly any rows.
 */
export function keepStatistics(
  database: Database,
  { tables, failed, delay = DELAY }: KeepStatisticsOptions,
): KeptStatistics {
  let timer: NodeJS.Timeout | undefined
  const enqueue = openSerialQueue()
  let isStarted = false
  const analyze = async () => {
    if (!isStarted) return
    try {
      await analyzeOutdated(database, { tables, changed: CHANGED })
    } catch (error) {
      if (isStarted) failed(error instanceof Error ? error.message : String(error))
    }
  }
  const schedule = (milliseconds: number) => {
    if (!isStarted || timer) return
    timer = setTimeout(() => {
      // What is written from now on needs another analysis.
      timer = undefined
      void enqueue(analyze)
    }, milliseconds)
    timer.unref()
  }
  return {
    database: {
      ...database,
      async transaction(work, options) {
        const value = await database.transaction(work, options)
        if (!options?.readonly) schedule(delay)
        return value
      },
    },
    start() {
      isStarted = true
      schedule(0)
    },
    async close() {
      isStarted = false
      clearTimeout(timer)
      timer = undefined
      await enqueue(async () => {})
    },
  }
}

export interface AnalyzeOptions {
  /** Names of tables of the database's schema. */
  readonly tables: readonly string[]
  /** The part of a table's rows whose changes make its statistics outdated: 1 means as many changes as rows. */
  readonly changed: number
  readonly transaction?: TransactionOptions
}

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
