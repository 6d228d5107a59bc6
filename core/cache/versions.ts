import { LruCache } from '../base/lru-cache.ts'
import { memoryBytes } from '../base/text.ts'
import { withTimeout } from '../base/with-timeout.ts'
import type { Database } from '../database/database.ts'
import { printVersion, printVersionChanges } from '../sql/print-versions.ts'
import { VersionHistory } from './version-history.ts'

/** Fetches the version of some tables (sql/print-versions.ts), read after the call. Rejects when the statement fails. */
export type FetchVersion = (tableNames: string, prefetch?: VersionPrefetch) => Promise<string>

/**
 * State of one request that fetches two versions one after the other. The first statement also prefetches the version
 * that requests of this kind usually fetch second. Both are read after the request began, so only requests that write
 * nothing in between may use it.
 */
export interface VersionPrefetch {
  /** Equal for requests that probably fetch the same versions. */
  readonly kind: string
  /** The first tables whose version was fetched; null before that. */
  first: string | null
  /** The prefetched version; null: none, or already used. */
  prefetched: { readonly tableNames: string; readonly version: string } | null
}

export const createPrefetch = (kind: string): VersionPrefetch => ({ kind, first: null, prefetched: null })

const READONLY = { readonly: true } as const

const GUESS_LIMITS = { entries: 2000, bytes: 2_000_000 } as const

/** A history takes some 30 kB if many changes are remembered. */
const HISTORY_LIMITS = { entries: 256, bytes: 8_000_000 } as const
const HISTORY_BYTES = 30_000

export interface TableVersions {
  readonly fetch: FetchVersion
  /** Also adds the version, with the changes since the last one, to the history of the tables. */
  readonly fetchChanges: (tableNames: string) => Promise<string>
  /** The versions that `fetchChanges` has observed. null: changes are not tracked, because replicas answer. */
  historyOf(tableNames: string): VersionHistory | null
}

/** `isShared`: callers that fetch the same version while a statement is in flight share the next statement. */
export function openVersions(database: Pick<Database, 'run'>, isShared: boolean): TableVersions {
  const histories = new LruCache<VersionHistory>(HISTORY_LIMITS, () => HISTORY_BYTES)
  const historyOf = (tableNames: string) => histories.getOrCreate(tableNames, () => new VersionHistory())
  const send = async (text: string, values: readonly string[]): Promise<readonly unknown[]> => {
    const { rows } = await database.run({ text, values, name: 'prove an answer' }, READONLY)
    return rows[0] ?? []
  }
  const addChanges = async (tableNames: string): Promise<string> => {
    const history = historyOf(tableNames)
    const base = history.head
    const known = JSON.stringify(Object.fromEntries(base.shards))
    const [version, difference] = await send(printVersionChanges(tableNames), [known])
    history.add(base, String(version), JSON.parse(String(difference ?? '[]')))
    return String(version)
  }
  return {
    fetch: openFetch(shared(isShared, text => send(text, []))),
    fetchChanges: shared(isShared, addChanges),
    historyOf: tableNames => (isShared ? historyOf(tableNames) : null),
  }
}

function openFetch(run: (text: string) => Promise<readonly unknown[]>): FetchVersion {
  const guesses = new LruCache<string>(GUESS_LIMITS, memoryBytes)
  const fetchOne = async (tableNames: string) => String((await run(printVersion(tableNames)))[0])
  return async (tableNames, prefetch) => {
    if (!prefetch) return fetchOne(tableNames)
    const { prefetched, first } = prefetch
    if (first === null) {
      prefetch.first = tableNames
      const guess = guesses.get(guessKey(prefetch, tableNames))
      if (guess === undefined) return fetchOne(tableNames)
      const versions = await run(`SELECT (${printVersion(tableNames)}), (${printVersion(guess)})`)
      prefetch.prefetched = { tableNames: guess, version: String(versions[1]) }
      return String(versions[0])
    }
    prefetch.prefetched = null
    if (prefetched?.tableNames === tableNames) return prefetched.version
    guesses.set(guessKey(prefetch, first), tableNames)
    return fetchOne(tableNames)
  }
}

const guessKey = ({ kind }: VersionPrefetch, first: string): string => `${kind}\n${first}`

/** Callers with the same argument share runs that begin after their call. */
function shared<Result>(
  isShared: boolean,
  run: (argument: string) => Promise<Result>,
): (argument: string) => Promise<Result> {
  if (!isShared) return run
  const queues = new Map<string, Queue<Result>>()
  return argument => {
    const queue: Queue<Result> = queues.get(argument) ?? { next: null, current: null }
    queues.set(argument, queue)
    queue.next ??= sendBatch(queue, () => run(argument)).finally(() => {
      if (!queue.next && !queue.current) queues.delete(argument)
    })
    return queue.next
  }
}

/** The runs with one argument. */
interface Queue<Result> {
  /** Not sent yet: it may answer every caller that arrives now. */
  next: Promise<Result> | null
  /** In flight. Its snapshot may be older than a caller that arrives now. */
  current: Promise<Result> | null
}

/** Milliseconds that the next statement waits for the one in flight, so that more callers share it. */
const MAX_BATCH_DELAY = 5

async function sendBatch<Result>(queue: Queue<Result>, run: () => Promise<Result>): Promise<Result> {
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
