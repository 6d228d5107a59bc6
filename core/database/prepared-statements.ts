/**
 * The names of one connection's prepared statements: short, by text, the least recently used go.
 * A name is never used twice on a connection, so a late answer cannot meet the wrong statement.
 */
export class PreparedStatements {
  readonly #names = new Map<string, string>()
  readonly #prefix: string
  readonly #limit: number
  #count = 0

  constructor(prefix: string, limit: number) {
    this.#prefix = prefix
    this.#limit = limit
  }

  get size(): number {
    return this.#names.size
  }

  /** The name of a text, made when it has none. Moves it to the young end. */
  nameOf(text: string): string {
    const known = this.#names.get(text)
    if (known !== undefined) {
      this.#names.delete(text)
      this.#names.set(text, known)
      return known
    }
    const name = `${this.#prefix}${++this.#count}`
    this.#names.set(text, name)
    return name
  }

  /** Takes out the oldest name while there are too many. */
  evict(): string | undefined {
    if (this.#names.size <= this.#limit) return undefined
    const [oldest] = this.#names
    if (oldest === undefined) return undefined
    this.#names.delete(oldest[0])
    return oldest[1]
  }

  /** Takes out the name of a text that the server no longer knows, or knows with a stale plan. */
  forget(text: string): string | undefined {
    const name = this.#names.get(text)
    this.#names.delete(text)
    return name
  }
}
