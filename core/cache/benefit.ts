import { LruCache } from '../base/lru-cache.ts'

/** Answers that were outdated before their next use, after which their cost is compared with what the hits saved. */
const SAMPLE = 64

/** Reads without the cache after the first comparison that went against it; doubled for each further one. */
const FIRST_PAUSE = 64
const LONGEST_PAUSE = 1024

/** The extra cost of reading an answer in order to cache it (versions, copy, entity tag), as a share of a version check. */
const COST_OF_CACHING = 0.25

/** The least share of a read that a hit saves: the database builds no answer. */
const LEAST_SAVING = 0.1

/** With fewer hits for each outdated answer than this, times decide: those of answers with and without caching. */
const CLEAR_HITS = 4

/** Comparisons after which the time of answers without caching is measured again: the load changes. */
const COMPARISONS = 16

/**
 * Compares, for queries of one shape, what hits save with what caching costs. With frequent writes an expensive list is
 * worth caching with one hit in a hundred, a single document only if it is read again before the next write. Where that
 * is close, some reads are answered without the cache, and the times of answers are compared.
 */
export class Benefit {
  #hits = 0
  #outdated = 0
  /** Milliseconds, as moving averages: they follow the load of the database. */
  #checkTime = 0
  #readTime = 0
  #cachedTime = 0
  #plainTime = 0
  #comparisons = 0
  #pause = FIRST_PAUSE
  #suspendedReads = 0

  /** Caching costs more than it saves: answers are neither checked nor stored for some reads. */
  get isSuspended(): boolean {
    return this.#suspendedReads > 0
  }

  /** Counts a read while caching is suspended; false if it is not. */
  countSuspended(): boolean {
    if (this.#suspendedReads === 0) return false
    this.#suspendedReads--
    return true
  }

  /** A cached answer was current. `milliseconds`: of the version check. */
  recordHit(milliseconds: number): void {
    this.#hits++
    this.#checkTime = average(this.#checkTime, milliseconds)
  }

  /** A cached answer was outdated and was read again, in so many milliseconds. */
  recordOutdated(milliseconds: number): void {
    this.#readTime = average(this.#readTime, milliseconds)
    if (++this.#outdated < SAMPLE) return
    if (this.#isLosing()) {
      this.#suspendedReads = this.#pause
      this.#pause = Math.min(2 * this.#pause, LONGEST_PAUSE)
    } else {
      this.#pause = FIRST_PAUSE
      if (this.#shouldMeasure()) this.#suspendedReads = SAMPLE
    }
    this.#hits = this.#outdated = this.#cachedTime = 0
  }

  /** A request of this shape was answered, whether by a hit, by another's read or by its own. */
  recordAnswer(milliseconds: number, wasSuspended: boolean): void {
    if (wasSuspended) this.#plainTime = average(this.#plainTime, milliseconds)
    else this.#cachedTime = average(this.#cachedTime, milliseconds)
  }

  #isLosing(): boolean {
    const checkTime = this.#checkTime || this.#readTime
    const saved = Math.max(this.#readTime - checkTime, LEAST_SAVING * this.#readTime)
    if (this.#hits * saved < this.#outdated * COST_OF_CACHING * checkTime) return true
    return this.#isClose && this.#plainTime > 0 && this.#cachedTime > this.#plainTime
  }

  get #isClose(): boolean {
    return this.#hits < CLEAR_HITS * this.#outdated
  }

  /** True if the time of answers without caching is unknown, or too old. Without the other there is nothing to compare. */
  #shouldMeasure(): boolean {
    if (!this.#isClose || this.#cachedTime === 0) return false
    if (this.#plainTime > 0 && ++this.#comparisons < COMPARISONS) return false
    this.#comparisons = this.#plainTime = 0
    return true
  }
}

const average = (before: number, now: number): number => (before === 0 ? now : before + (now - before) / 32)

const LIMITS = { entries: 2000, bytes: 2_000_000 } as const

/** The benefit of caching queries of a shape, by the text of their statement. */
export function openBenefits(): (text: string) => Benefit {
  const benefits = new LruCache<Benefit>(LIMITS, () => 200)
  return text => benefits.getOrCreate(text, () => new Benefit())
}
