import { DatabaseFailure } from '../database-fault.ts'

/** Bytes from the beginning of an answer that are kept until it has arrived: an error message says what they hold. */
const SAMPLE = 256 * 1024

/**
 * Counts the bytes of one answer as they arrive, and ends the statement at the first that is too many: an answer that
 * is too large is neither read to its end nor made a string. An answer of usual size costs one call.
 */
export class Received {
  readonly #exceed: () => void
  #most = Number.POSITIVE_INFINITY
  #bytes = 0
  #sample: Buffer[] = []

  /** `exceed` is called at the first byte that is too many. */
  constructor(stream: DataStream, exceed: () => void) {
    this.#exceed = exceed
    stream.on('data', bytes => this.#take(bytes))
  }

  begin(most: number): void {
    this.#most = most
    this.#bytes = 0
    if (this.#sample.length > 0) this.#sample = []
  }

  /** Forgets the answer. What it was, where it was too large. */
  end(): DatabaseFailure | null {
    const sample = this.#sample
    const [bytes, most] = [this.#bytes, this.#most]
    this.#most = Number.POSITIVE_INFINITY
    if (sample.length > 0) this.#sample = []
    return bytes > most ? tooLarge(most, sample) : null
  }

  #take(part: Buffer): void {
    if (this.#most === Number.POSITIVE_INFINITY) return
    if (this.#bytes < SAMPLE) this.#sample.push(part)
    const isWithin = this.#bytes <= this.#most
    this.#bytes += part.length
    if (isWithin && this.#bytes > this.#most) this.#exceed()
  }
}

interface DataStream {
  on(event: 'data', listener: (bytes: Buffer) => void): unknown
}

function tooLarge(bytes: number, sample: readonly Buffer[]): DatabaseFailure {
  const message = `The answer has more than ${bytes} bytes`
  return new DatabaseFailure({
    kind: 'too-large',
    message,
    bytes,
    seen: { sample: Buffer.concat(sample).toString() },
  })
}
