import { DatabaseFailure } from '../database-fault.ts'

/** Bytes of an answer's beginning that are kept while it arrives: the error message names the path that they contain. */
const SAMPLE = 256 * 1024

/**
 * Counts the bytes of one answer as they arrive and stops the statement at the first byte above the limit. So an answer
 * that is too large is neither read to its end nor decoded.
 */
export class AnswerSizeLimit {
  readonly #exceed: () => void
  #maxBytes = Number.POSITIVE_INFINITY
  #bytes = 0
  #sample: Buffer[] = []

  /** `exceed` is called at the first byte above the limit. */
  constructor(stream: DataStream, exceed: () => void) {
    this.#exceed = exceed
    stream.on('data', bytes => this.#count(bytes))
  }

  begin(maxBytes: number): void {
    this.#maxBytes = maxBytes
    this.#bytes = 0
    if (this.#sample.length > 0) this.#sample = []
  }

  /** Returns the failure if the answer was too large. */
  end(): DatabaseFailure | null {
    const sample = this.#sample
    const [bytes, maxBytes] = [this.#bytes, this.#maxBytes]
    this.#maxBytes = Number.POSITIVE_INFINITY
    if (sample.length > 0) this.#sample = []
    return bytes > maxBytes ? tooLargeFailure(maxBytes, sample) : null
  }

  #count(part: Buffer): void {
    if (this.#maxBytes === Number.POSITIVE_INFINITY) return
    if (this.#bytes < SAMPLE) this.#sample.push(part)
    const isWithin = this.#bytes <= this.#maxBytes
    this.#bytes += part.length
    if (isWithin && this.#bytes > this.#maxBytes) this.#exceed()
  }
}

interface DataStream {
  on(event: 'data', listener: (bytes: Buffer) => void): unknown
}

/** `sample`: the beginning of the answer. */
export function tooLargeFailure(bytes: number, sample: readonly Buffer[]): DatabaseFailure {
  const message = `The answer has more than ${bytes} bytes`
  const seen = { sample: Buffer.concat(sample).toString() }
  return new DatabaseFailure({ kind: 'too-large', message, bytes, seen })
}
