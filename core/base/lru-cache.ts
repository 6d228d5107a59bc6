import { bytesOf, ownText } from './detach-string.ts'

export interface Bounds {
  readonly entries: number
  /** Bytes of memory of all keys and values together, as `sizeOf` counts those of a value. */
  readonly bytes: number
}

/** Bytes that an entry takes beside its value and the characters of its key. */
export const ENTRY = 150

interface Entry<Value> {
  readonly key: string
  readonly value: Value
  readonly size: number
}

/** Keeps values by text within bounds: the least recently used go. What is too large by itself is not kept. */
export class BoundedMap<Value> {
  readonly #entries = new Map<string, Entry<Value>>()
  readonly #bounds: Bounds
  readonly #sizeOf: (value: Value) => number
  #bytes = 0

  constructor(bounds: Bounds, sizeOf: (value: Value) => number) {
    this.#bounds = bounds
    this.#sizeOf = sizeOf
  }

  get size(): number {
    return this.#entries.size
  }

  get bytes(): number {
    return this.#bytes
  }

  /** Moves it to the young end, under the key that it was kept by: the one that is asked for may be part of a request. */
  get(key: string): Value | undefined {
    const entry = this.#entries.get(key)
    if (entry === undefined) return undefined
    this.#entries.delete(entry.key)
    this.#entries.set(entry.key, entry)
    return entry.value
  }

  set(key: string, value: Value): void {
    this.#drop(this.#entries.get(key))
    const size = ENTRY + bytesOf(key) + this.#sizeOf(value)
    if (size > this.#bounds.bytes / 8) return
    const own = ownText(key)
    this.#entries.set(own, { key: own, value, size })
    this.#bytes += size
    for (const oldest of this.#entries.values()) {
      if (this.#entries.size <= this.#bounds.entries && this.#bytes <= this.#bounds.bytes) return
      this.#drop(oldest)
    }
  }

  delete(key: string): void {
    this.#drop(this.#entries.get(key))
  }

  #drop(entry: Entry<Value> | undefined): void {
    if (entry === undefined) return
    this.#entries.delete(entry.key)
    this.#bytes -= entry.size
  }
}
