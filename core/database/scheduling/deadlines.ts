interface Deadline {
  /** As of performance.now(). */
  readonly at: number
  readonly expire: () => void
}

/**
 * Deadlines that are all equally far away when they begin, so that they expire in the order in which they were added:
 * one timer serves all of them, where a timer of its own would cost each waiter more than the wait.
 */
export class Deadlines {
  readonly #milliseconds: number
  readonly #pending = new Map<object, Deadline>()
  #timer: NodeJS.Timeout | undefined

  constructor(milliseconds: number) {
    this.#milliseconds = milliseconds
  }

  add(key: object, expire: () => void): void {
    this.#pending.set(key, { at: performance.now() + this.#milliseconds, expire })
    this.#timer ??= this.#watch(this.#milliseconds)
  }

  delete(key: object): void {
    this.#pending.delete(key)
  }

  /** Does not keep the process alive: what is waited for does. */
  #watch(milliseconds: number): NodeJS.Timeout {
    return setTimeout(() => this.#expire(), milliseconds).unref()
  }

  #expire(): void {
    this.#timer = undefined
    for (const [key, { at, expire }] of this.#pending) {
      const left = at - performance.now()
      if (left > 0) {
        this.#timer ??= this.#watch(Math.ceil(left))
        return
      }
      this.#pending.delete(key)
      expire()
    }
  }
}
