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

/**
 * Compares, for queries of one shape, what hits save with what caching costs. With frequent writes an expensive list is
 * worth caching with one hit in a hundred, a single document only if it is read again before the next write.
 */
export class Benefit {
  #hits = 0
  #outdated = 0
  /** Milliseconds, as moving averages: they follow the load of the database. */
  #checkTime = 0
  #readTime = 0
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
    const checkTime = this.#checkTime || this.#readTime
    const saved = Math.max(this.#readTime - checkTime, LEAST_SAVING * this.#readTime)
    if (this.#hits * saved < this.#outdated * COST_OF_CACHING * checkTime) {
      this.#suspendedReads = this.#pause
      this.#pause = Math.min(2 * this.#pause, LONGEST_PAUSE)
    } else this.#pause = FIRST_PAUSE
    this.#hits = this.#outdated = 0
  }
}

const average = (before: number, now: number): number => (before === 0 ? now : before + (now - before) / 16)

const LIMITS = { entries: 2000, bytes: 2_000_000 } as const

/** The benefit of caching queries of a shape, by the text of their statement. */
export function openBenefits(): (text: string) => Benefit {
  const benefits = new LruCache<Benefit>(LIMITS, () => 200)
  return text => {
    const known = benefits.get(text)
    if (known) return known
    const benefit = new Benefit()
    benefits.set(text, benefit)
    return benefit
  }
}
