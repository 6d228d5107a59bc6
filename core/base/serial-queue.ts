import { withTimeout } from './with-timeout.ts'

/** How many tasks may wait, and the error for those beyond. */
export interface QueueBound {
  readonly maxWaiting: number
  overflow(): Error
}

/** Runs tasks one after another, in the order they come. Each call resolves or rejects as its task does. */
export function openSerialQueue(bound?: QueueBound): <Value>(task: () => Promise<Value>) => Promise<Value> {
  let last: Promise<unknown> = Promise.resolve()
  let count = 0
  return async task => {
    if (bound && count > bound.maxWaiting) throw bound.overflow()
    count++
    const done = last.then(task).finally(() => count--)
    // A failed task does not stop the ones behind it.
    last = done.catch(() => undefined)
    return done
  }
}

/** A task that never runs twice at once. Requests that come while it runs share one further run. */
export interface CoalescedTask<Subject> {
  /** Resolves to what the run that covers these subjects returns; false after `close`. */
  request(subjects: readonly Subject[]): Promise<boolean>
  /** Starts no further run. Resolves when the current run has ended, or after so many milliseconds. */
  close(milliseconds: number): Promise<void>
}

/** `run` must not reject. */
export function coalesceRuns<Subject>(
  run: (subjects: readonly Subject[]) => Promise<boolean>,
): CoalescedTask<Subject> {
  const enqueue = openSerialQueue()
  let next: { readonly subjects: Set<Subject>; readonly done: Promise<boolean> } | null = null
  let isClosed = false
  const schedule = () => {
    const subjects = new Set<Subject>()
    const done = enqueue(async () => {
      next = null
      return !isClosed && run([...subjects])
    })
    return { subjects, done }
  }
  return {
    request(subjects) {
      next ??= schedule()
      for (const subject of subjects) next.subjects.add(subject)
      return next.done
    },
    async close(milliseconds) {
      isClosed = true
      await withTimeout(
        milliseconds,
        enqueue(async () => false),
        false,
      )
    },
  }
}
