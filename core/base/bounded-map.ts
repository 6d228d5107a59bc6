export interface Bounds {
  readonly entries: number
  /** Characters of all keys and values together, as `sizeOf` counts those of a value. */
  readonly characters: number
}

/** Keeps values by text within bounds: the least recently used go. What is too large by itself is not kept. */
export class BoundedMap<Value> {
  readonly #values = new Map<string, Value>()
  readonly #bounds: Bounds
  readonly #sizeOf: (value: Value) => number
  #characters = 0

  constructor(bounds: Bounds, sizeOf: (value: Value) => number) {
    this.#bounds = bounds
    this.#sizeOf = sizeOf
  }

  get size(): number {
    return this.#values.size
  }

  get characters(): number {
    return this.#characters
  }

  /** Moves it to the young end. */
  get(key: string): Value | undefined {
    const value = this.#values.get(key)
    if (value === undefined) return undefined
    this.#values.delete(key)
    this.#values.set(key, value)
    return value
  }

  set(key: string, value: Value): void {
    this.#drop(key)
    const size = key.length + this.#sizeOf(value)
    if (size > this.#bounds.characters / 8) return
    this.#values.set(key, value)
    this.#characters += size
    for (const oldest of this.#values.keys()) {
      if (this.#values.size <= this.#bounds.entries && this.#characters <= this.#bounds.characters) return
      this.#drop(oldest)
    }
  }

  #drop(key: string): void {
    const value = this.#values.get(key)
    if (value === undefined) return
    this.#values.delete(key)
    this.#characters -= key.length + this.#sizeOf(value)
  }
}
