import type { Observer } from '../observe/observation.ts'
import { delayAfter } from './back-off.ts'
import type { Ending, Post } from './worker-process.ts'

export interface PlaceTerms {
  /** From 1 on; stays the same whoever has the place. */
  readonly number: number
  /** Starts a worker process. */
  post(): Post
  /** Whether another process is to follow one that ended. */
  isKept(): boolean
  readonly observer: Observer
}

/** One of the workers: when its process ends, another takes its place. */
export interface Place {
  readonly number: number
  /** The process that has it; null between two. */
  current(): Post | null
  /** Ends it for good: what is under way is answered. */
  end(): Promise<void>
}

/** Milliseconds of service after which an end has nothing to do with the start. */
const STEADY = 10_000

export function openPlace({ number, post, isKept, observer }: PlaceTerms): Place {
  let failures = 0
  let current: Post | null = null
  let isEnding = false
  let next: NodeJS.Timeout | undefined
  const begin = () => {
    const begun = post()
    current = begun
    void begun.ended.then(ending => follow(begun.pid, ending))
  }
  const follow = (pid: number, { served, why }: Ending) => {
    current = null
    if (isEnding || !isKept()) return
    failures = served >= STEADY ? 0 : failures + 1
    const delay = delayAfter(failures)
    observer.emit({ kind: 'workerEnded', worker: number, pid, why, delay })
    next = setTimeout(begin, delay)
  }
  begin()
  return {
    number,
    current: () => current,
    async end() {
      isEnding = true
      clearTimeout(next)
      current?.kill('SIGTERM')
      await current?.ended
    },
  }
}
