import { detachString, memoryBytes } from './text.ts'

export interface LruLimits {
  readonly entries: number
  /** Bytes of memory of all keys and values together; `sizeOf` measures a value. */
  readonly bytes: number
}

/** Bytes that an entry takes in addition to its value and the characters of its key. */
export const ENTRY_OVERHEAD = 150

interface Entry<Value> {
  readonly key: string
  readonly value: Value
  readonly size: number
}

/** A cache by text that evicts the least recently used entries. It does not store a value larger than an eighth of `bytes`. */
export class LruCache<Value> {
  readonly #entries = new Map<string, Entry<Value>>()
  readonly #limits: LruLimits
  readonly #sizeOf: (value: Value) => number
  #bytes = 0

  constructor(limits: LruLimits, sizeOf: (value: Value) => number) {
    this.#limits = limits
    this.#sizeOf = sizeOf
  }

  get size(): number {
    return this.#entries.size
  }

  get bytes(): number {
    return this.#bytes
  }

  /** Marks the entry as most recently used. Keeps the stored key: `key` may be a substring that holds a whole request alive. */
  get(key: string): Value | undefined {
    const entry = this.#entries.get(key)
    if (entry === undefined) return undefined
    this.#entries.delete(entry.key)
    this.#entries.set(entry.key, entry)
    return entry.value
  }

  set(key: string, value: Value): void {
    this.#drop(this.#entries.get(key))
    const size = ENTRY_OVERHEAD + memoryBytes(key) + this.#sizeOf(value)
    if (size > this.#limits.bytes / 8) return
    const detached = detachString(key)
    this.#entries.set(detached, { key: detached, value, size })
    this.#bytes += size
    for (const oldest of this.#entries.values()) {
      if (this.#entries.size <= this.#limits.entries && this.#bytes <= this.#limits.bytes) return
      this.#drop(oldest)
    }
  }

  /** The value of the key; stores a created one if there is none. */
  getOrCreate(key: string, create: () => Value): Value {
    const known = this.get(key)
    if (known !== undefined) return known
    const created = create()
    this.set(key, created)
    return created
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
