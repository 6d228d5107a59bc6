import { hash } from 'node:crypto'

/** Share of the places that may be taken. */
const LOAD = 0.6

export interface Indexed {
  /** Which of its kind it is, from 1. */
  readonly ordinal: number
  /** 0: none. */
  readonly key: number
}

/**
 * Numbers by text, in 24 bytes a text: of millions of documentIds a Map would keep each one. Texts are told apart by 96
 * bits of a digest.
 */
export class KeyIndex {
  #high = new Float64Array(1024)
  #low = new Float64Array(1024)
  #ordinals = new Int32Array(1024)
  #keys = new Int32Array(1024)
  #size = 0

  /** false: it was there already, and stays as it was. */
  add(text: string, indexed: Indexed): boolean {
    if (this.#size >= this.#high.length * LOAD) this.#grow()
    const [high, low] = digestOf(text)
    const place = this.#placeOf(high, low)
    if (this.#low[place] !== 0) return false
    this.#put(place, high, low, indexed)
    this.#size += 1
    return true
  }

  get(text: string): Indexed | undefined {
    const place = this.#placeOf(...digestOf(text))
    if (this.#low[place] === 0) return undefined
    return { ordinal: this.#ordinals[place] ?? 0, key: this.#keys[place] ?? 0 }
  }

  #placeOf(high: number, low: number): number {
    const places = this.#high.length
    let place = low % places
    while (this.#low[place] !== 0 && (this.#low[place] !== low || this.#high[place] !== high))
      place = (place + 1) % places
    return place
  }

  #put(place: number, high: number, low: number, { ordinal, key }: Indexed): void {
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

/** The lower one is never 0, which marks a free place. */
function digestOf(text: string): readonly [high: number, low: number] {
  const digest = hash('md5', text, 'buffer')
  return [digest.readUIntBE(0, 6), digest.readUIntBE(6, 6) + 1]
}
