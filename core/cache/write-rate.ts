import { LruCache } from '../base/lru-cache.ts'

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

const RATE_LIMITS = { entries: 2000, bytes: 2_000_000 } as const

/** The write rate of a set of tables by their names, or of a statement by its text. */
export function openWriteRates(): (key: string, isProvable: boolean) => WriteRate {
  const rates = new LruCache<WriteRate>(RATE_LIMITS, () => 100)
  return (key, isProvable) => rates.getOrCreate(key, () => new WriteRate(isProvable))
}
