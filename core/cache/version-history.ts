import { type Change, changesSince, type ShardState } from './changes.ts'

/** States of one set of tables that are remembered. An answer of an older one is outdated. */
const MAX_STATES = 256

/** A version with the versions of its shards, by `table shard`. */
export interface VersionState {
  /** '': none is known. */
  readonly version: string
  readonly shards: ReadonlyMap<string, string>
}

const NOTHING_KNOWN: VersionState = { version: '', shards: new Map() }

/** The versions of some tables that were observed one after the other, and the changes between them. */
export class VersionHistory {
  #head = NOTHING_KNOWN
  /** The changes that led to each version. */
  #changes: (readonly Change[])[] = []
  /** The position of the first element of `#changes`. */
  #start = 0
  readonly #positions = new Map<string, number>()

  get head(): VersionState {
    return this.#head
  }

  /**
   * Adds an observed version. `difference`: the shards that differ from those of `base`, which was the head when the
   * statement was sent. If the changes since the head are unknown, the history starts again.
   */
  add(base: VersionState, version: string, difference: readonly ShardState[]): void {
    if (this.#positions.has(version)) return
    const shards = new Map(base.shards)
    for (const [table, shard, current] of difference) shards.set(`${table} ${shard}`, current)
    const changes = sumOf(shards) === BigInt(version) ? changesBetween(this.#head, shards, difference) : null
    if (changes === null) this.#restart()
    this.#positions.set(version, this.#start + this.#changes.length)
    this.#changes.push(changes ?? [])
    // Without all shards, a later difference cannot be checked: it is read as a whole again.
    this.#head = sumOf(shards) === BigInt(version) ? { version, shards } : NOTHING_KNOWN
    if (this.#changes.length > MAX_STATES) this.#forgetOldest()
  }

  has(version: string): boolean {
    return this.#positions.has(version)
  }

  /** The changes after a version until another one; null: unknown. */
  changes(from: string, until: string): readonly (readonly Change[])[] | null {
    const [first, last] = [this.#positions.get(from), this.#positions.get(until)]
    if (first === undefined || last === undefined || first > last) return null
    return this.#changes.slice(first + 1 - this.#start, last + 1 - this.#start)
  }

  #restart(): void {
    this.#start += this.#changes.length
    this.#changes = []
    this.#positions.clear()
  }

  #forgetOldest(): void {
    const [oldest] = this.#positions.keys()
    if (oldest !== undefined) this.#positions.delete(oldest)
    this.#changes.shift()
    this.#start++
  }
}

const sumOf = (shards: ReadonlyMap<string, string>): bigint =>
  [...shards.values()].reduce((sum, version) => sum + BigInt(version), 0n)

/** The shards of the head may be newer than `base` of the difference, or than the difference: then the changes are unknown. */
function changesBetween(
  head: VersionState,
  shards: ReadonlyMap<string, string>,
  difference: readonly ShardState[],
): readonly Change[] | null {
  if (head.version === '') return null
  const states = new Map(difference.map(state => [`${state[0]} ${state[1]}`, state]))
  const found: Change[] = []
  for (const key of new Set([...shards.keys(), ...head.shards.keys()])) {
    const [from, to] = [head.shards.get(key) ?? '0', shards.get(key)]
    if (from === to) continue
    const state = states.get(key)
    const changes = state ? changesSince(state, from) : null
    if (changes === null) return null
    found.push(...changes)
  }
  return found
}
