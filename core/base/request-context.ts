/** Passed along with a request: who caused the work, where time went, and which transactions it has. */
export interface RequestContext {
  /** The request's id. */
  readonly id: string
  /** Absent or null: not measured. */
  readonly timing?: RequestTiming | null
  /** Absent: the work is not attributed to a caller. */
  readonly origin?: RequestOrigin | undefined
  /** The transactions of the request. Absent: they may outlive it. */
  readonly writes?: WriteScope
}

/** The client of a request. All work of one request shares this object. */
export interface RequestOrigin {
  /** The key for fair scheduling between callers. A client must not be able to choose it. */
  readonly caller: string
  /** True after the client has closed its connection. */
  readonly isDisconnected: boolean
  /** Bytes of documents read for this request so far. */
  bytesRead: number
}

/** Milliseconds spent in each phase of a request. */
export interface RequestTiming {
  /** Parsing the parameters. */
  parse: number
  /** Restricting the query to the caller's permissions. */
  narrow: number
  /** Waiting for the database. */
  database: number
  /** The outcome of the response cache; null: the request is not cacheable. */
  cache: CacheOutcome | null
}

export type CacheOutcome = 'hit' | 'miss' | 'off'

export const createTiming = (): RequestTiming => ({ parse: 0, narrow: 0, database: 0, cache: null })

/** Runs `work` and adds its duration to the part. Measures synchronous work only. */
export function timePart<Value>(
  { timing }: RequestContext,
  part: 'parse' | 'narrow' | 'database',
  work: () => Value,
): Value {
  if (!timing) return work()
  const began = performance.now()
  try {
    return work()
  } finally {
    timing[part] += performance.now() - began
  }
}

/** Records a cache outcome. A miss is never overwritten: one miss makes the whole response a miss. */
export function recordCacheOutcome(context: RequestContext | undefined, outcome: CacheOutcome): void {
  const timing = context?.timing
  if (timing && timing.cache !== 'miss') timing.cache = outcome
}

/** The statement of an error response about the data: nothing was written, or that is unknown. */
export type WriteOutcome = 'not-written' | 'unknown'

/**
 * The writes of one request. Every transaction checks it before it sends COMMIT. So a request that timed out commits
 * nothing afterwards, and an error response can say whether data may have changed.
 */
export class WriteScope {
  #isClosed = false
  /** COMMITs sent but not yet acknowledged. */
  #pending = 0
  /** Commits that succeeded, or whose acknowledgement was lost. */
  #written = 0
  readonly #onClose = new Set<() => void>()

  /** Returns false if the COMMIT must not be sent. After true, the caller must call `endCommit`. */
  beginCommit(): boolean {
    if (this.#isClosed) return false
    this.#pending++
    return true
  }

  endCommit(isWritten: boolean): void {
    this.#pending--
    if (isWritten) this.#written++
  }

  /** Registers a callback for the request's timeout; returns a function that unregisters it. */
  onClose(end: () => void): () => void {
    this.#onClose.add(end)
    return () => this.#onClose.delete(end)
  }

  /** The request timed out: from now on none of its transactions commits. */
  close(): void {
    this.#isClosed = true
    const ends = [...this.#onClose]
    this.#onClose.clear()
    for (const end of ends) end()
  }

  /** The response was sent and the handler has returned. Background work that continues may commit again. */
  detach(): void {
    this.#isClosed = false
  }

  get isClosed(): boolean {
    return this.#isClosed
  }

  /** How many commits may have changed data so far. */
  get written(): number {
    return this.#written
  }

  /** 'unknown' if any COMMIT was sent. */
  get outcome(): WriteOutcome {
    return this.#pending > 0 || this.#written > 0 ? 'unknown' : 'not-written'
  }
}
