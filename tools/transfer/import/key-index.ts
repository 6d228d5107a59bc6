import { hash } from 'node:crypto'

/** The maximum load factor of the hash table. */
const LOAD = 0.6

/** The number of texts whose numbers are kept in a Map, too. */
const RECENT = 4_096

export interface IndexedKey {
  /** The position among those of its type, from 1. */
  readonly ordinal: number
  /** 0: none. */
  readonly key: number
}

/**
 * Maps texts to numbers in 24 bytes per text: a Map would keep millions of documentIds in memory. Texts are identified by 96
 * bits of their digest.
 */
export class KeyIndex {
  #high = new Float64Array(1024)
  #low = new Float64Array(1024)
  #ordinals = new Int32Array(1024)
  #keys = new Int32Array(1024)
  #size = 0
  /** Found of late: links lead to the same documents again and again, and a digest costs more than a look into a Map. */
  readonly #recent = new Map<string, IndexedKey>()

  /** Returns false if the text already exists; its number is unchanged. */
  add(text: string, indexed: IndexedKey): boolean {
    if (this.#size >= this.#high.length * LOAD) this.#grow()
    const [high, low] = digestOf(text)
    const place = this.#placeOf(high, low)
    if (this.#low[place] !== 0) return false
    this.#put(place, high, low, indexed)
    this.#size += 1
    return true
  }

  get(text: string): IndexedKey | undefined {
    const recent = this.#recent.get(text)
    if (recent) return recent
    const place = this.#placeOf(...digestOf(text))
    if (this.#low[place] === 0) return undefined
    const found = { ordinal: this.#ordinals[place] ?? 0, key: this.#keys[place] ?? 0 }
    if (this.#recent.size >= RECENT) this.#recent.clear()
    this.#recent.set(text, found)
    return found
  }

  #placeOf(high: number, low: number): number {
    const places = this.#high.length
    let place = low % places
    while (this.#low[place] !== 0 && (this.#low[place] !== low || this.#high[place] !== high))
      place = (place + 1) % places
    return place
  }

  #put(place: number, high: number, low: number, { ordinal, key }: IndexedKey): void {
    this.#high[place] = high
    this.#low[place] = low
    this.#ordinals[place] = ordinal
    this.#keys[place] = key
  }

  #grow(): void {
    const [highs, lows, ordinals, keys] = [this.#high, this.#low, this.#ordinals, this.#keys]
    this.#high = new Float64Array(highs.length * 2)
    this.#low = new Float64Array(highs.length * 2)
    this.#ordinals = new Int32Array(highs.length * 2)
    this.#keys = new Int32Array(highs.length * 2)
    for (const [index, low] of lows.entries()) {
      if (low === 0) continue
      const high = highs[index] ?? 0
      const indexed = { ordinal: ordinals[index] ?? 0, key: keys[index] ?? 0 }
      this.#put(this.#placeOf(high, low), high, low, indexed)
    }
  }
}

/** A set of row ids. Rows that were numbered one after the other take a bit each. */
export class IdSet {
  readonly #words = new Map<number, number>()

  has(id: number): boolean {
    return ((this.#words.get(id >>> 5) ?? 0) & (1 << (id & 31))) !== 0
  }

  add(id: number): void {
    this.#words.set(id >>> 5, (this.#words.get(id >>> 5) ?? 0) | (1 << (id & 31)))
  }
}

/** The lower one is never 0, which marks a free slot. */
function digestOf(text: string): readonly [high: number, low: number] {
  const digest = hash('md5', text, 'buffer')
  return [digest.readUIntBE(0, 6), digest.readUIntBE(6, 6) + 1]
}
