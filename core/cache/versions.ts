import { LruCache } from '../base/lru-cache.ts'
import { memoryBytes } from '../base/text.ts'
import { withTimeout } from '../base/with-timeout.ts'
import type { Database, Rows } from '../database/database.ts'

/**
 * Fetches the version of some tables: the value of the expression `sql`, read after the call.
 * Rejects when the statement fails.
 */
export type FetchVersion = (sql: string, prefetch?: VersionPrefetch) => Promise<string>

/**
 * State of one request that fetches two versions one after the other. The first statement also prefetches the version
 * that requests of this kind usually fetch second. Both are read after the request began, so only requests that write
 * nothing in between may use it.
 */
export interface VersionPrefetch {
  /** Equal for requests that probably fetch the same versions. */
  readonly kind: string
  /** The first expression that was fetched; null before that. */
  first: string | null
  /** The prefetched version; null: none, or already used. */
  prefetched: { readonly sql: string; readonly version: string } | null
}

export const createPrefetch = (kind: string): VersionPrefetch => ({ kind, first: null, prefetched: null })

const READONLY = { readonly: true } as const

const GUESS_LIMITS = { entries: 2000, bytes: 2_000_000 } as const

/** `isShared`: callers that fetch the same version while a statement is in flight share the next statement. */
export function openVersions(database: Pick<Database, 'run'>, isShared: boolean): FetchVersion {
  const run = openSharedRun(database, isShared)
  const guesses = new LruCache<string>(GUESS_LIMITS, memoryBytes)
  return async (sql, prefetch) => {
    if (!prefetch) return versionAt(await run(sql), 0)
    if (prefetch.first === null)
      return fetchFirst(sql, prefetch, { run, guess: guesses.get(guessKey(prefetch, sql)) })
    const { prefetched, first } = prefetch
    prefetch.prefetched = null
    if (prefetched?.sql === sql) return prefetched.version
    guesses.set(guessKey(prefetch, first), sql)
    return versionAt(await run(sql), 0)
  }
}

const guessKey = ({ kind }: VersionPrefetch, first: string): string => `${kind}\n${first}`

type RunShared = (text: string) => Promise<Rows>

interface FirstFetch {
  readonly run: RunShared
  /** The expression that is probably fetched next. */
  readonly guess: string | undefined
}

async function fetchFirst(
  sql: string,
  prefetch: VersionPrefetch,
  { run, guess }: FirstFetch,
): Promise<string> {
  prefetch.first = sql
  if (guess === undefined) return versionAt(await run(sql), 0)
  const rows = await run(`SELECT (${sql}), (${guess})`)
  prefetch.prefetched = { sql: guess, version: versionAt(rows, 1) }
  return versionAt(rows, 0)
}

const versionAt = ({ rows }: Rows, column: number): string => String(rows[0]?.[column])

function openSharedRun(database: Pick<Database, 'run'>, isShared: boolean): RunShared {
  const run: RunShared = text => database.run({ text, values: [], name: 'prove an answer' }, READONLY)
  if (!isShared) return run
  const queues = new Map<string, Queue>()
  return text => {
    const queue = queues.get(text) ?? { next: null, current: null }
    queues.set(text, queue)
    queue.next ??= sendBatch(queue, () => run(text)).finally(() => {
      if (!queue.next && !queue.current) queues.delete(text)
    })
    return queue.next
  }
}

/** The statements of one SQL text. */
interface Queue {
  /** Not sent yet: it may answer every caller that arrives now. */
  next: Promise<Rows> | null
  /** In flight. Its snapshot may be older than a caller that arrives now. */
  current: Promise<Rows> | null
}

/** Milliseconds that the next statement waits for the one in flight, so that more callers share it. */
const MAX_BATCH_DELAY = 5

async function sendBatch(queue: Queue, run: () => Promise<Rows>): Promise<Rows> {
  await new Promise(resolve => setImmediate(resolve))
  if (queue.current) await withTimeout(MAX_BATCH_DELAY, queue.current.then(ignore, ignore), undefined)
  const sent = run()
  queue.next = null
  queue.current = sent
  try {
    return await sent
  } finally {
    if (queue.current === sent) queue.current = null
  }
}

/** The callers of that statement handle its failure. */
const ignore = () => undefined
