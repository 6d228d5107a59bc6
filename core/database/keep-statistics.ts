import { openSerialQueue } from '../base/serial-queue.ts'
import type { Database } from './database.ts'
import { analyzeOutdated } from './outdated-statistics.ts'

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
