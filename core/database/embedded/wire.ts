/** The parts of PostgreSQL's wire protocol that are needed between pg and a backend in this process. */

/** First bytes of messages: https://www.postgresql.org/docs/current/protocol-message-formats.html. */
const QUERY = 0x51
const SYNC = 0x53
const TERMINATE = 0x58
const READY = 0x5a
const ERROR = 0x45
const NOTIFICATION = 0x41

/** Messages of a client up to the point where it expects an answer. */
export interface ClientBatch {
  readonly bytes: Buffer
  /** `query` expects an answer up to ReadyForQuery; `terminate` expects none. */
  readonly kind: 'startup' | 'query' | 'terminate'
}

/** Splits a client's bytes into batches: the startup message, then everything up to each Sync or Query. */
export class BatchReader {
  #pending: Buffer = NO_BYTES
  /** Contains `#pending` if a batch arrives in several chunks. */
  #buffer: Buffer = NO_BYTES
  /** The offset in `#pending` of the first message that was incomplete. */
  #at = 0
  #started = false

  read(bytes: Buffer): readonly ClientBatch[] {
    this.#append(bytes)
    const batches: ClientBatch[] = []
    for (let batch = this.#next(); batch; batch = this.#next()) batches.push(batch)
    return batches
  }

  /** Linear time in total: the buffer doubles, so each byte is copied a few times at most. */
  #append(bytes: Buffer): void {
    const kept = this.#pending
    const size = kept.length + bytes.length
    if (kept.length === 0) {
      this.#pending = bytes
      return
    }
    const fits =
      kept.buffer === this.#buffer.buffer &&
      kept.byteOffset + size <= this.#buffer.byteOffset + this.#buffer.length
    if (!fits) {
      // Not from the shared pool of small buffers: the bytes after `kept` must be free.
      this.#buffer = Buffer.allocUnsafeSlow(2 * size)
      kept.copy(this.#buffer)
    }
    const start = fits ? kept.byteOffset - this.#buffer.byteOffset : 0
    bytes.copy(this.#buffer, start + kept.length)
    this.#pending = this.#buffer.subarray(start, start + size)
  }

  #next(): ClientBatch | undefined {
    if (!this.#started) return this.#nextStartup()
    while (this.#at + 5 <= this.#pending.length) {
      const type = this.#pending[this.#at]
      const end = this.#at + 1 + this.#pending.readUInt32BE(this.#at + 1)
      if (end > this.#pending.length) return undefined
      this.#at = end
      if (type === TERMINATE) return this.#take(end, 'terminate')
      if (type === QUERY || type === SYNC) return this.#take(end, 'query')
    }
    return undefined
  }

  /** The startup message has no type byte. */
  #nextStartup(): ClientBatch | undefined {
    if (this.#pending.length < 4) return undefined
    const end = this.#pending.readUInt32BE(0)
    if (end > this.#pending.length) return undefined
    this.#started = true
    return this.#take(end, 'startup')
  }

  #take(end: number, kind: ClientBatch['kind']): ClientBatch {
    const bytes = this.#pending.subarray(0, end)
    this.#pending = this.#pending.subarray(end)
    this.#at = 0
    if (this.#pending.length === 0) this.#buffer = NO_BYTES
    return { bytes, kind }
  }
}

const NO_BYTES: Buffer = Buffer.alloc(0)

/** The status at the end of an answer: `I` idle, `T` in a transaction, `E` in a failed one. */
export function statusOf(answer: Buffer): 'I' | 'T' | 'E' {
  const status = answer[answer.length - 6] === READY ? answer[answer.length - 1] : undefined
  if (status === 0x54) return 'T'
  return status === 0x45 ? 'E' : 'I'
}

/** True if an answer contains an error. */
export const hasError = (answer: Buffer): boolean => hasMessage(answer, ERROR)

/** True if an answer contains a NOTIFY that the session listens to. */
export const hasNotification = (answer: Buffer): boolean => hasMessage(answer, NOTIFICATION)

const ENDS = new Set(['FATAL', 'PANIC'])

/** The message of the error with which PostgreSQL stopped; null: it goes on. */
export function stopReason(answer: Buffer): string | null {
  if (answer[answer.length - 6] === READY) return null
  for (let at = 0; at + 5 <= answer.length; at += 1 + answer.readUInt32BE(at + 1)) {
    if (answer[at] !== ERROR) continue
    const fields = answer.toString('utf8', at + 5, at + 1 + answer.readUInt32BE(at + 1)).split('\0')
    const fieldOf = (code: string) => fields.find(field => field.startsWith(code))?.slice(1) ?? ''
    if (ENDS.has(fieldOf('V'))) return fieldOf('M')
  }
  return null
}

function hasMessage(answer: Buffer, type: number): boolean {
  for (let at = 0; at + 5 <= answer.length; at += 1 + answer.readUInt32BE(at + 1))
    if (answer[at] === type) return true
  return false
}

/** An ErrorResponse that ends the connection, with admin_shutdown, as a stopping server sends it. */
export const fatal = (text: string): Buffer =>
  message('E', `SFATAL\0VFATAL\0C57P01\0M${text.replaceAll('\0', '')}\0\0`)

/** AuthenticationOk, the parameters that clients read, and ReadyForQuery. */
export function greeting(serverVersion: string): Buffer {
  const parameters = {
    server_version: serverVersion,
    server_encoding: 'UTF8',
    client_encoding: 'UTF8',
    standard_conforming_strings: 'on',
    integer_datetimes: 'on',
  }
  const statuses = Object.entries(parameters).map(([name, value]) => message('S', `${name}\0${value}\0`))
  return Buffer.concat([message('R', '\0\0\0\0'), ...statuses, message('Z', 'I')])
}

export const simpleQuery = (text: string): Buffer => message('Q', `${text}\0`)

function message(type: string, body: string): Buffer {
  const bytes = Buffer.from(`${type}\0\0\0\0${body}`)
  bytes.writeUInt32BE(bytes.length - 1, 1)
  return bytes
}
