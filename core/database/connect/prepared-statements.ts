import type { CellParser } from './cell-types.ts'

/** A statement that a connection has prepared, or is about to. */
export interface Prepared {
  readonly name: string
  /** How its columns are read; null until the server has answered it once. */
  parsers: readonly CellParser[] | null
}

/**
 * One connection's prepared statements: short names, by text, the least recently used go.
 * A name is never used twice on a connection, so a late answer cannot meet the wrong statement.
 */
export class PreparedStatements {
  readonly #statements = new Map<string, Prepared>()
  readonly #prefix: string
  readonly #limit: number
  #count = 0

  constructor(prefix: string, limit: number) {
    this.#prefix = prefix
    this.#limit = limit
  }

  get size(): number {
    return this.#statements.size
  }

  /** That of a text, named when it has none. Moves it to the young end. */
  of(text: string): Prepared {
    const known = this.#statements.get(text)
    if (known !== undefined) {
      this.#statements.delete(text)
      this.#statements.set(text, known)
      return known
    }
    const made: Prepared = { name: `${this.#prefix}${++this.#count}`, parsers: null }
    this.#statements.set(text, made)
    return made
  }

  /** Takes out the oldest while there are too many, but for so many of the youngest; their names. */
  *evict(kept: number): Generator<string> {
    for (const [text, { name }] of this.#statements) {
      if (this.#statements.size <= Math.max(this.#limit, kept)) return
      this.#statements.delete(text)
      yield name
    }
  }

  /** Takes out a text that the server no longer knows, or knows with a stale plan; its name. */
  forget(text: string): string | undefined {
    const known = this.#statements.get(text)
    this.#statements.delete(text)
    return known?.name
  }
}
