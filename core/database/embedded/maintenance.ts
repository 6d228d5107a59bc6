import type { Database } from '../database.ts'
import type { Observe } from '../open-options.ts'

/** Milliseconds. */
const INTERVAL = 60_000

/** Vacuums and checkpoints regularly: PGlite has neither autovacuum nor a checkpointer, so dead rows and WAL would only grow. */
export function startMaintenance(
  database: Database,
  observe: Observe,
  milliseconds = INTERVAL,
): { stop(): void } {
  let stopped = false
  let lastCheckpoint = ''
  const maintain = async () => {
    try {
      await vacuumChanged(database)
      lastCheckpoint = await checkpoint(database, lastCheckpoint)
    } catch (error) {
      // Busy, closing or a full disk: the next run tries again, and requests continue.
      if (!stopped)
        observe({
          event: 'database.upkeep-failed',
          message: error instanceof Error ? error.message : String(error),
        })
    }
  }
  const timer = setInterval(maintain, milliseconds)
  timer.unref()
  return {
    stop() {
      stopped = true
      clearInterval(timer)
    },
  }
}

/** Autovacuum's default thresholds. */
const CHANGED = `SELECT format('%I.%I', schemaname, relname) FROM pg_stat_user_tables
  WHERE n_dead_tup > 50 + 0.2 * n_live_tup OR n_mod_since_analyze > 50 + 0.1 * n_live_tup`

/** Vacuums and analyses the tables that changed much, one at a time. */
export async function vacuumChanged(database: Database): Promise<void> {
  // This session's counts are added to the statistics at the end of the statement.
  await database.run({ text: 'SELECT pg_stat_force_next_flush()', values: [] })
  const { rows } = await database.run({ text: CHANGED, values: [] })
  for (const [table] of rows) await database.run({ text: `VACUUM (ANALYZE) ${String(table)}`, values: [] })
}

/** Writes a checkpoint if the log has grown: it frees old WAL and shortens a recovery. Resolves to the log's position. */
async function checkpoint(database: Database, last: string): Promise<string> {
  const position = async () => {
    const { rows } = await database.run({ text: 'SELECT pg_current_wal_lsn()::text', values: [] })
    return String(rows[0]?.[0])
  }
  if ((await position()) === last) return last
  await database.run({ text: 'CHECKPOINT', values: [] })
  return position()
}
