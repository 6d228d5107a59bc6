import type { DatabaseSettings } from '../../project/settings/settings.ts'
import { DatabaseFailure } from '../database-fault.ts'
import { Deadlines } from './deadlines.ts'
import { type Admission, FairQueue, type Waiter } from './fair-queue.ts'
import { isAbandoned, type Lane, type Work } from './scheduled-work.ts'

export interface SchedulerTerms {
  /** Connections. */
  readonly max: number
  /** Statements, and transactions, that one request may have running at the same time. */
  readonly perRequest: number
  /** Milliseconds to wait for a connection. */
  readonly acquire: number
}

export const schedulerTerms = (max: number, { pool, limits }: Pick<DatabaseSettings, 'pool' | 'limits'>) => ({
  max,
  perRequest: limits.statements,
  acquire: pool.acquire,
})

/**
 * A caller may start more work only while it has less than this many times the connections that are still free
 * (dynamic thresholds, Choudhury and Hahne 1998): a caller that is alone gets most of its lane, 8 of 9 connections for
 * reads and 7 of 8 for writes in a pool of 10, and there is a connection left for the next one.
 */
const SHARE = 6

/** Counts of what runs in one lane. */
interface LaneState {
  readonly capacity: number
  running: number
  readonly byCaller: Map<string, number>
  readonly byRequest: Map<object, number>
  readonly queue: FairQueue
}

/**
 * Decides which work gets a connection next. Reads cannot occupy the connections reserved for writes, nor writes those
 * for reads; no caller and no request can occupy a whole lane. Work that may run at once costs some counters.
 */
export class Scheduler {
  readonly #terms: SchedulerTerms
  readonly #lanes: Readonly<Record<Lane, LaneState>>
  #running = 0
  readonly #deadlines: Deadlines

  constructor(terms: SchedulerTerms) {
    this.#terms = terms
    this.#deadlines = new Deadlines(terms.acquire)
    const { forReads, forWrites } = reservedOf(terms.max)
    this.#lanes = { read: openLane(terms.max - forWrites), write: openLane(terms.max - forReads) }
  }

  get waiting(): number {
    return this.#lanes.read.queue.size + this.#lanes.write.queue.size
  }

  /** null: it may run now. Else resolves when it may; rejects on timeout or abort. */
  enter(work: Work): Promise<void> | null {
    if (!this.#mayRun(work)) return this.#wait(work)
    this.#begin(work)
    return null
  }

  /** The work has ended: the next may begin. */
  leave(work: Work): void {
    const lane = this.#lanes[work.lane]
    this.#running--
    lane.running--
    if (work.caller !== null) subtract(lane.byCaller, work.caller)
    if (work.request) subtract(lane.byRequest, work.request)
    if (this.waiting > 0) this.#admitWaiting()
  }

  #mayRun({ lane: name, caller, request }: Work): boolean {
    const lane = this.#lanes[name]
    if (this.#freeIn(lane) <= 0) return false
    return (caller === null || this.#mayCaller(lane, caller)) && !this.#isAtLimit(lane, request)
  }

  #freeIn({ capacity, running }: LaneState): number {
    return Math.min(capacity - running, this.#terms.max - this.#running)
  }

  #mayCaller(lane: LaneState, caller: string): boolean {
    return (lane.byCaller.get(caller) ?? 0) < SHARE * this.#freeIn(lane)
  }

  #isAtLimit({ byRequest }: LaneState, request: Work['request']): boolean {
    return request !== null && (byRequest.get(request) ?? 0) >= this.#terms.perRequest
  }

  #begin({ lane: name, caller, request }: Work): void {
    const lane = this.#lanes[name]
    this.#running++
    lane.running++
    if (caller !== null) add(lane.byCaller, caller)
    if (request) add(lane.byRequest, request)
  }

  /** A freed connection may suit either lane. Reads come first: they are many and short. */
  #admitWaiting(): void {
    for (const lane of [this.#lanes.read, this.#lanes.write]) {
      const admission: Admission = {
        mayCaller: caller => this.#mayCaller(lane, caller),
        mayRequest: request => !this.#isAtLimit(lane, request),
      }
      while (this.#freeIn(lane) > 0) {
        const next = lane.queue.take(admission)
        if (!next) break
        if (isAbandoned(next.work)) next.abandon()
        else next.admit()
      }
    }
  }

  #wait(work: Work): Promise<void> {
    const { queue } = this.#lanes[work.lane]
    return new Promise((resolve, reject) => {
      const giveUp = () => {
        if (this.#isHeldBack(work)) {
          this.#deadlines.add(waiter, giveUp)
          return
        }
        queue.remove(waiter)
        reject(isAbandoned(work) ? abandoned() : tooBusy())
      }
      const waiter: Waiter = {
        work,
        admit: () => {
          this.#deadlines.delete(waiter)
          this.#begin(work)
          resolve()
        },
        abandon: () => {
          this.#deadlines.delete(waiter)
          reject(abandoned())
        },
      }
      this.#deadlines.add(waiter, giveUp)
      queue.add(waiter)
    })
  }

  /** It waits for other statements of its own request, which has a time limit of its own. */
  #isHeldBack(work: Work): boolean {
    return this.#isAtLimit(this.#lanes[work.lane], work.request) && !isAbandoned(work)
  }
}

const openLane = (capacity: number): LaneState => ({
  capacity,
  running: 0,
  byCaller: new Map(),
  byRequest: new Map(),
  queue: new FairQueue(),
})

/** A fifth of the pool serves only reads, and a tenth only writes. A pool of one or two has too few to reserve both. */
function reservedOf(max: number): { readonly forReads: number; readonly forWrites: number } {
  return {
    forReads: max < 2 ? 0 : Math.max(1, Math.floor(max / 5)),
    forWrites: max < 3 ? 0 : Math.max(1, Math.floor(max / 10)),
  }
}

function add<Key>(counts: Map<Key, number>, key: Key): void {
  counts.set(key, (counts.get(key) ?? 0) + 1)
}

function subtract<Key>(counts: Map<Key, number>, key: Key): void {
  const left = (counts.get(key) ?? 0) - 1
  if (left > 0) counts.set(key, left)
  else counts.delete(key)
}

/** Instead of an SQLSTATE. */
export const ABANDONED = 'ABANDONED'

export const abandoned = (): DatabaseFailure =>
  new DatabaseFailure({ kind: 'timeout', message: 'Nobody waits for the statement', code: ABANDONED })

const tooBusy = (): DatabaseFailure =>
  new DatabaseFailure({ kind: 'busy', message: 'No database connection became free in time' })
