import { fault, RequestFault } from '../../faults/fault.ts'

/** Runs works one after another, in the order in which they come; more than so many may not wait (503). */
export function openOneByOne(waiting: number): <Value>(work: () => Promise<Value>) => Promise<Value> {
  let last: Promise<unknown> = Promise.resolve()
  let count = 0
  return async work => {
    if (count > waiting) throw new RequestFault(fault('unavailable', 'The server is busy: try again'))
    count++
    const done = last.then(work).finally(() => count--)
    // The next one runs whatever becomes of this one.
    last = done.catch(() => undefined)
    return done
  }
}
