import { LruCache } from '../base/lru-cache.ts'

// Decides whether an answer is worth caching: by earlier reads of it, by how often its tables are written, and by what hits save.

/** Records the key; true if it was probably recorded before. */
type Doorkeeper = (key: string) => boolean

/** 256 kB, whatever the number of keys. */
const SLOTS = 2 ** 16

/** Keys that share a slot replace each other. A forgotten or mistaken key costs one read, so that is acceptable. */
export function openDoorkeeper(): Doorkeeper {
  const hashes = new Int32Array(SLOTS)
  return key => {
    const hash = hashKey(key)
    const slot = hash & (SLOTS - 1)
    const isSeen = hashes[slot] === hash
    hashes[slot] = hash
    return isSeen
  }
}

/** FNV-1a over UTF-16 code units. */
function hashKey(key: string): number {
  let hash = 0x811c9dc5
  for (let at = 0; at < key.length; at++) hash = Math.imul(hash ^ key.charCodeAt(at), 0x01000193)
  return hash ^ (hash >>> 16)
}

/** Memory for write rates, and for benefits. */
const LIMITS = { entries: 2000, bytes: 2_000_000 } as const

/** Version changes minus cache hits after which tables count as volatile. */
const VOLATILE_SCORE = 8

/** One of so many reads of volatile tables checks whether they are still volatile. */
const PROBE_INTERVAL = 32

/**
 * Estimates from observed versions how often some tables are written. `isProvable`: an answer may be current although its
 * tables were written, so only outdated answers count.
 */
export class WriteRate {
  /** True if the total of a list was unchanged at its last read. */
  isTotalStable = false
  #lastVersion: string | null = null
  #score = 0
  #reads = 0
  readonly #isProvable: boolean

  constructor(isProvable = false) {
    this.#isProvable = isProvable
  }

  /** True if an answer of this version is worth a version check. */
  maybeCurrent(version: string): boolean {
    if (this.isVolatile) return false
    return this.#isProvable || this.#lastVersion === null || this.#lastVersion === version
  }

  /** The tables are written so often that cached answers are outdated before they are used. */
  get isVolatile(): boolean {
    return this.#score >= VOLATILE_SCORE
  }

  /** Counts a read of volatile tables; true if this one should fetch their version. */
  shouldProbe(): boolean {
    if (++this.#reads % PROBE_INTERVAL !== 0) return false
    // The next read checks whether the answer is still current, because equal versions are not needed.
    if (this.#isProvable) this.#score = VOLATILE_SCORE - 1
    return true
  }

  /** The version of a cached answer was checked. */
  recordCheck(version: string, isHit: boolean): void {
    this.#lastVersion = version
    this.#score = isHit ? Math.max(0, this.#score - 1) : this.#score + 1
  }

  /** An answer was read together with the version of its tables. */
  recordRead(version: string): void {
    const isChanged = this.#lastVersion !== null && this.#lastVersion !== version
    if (isChanged && !this.#isProvable) this.#score++
    else if (this.isVolatile) this.#score = this.#reads = 0
    this.#lastVersion = version
  }
}

/** The write rate of a set of tables by their names, or of a statement by its text. */
export function openWriteRates(): (key: string, isProvable: boolean) => WriteRate {
  const rates = new LruCache<WriteRate>(LIMITS, () => 100)
  return (key, isProvable) => rates.getOrCreate(key, () => new WriteRate(isProvable))
}

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

/** The benefit of caching queries of a shape, by the text of their statement. */
export function openBenefits(): (text: string) => Benefit {
  const benefits = new LruCache<Benefit>(LIMITS, () => 200)
  return text => benefits.getOrCreate(text, () => new Benefit())
}
