import { LruCache } from '../base/lru-cache.ts'

/** Version changes minus cache hits after which tables count as volatile. */
const VOLATILE_SCORE = 8

/** One of so many reads of volatile tables checks whether they are still volatile. */
const PROBE_INTERVAL = 32

/** Estimates from observed versions how often some tables are written. */
export class WriteRate {
  /** True if the total of a list was unchanged at its last read. */
  isTotalStable = false
  #lastVersion: string | null = null
  #score = 0
  #reads = 0

  /** True if an answer of this version is worth a version check. */
  maybeCurrent(version: string): boolean {
    return !this.isVolatile && (this.#lastVersion === null || this.#lastVersion === version)
  }

  /** The tables are written so often that cached answers are outdated before they are used. */
  get isVolatile(): boolean {
    return this.#score >= VOLATILE_SCORE
  }

  /** Counts a read of volatile tables; true if this one should fetch their version. */
  shouldProbe(): boolean {
    return ++this.#reads % PROBE_INTERVAL === 0
  }

  /** The version of a cached answer was checked. */
  recordCheck(version: string, isHit: boolean): void {
    this.#lastVersion = version
    this.#score = isHit ? Math.max(0, this.#score - 1) : this.#score + 1
  }

  /** An answer was read together with the version of its tables. */
  recordRead(version: string): void {
    const isChanged = this.#lastVersion !== null && this.#lastVersion !== version
    if (isChanged) this.#score++
    else if (this.isVolatile) this.#score = this.#reads = 0
    this.#lastVersion = version
  }
}

const RATE_LIMITS = { entries: 2000, bytes: 2_000_000 } as const

/** The write rate of a set of tables, by the SQL expression of their version. */
export function openWriteRates(): (versionSql: string) => WriteRate {
  const rates = new LruCache<WriteRate>(RATE_LIMITS, () => 100)
  return versionSql => {
    const known = rates.get(versionSql)
    if (known) return known
    const rate = new WriteRate()
    rates.set(versionSql, rate)
    return rate
  }
}
