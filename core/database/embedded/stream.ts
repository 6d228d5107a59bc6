import { Duplex } from 'node:stream'
import type { BackendClient, EmbeddedBackend } from './backend.ts'
import { BatchReader, type ClientBatch } from './wire.ts'

/** A client's end of a connection to a backend in this process. pg uses it like a socket. */
export class EmbeddedStream extends Duplex implements BackendClient {
  readonly #backend: EmbeddedBackend
  readonly #greeting: Buffer
  readonly #reader = new BatchReader()
  readonly isForeign: boolean

  constructor(backend: EmbeddedBackend, greeting: Buffer, isForeign: boolean) {
    super()
    this.isForeign = isForeign
    this.#backend = backend
    this.#greeting = greeting
  }

  /** pg calls it and waits for the event. */
  connect(): this {
    setImmediate(() => this.emit('connect'))
    return this
  }

  setNoDelay(): this {
    return this
  }

  setKeepAlive(): this {
    return this
  }

  ref(): this {
    return this
  }

  unref(): this {
    return this
  }

  answer(bytes: Buffer): void {
    if (!this.destroyed) this.push(bytes)
  }

  fail(error: Error): void {
    this.destroy(error)
  }

  override _read(): void {}

  override _write(bytes: Buffer, _encoding: BufferEncoding, done: () => void): void {
    for (const batch of this.#reader.read(bytes)) this.#take(batch)
    done()
  }

  override _writev(chunks: { readonly chunk: Buffer }[], done: () => void): void {
    this._write(Buffer.concat(chunks.map(({ chunk }) => chunk)), 'binary', done)
  }

  override _final(done: () => void): void {
    this.push(null)
    done()
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#backend.leave(this)
    done(error)
  }

  #take({ kind, bytes }: ClientBatch): void {
    if (kind === 'startup') this.push(this.#greeting)
    else if (kind === 'query') this.#backend.submit(this, bytes)
    else this.#end()
  }

  /** The session is reset before the next batch. */
  #end(): void {
    this.#backend.leave(this)
    this.push(null)
  }
}
