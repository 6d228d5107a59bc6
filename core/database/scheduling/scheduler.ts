import { DatabaseFailure } from '../database-fault.ts'
import { isAborted, type Lane, type Work } from './scheduled-work.ts'

export interface SchedulerOptions {
  /** Connections. */
  readonly max: number
  /** Statements and transactions that one request may have running at the same time. */
  readonly perRequest: number
  /** Milliseconds to wait for a connection. */
  readonly acquire: number
}

/**
 * A caller may start more work only while it has less than this many times the connections that are still free
 * (dynamic thresholds, Choudhury and Hahne 1998): a lone caller gets most of its lane, 8 of 9 connections for reads
 * and 7 of 8 for writes in a pool of 10, and a connection is left for the next one.
 */
const SHARE = 6

interface LaneState {
  readonly capacity: number
  /** One entry for each connection in use: searching it costs less than maintaining counts by caller and by request. */
  readonly running: Work[]
  readonly queue: FairQueue
}

/**
 * Decides which work gets a connection next. Reads cannot occupy the connections reserved for writes, nor writes those
 * reserved for reads. No caller and no request can occupy a whole lane.
 */
export class Scheduler {
  readonly #options: SchedulerOptions
  readonly #lanes: Readonly<Record<Lane, LaneState>>
  readonly #deadlines: Deadlines

  constructor(options: SchedulerOptions) {
    this.#options = options
    this.#deadlines = new Deadlines(options.acquire)
    const { forReads, forWrites } = reservedConnections(options.max)
    this.#lanes = { read: openLane(options.max - forWrites), write: openLane(options.max - forReads) }
  }

  get waiting(): number {
    return this.#lanes.read.queue.size + this.#lanes.write.queue.size
  }

  /** True: the work may run now and counts as running until `leave`. */
  tryEnter(work: Work): boolean {
    const lane = this.#lanes[work.lane]
    const free = this.#freeIn(lane)
    if (free <= 0 || !mayCaller(lane, work.caller, free) || this.#isAtLimit(lane, work.request)) return false
    lane.running.push(work)
    return true
  }

  /** Resolves when the work may run. Rejects on timeout or abort. */
  wait(work: Work): Promise<void> {
    const { queue } = this.#lanes[work.lane]
    return new Promise((resolve, reject) => {
      const expire = () => {
        if (this.#isHeldBack(work)) {
          this.#deadlines.add(waiter, expire)
          return
        }
        queue.remove(waiter)
        reject(isAborted(work) ? abortedFailure() : busyFailure())
      }
      const waiter: Waiter = {
        work,
        admit: () => {
          this.#deadlines.delete(waiter)
          this.#lanes[work.lane].running.push(work)
          resolve()
        },
        abort: () => {
          this.#deadlines.delete(waiter)
          reject(abortedFailure())
        },
      }
      this.#deadlines.add(waiter, expire)
      queue.add(waiter)
    })
  }

  /** The work has ended: the next may begin. */
  leave(work: Work): void {
    const { running } = this.#lanes[work.lane]
    const last = running.pop()
    if (last !== undefined && last !== work) running[running.lastIndexOf(work)] = last
    if (this.waiting > 0) this.#admitWaiting()
  }

  #freeIn({ capacity, running }: LaneState): number {
    const { read, write } = this.#lanes
    return Math.min(capacity - running.length, this.#options.max - read.running.length - write.running.length)
  }

  #isAtLimit({ running }: LaneState, request: Work['request']): boolean {
    const { perRequest } = this.#options
    if (request === null || running.length < perRequest) return false
    let count = 0
    for (const work of running) if (work.request === request) count++
    return count >= perRequest
  }

  /** A freed connection may suit either lane. Reads come first: they are many and short. */
  #admitWaiting(): void {
    for (const lane of [this.#lanes.read, this.#lanes.write]) {
      const admission: Admission = {
        mayCaller: caller => mayCaller(lane, caller, this.#freeIn(lane)),
        mayRequest: request => !this.#isAtLimit(lane, request),
      }
      while (this.#freeIn(lane) > 0) {
        const next = lane.queue.take(admission)
        if (!next) break
        if (isAborted(next.work)) next.abort()
        else next.admit()
      }
    }
  }

  /** It waits for other statements of its own request, which has a time limit of its own. */
  #isHeldBack(work: Work): boolean {
    return this.#isAtLimit(this.#lanes[work.lane], work.request) && !isAborted(work)
  }
}

const openLane = (capacity: number): LaneState => ({ capacity, running: [], queue: new FairQueue() })

function mayCaller({ running }: LaneState, caller: Work['caller'], free: number): boolean {
  const limit = SHARE * free
  if (caller === null || running.length < limit) return true
  let count = 0
  for (const work of running) if (work.caller === caller) count++
  return count < limit
}

/** A fifth of the pool serves only reads, and a tenth only writes. A pool of one or two has too few to reserve both. */
function reservedConnections(max: number): { readonly forReads: number; readonly forWrites: number } {
  return {
    forReads: max < 2 ? 0 : Math.max(1, Math.floor(max / 5)),
    forWrites: max < 3 ? 0 : Math.max(1, Math.floor(max / 10)),
  }
}

/** The caller has left, so the failure is neither an error of the server nor logged as one. */
export const abortedFailure = (): DatabaseFailure =>
  new DatabaseFailure({ kind: 'aborted', message: 'The caller left before the statement began' })

const busyFailure = (): DatabaseFailure =>
  new DatabaseFailure({ kind: 'busy', message: 'No database connection became free in time' })

interface Deadline {
  /** In milliseconds of performance.now(). */
  readonly at: number
  readonly expire: () => void
}

/**
 * Deadlines of equal length, so that they expire in the order in which they were added. One timer serves all of them: a
 * timer for each waiter would cost more than the wait.
 */
class Deadlines {
  readonly #milliseconds: number
  readonly #pending = new Map<object, Deadline>()
  #timer: NodeJS.Timeout | undefined

  constructor(milliseconds: number) {
    this.#milliseconds = milliseconds
  }

  add(key: object, expire: () => void): void {
    this.#pending.set(key, { at: performance.now() + this.#milliseconds, expire })
    this.#timer ??= this.#schedule(this.#milliseconds)
  }

  delete(key: object): void {
    this.#pending.delete(key)
  }

  /** Does not keep the process alive. */
  #schedule(milliseconds: number): NodeJS.Timeout {
    return setTimeout(() => this.#expire(), milliseconds).unref()
  }

  #expire(): void {
    this.#timer = undefined
    for (const [key, { at, expire }] of this.#pending) {
      const left = at - performance.now()
      if (left > 0) {
        this.#timer ??= this.#schedule(Math.ceil(left))
        return
      }
      this.#pending.delete(key)
      expire()
    }
  }
}

/** Work that waits for a connection. */
interface Waiter {
  readonly work: Work
  admit(): void
  /** Rejects the wait because its caller left. */
  abort(): void
}

interface Admission {
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
class FairQueue {
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
