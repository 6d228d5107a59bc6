/** What an error answer says of the data: for certain nothing was written, or that cannot be known. */
export type WriteOutcome = 'not-written' | 'unknown'

/**
 * The writes of one request. Every transaction asks it before its COMMIT is sent, so that a request whose time is over
 * commits nothing afterwards, and an error answer can say whether the data was changed.
 */
export class WriteScope {
  #isClosed = false
  /** COMMITs that were sent, and whose answer is awaited. */
  #pending = 0
  /** Commits that succeeded, or whose answer was lost. */
  #written = 0
  readonly #onClose = new Set<() => void>()

  /** False: the COMMIT must not be sent. After true, `endCommit` has to follow. */
  beginCommit(): boolean {
    if (this.#isClosed) return false
    this.#pending++
    return true
  }

  endCommit(isWritten: boolean): void {
    this.#pending--
    if (isWritten) this.#written++
  }

  /** Calls this when the time of the request is over; answers how to take it back. */
  onClose(end: () => void): () => void {
    this.#onClose.add(end)
    return () => this.#onClose.delete(end)
  }

  /** The time of the request is over: from now on none of its transactions commits. */
  close(): void {
    this.#isClosed = true
    const ends = [...this.#onClose]
    this.#onClose.clear()
    for (const end of ends) end()
  }

  /** The request was answered and its code has returned: what runs on in the background is not its work. */
  detach(): void {
    this.#isClosed = false
  }

  get isClosed(): boolean {
    return this.#isClosed
  }

  /** How many commits of the request may have changed data until now. */
  get written(): number {
    return this.#written
  }

  /** Whether any commit was sent. */
  get outcome(): WriteOutcome {
    return this.#pending > 0 || this.#written > 0 ? 'unknown' : 'not-written'
  }
}
