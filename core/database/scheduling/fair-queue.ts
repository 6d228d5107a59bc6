import type { Work } from './scheduled-work.ts'

/** Work that waits for a connection. */
export interface Waiter {
  readonly work: Work
  admit(): void
  /** Rejects the wait because its caller left. */
  abort(): void
}

export interface Admission {
  mayCaller(caller: string): boolean
  mayRequest(request: Work['request']): boolean
}

type Waiters = Set<Waiter>
/** By request. Work without a request counts as a request of its own. */
type Requests = Map<object, Waiters>

/**
 * Serves callers in turn, within a caller its requests in turn, and within a request its statements in order of
 * arrival. A caller with a thousand waiting statements and a caller with one are served alternately. The server's own
 * work comes first: it is short, and requests of all callers wait for it.
 */
export class FairQueue {
  #size = 0
  readonly #own: Waiters = new Set()
  readonly #callers = new Map<string, Requests>()

  get size(): number {
    return this.#size
  }

  add(waiter: Waiter): void {
    this.#size++
    const { caller } = waiter.work
    if (caller === null) {
      this.#own.add(waiter)
      return
    }
    const requests: Requests = this.#callers.get(caller) ?? new Map()
    this.#callers.set(caller, requests)
    const key = keyOf(waiter)
    const waiters = requests.get(key)
    if (waiters) waiters.add(waiter)
    else requests.set(key, new Set([waiter]))
  }

  /** Returns false if it is not in the queue. */
  remove(waiter: Waiter): boolean {
    const { caller } = waiter.work
    if (caller === null) return this.#count(this.#own.delete(waiter))
    const requests = this.#callers.get(caller)
    const waiters = requests?.get(keyOf(waiter))
    if (!requests || !waiters?.delete(waiter)) return false
    if (waiters.size === 0) requests.delete(keyOf(waiter))
    if (requests.size === 0) this.#callers.delete(caller)
    return this.#count(true)
  }

  /** Removes and returns the next waiter that may run now. Callers and requests at their limit are passed over. */
  take(admission: Admission): Waiter | undefined {
    const [own] = this.#own
    if (own && this.remove(own)) return own
    for (const [caller, requests] of this.#callers) {
      if (!admission.mayCaller(caller)) continue
      const found = takeFrom(requests, admission)
      if (!found) continue
      this.#count(true)
      this.#callers.delete(caller)
      if (requests.size > 0) this.#callers.set(caller, requests)
      return found
    }
    return undefined
  }

  #count(isGone: boolean): boolean {
    if (isGone) this.#size--
    return isGone
  }
}

const keyOf = (waiter: Waiter): object => waiter.work.request ?? waiter

/** The request that was served goes behind the caller's other requests. */
function takeFrom(requests: Requests, { mayRequest }: Admission): Waiter | undefined {
  for (const [request, waiters] of requests) {
    const [first] = waiters
    if (!first || !mayRequest(first.work.request)) continue
    waiters.delete(first)
    requests.delete(request)
    if (waiters.size > 0) requests.set(request, waiters)
    return first
  }
  return undefined
}
