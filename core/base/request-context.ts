import type { WriteScope } from './write-scope.ts'

/** What a request leaves behind on its way: whose work something was, and what its time went to. */
export interface Trail {
  /** The request's id. */
  readonly id: string
  /** Absent or null: nobody wants to know. */
  readonly timing?: Timing | null
  /** Absent: the work counts for nobody in particular. */
  readonly origin?: Origin | undefined
  /** The transactions of the request; absent: none of them has to end with it. */
  readonly writes?: WriteScope
}

/** Where a request comes from. The same object for all work of one request. */
export interface Origin {
  /** Who the work counts for where callers share a resource: never something that a caller can choose. */
  readonly caller: string
  /** Whether the client has closed its connection. */
  readonly isGone: boolean
  /** Bytes of documents that were read for it until now. */
  bytesRead: number
}

/** Milliseconds that parts of a request took, added up. */
export interface Timing {
  /** Reading what is asked for. */
  parse: number
  /** Finding out what of it is the caller's to see. */
  narrow: number
  /** Waiting for the database. */
  database: number
  /** Whether the answer was kept from before; null: it is none that could be. */
  cache: CacheOutcome | null
}

export type CacheOutcome = 'hit' | 'miss' | 'off'

export const openTiming = (): Timing => ({ parse: 0, narrow: 0, database: 0, cache: null })

/** Does this, and adds what it took. */
export function timed<Value>(
  { timing }: Trail,
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

/** Of several answers in one, one that had to be made counts. */
export function noteCache(trail: Trail | undefined, outcome: CacheOutcome): void {
  const timing = trail?.timing
  if (timing && timing.cache !== 'miss') timing.cache = outcome
}
