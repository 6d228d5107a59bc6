import type { Database } from '../database.ts'
import type { Observe } from '../observation.ts'

/** Milliseconds between looks. */
const INTERVAL = 60_000

/** PostgreSQL in one process has neither autovacuum nor checkpointer: dead rows and WAL would only ever grow. */
export function startUpkeep(database: Database, observe: Observe, milliseconds = INTERVAL): { stop(): void } {
  let stopped = false
  let lastCheckpoint = ''
  const look = async () => {
    try {
      await vacuumChanged(database)
      lastCheckpoint = await checkpoint(database, lastCheckpoint)
    } catch (error) {
      // Busy, closing, no room on the disk: there is a next time, and requests go on meanwhile.
      if (!stopped)
        observe({
          event: 'database.upkeep-failed',
          message: error instanceof Error ? error.message : String(error),
        })
    }
  }
  const timer = setInterval(look, milliseconds)
  timer.unref()
  return {
    stop() {
      stopped = true
      clearInterval(timer)
    },
  }
}

/** The thresholds of autovacuum. */
const CHANGED = `SELECT format('%I.%I', schemaname, relname) FROM pg_stat_user_tables
  WHERE n_dead_tup > 50 + 0.2 * n_live_tup OR n_mod_since_analyze > 50 + 0.1 * n_live_tup`

/** Frees dead rows and renews the planner's statistics of the tables that changed much, one at a time. */
export async function vacuumChanged(database: Database): Promise<void> {
  // The counts of this session reach the tables' statistics when a statement ends.
  await database.run({ text: 'SELECT pg_stat_force_next_flush()', values: [] })
  const { rows } = await database.run({ text: CHANGED, values: [] })
  for (const [table] of rows) await database.run({ text: `VACUUM (ANALYZE) ${String(table)}`, values: [] })
}

/** Answers where the log stands; a checkpoint lets go of the log before, and shortens a recovery. */
async function checkpoint(database: Database, last: string): Promise<string> {
  const position = async () => {
    const { rows } = await database.run({ text: 'SELECT pg_current_wal_lsn()::text', values: [] })
    return String(rows[0]?.[0])
  }
  if ((await position()) === last) return last
  await database.run({ text: 'CHECKPOINT', values: [] })
  return position()
}
