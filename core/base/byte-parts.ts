/** Parts that are joined: a client can send each byte as a part of its own, which takes some 280 bytes of memory. */
const MAX_PARTS = 1_024

/** Bytes that arrive in parts. They take about their own size in memory, however small the parts are. */
export class ByteParts {
  readonly #joined: Buffer[] = []
  readonly #parts: Buffer[] = []

  add(part: Buffer): void {
    if (this.#parts.push(part) === MAX_PARTS) this.#joined.push(Buffer.concat(this.#parts.splice(0)))
  }

  toBuffer(): Buffer {
    return Buffer.concat([...this.#joined, ...this.#parts])
  }
}
