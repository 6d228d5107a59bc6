import { LruCache } from '../base/lru-cache.ts'

/** So often are tables found written, hits taken off, before they count as written all the time. */
const PATIENCE = 8

/** Of reads of such tables one in so many finds out whether they have come to rest. */
const PROBE = 32

/** How often tables are written, as far as it shows in their version. */
export class Pulse {
  /** Whether the total of a list stood still when it was last read. */
  isTotalCalm = false
  #last: string | null = null
  #moves = 0
  #reads = 0

  /** Whether to ask after an answer of this version: not where another one is known to have come after it. */
  mayStand(version: string): boolean {
    return !this.isRestless && (this.#last === null || this.#last === version)
  }

  /** Keeping answers is not worth its cost: the next one is out of date. */
  get isRestless(): boolean {
    return this.#moves >= PATIENCE
  }

  /** Whether the next read of restless tables is to find out their version. */
  takesProbe(): boolean {
    return ++this.#reads % PROBE === 0
  }

  /** A kept answer was asked after. */
  sawProof(version: string, isHit: boolean): void {
    this.#last = version
    this.#moves = isHit ? Math.max(0, this.#moves - 1) : this.#moves + 1
  }

  /** An answer was read, with the version of its tables. */
  sawRead(version: string): void {
    const isMoved = this.#last !== null && this.#last !== version
    if (isMoved) this.#moves++
    else if (this.isRestless) this.#moves = this.#reads = 0
    this.#last = version
  }
}

const BOUNDS = { entries: 2000, bytes: 2_000_000 } as const

/** That of tables together, by the SQL that answers their version. */
export function openPulses(): (sql: string) => Pulse {
  const pulses = new LruCache<Pulse>(BOUNDS, () => 100)
  return sql => {
    const before = pulses.get(sql)
    if (before) return before
    const pulse = new Pulse()
    pulses.set(sql, pulse)
    return pulse
  }
}
