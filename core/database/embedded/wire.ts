/** The few parts of PostgreSQL's wire protocol that stand between pg and a backend in the process. */

/** https://www.postgresql.org/docs/current/protocol-message-formats.html, by their first byte. */
const QUERY = 0x51
const SYNC = 0x53
const TERMINATE = 0x58
const READY = 0x5a

/** What a client has sent, cut where an answer is due. */
export interface Batch {
  readonly bytes: Buffer
  /** `query` awaits an answer up to ReadyForQuery; `terminate` is a goodbye. */
  readonly kind: 'startup' | 'query' | 'terminate'
}

/** Cuts a client's bytes into batches: the startup message, then everything up to each Sync or Query. */
export class BatchReader {
  #pending: Buffer = Buffer.alloc(0)
  #started = false

  read(bytes: Buffer): readonly Batch[] {
    this.#pending = this.#pending.length === 0 ? bytes : Buffer.concat([this.#pending, bytes])
    const batches: Batch[] = []
    for (let batch = this.#next(); batch; batch = this.#next()) batches.push(batch)
    return batches
  }

  #next(): Batch | undefined {
    if (!this.#started) return this.#nextStartup()
    let at = 0
    while (at + 5 <= this.#pending.length) {
      const type = this.#pending[at]
      at += 1 + this.#pending.readUInt32BE(at + 1)
      if (at > this.#pending.length) return undefined
      if (type === TERMINATE) return this.#take(at, 'terminate')
      if (type === QUERY || type === SYNC) return this.#take(at, 'query')
    }
    return undefined
  }

  /** The startup message alone has no type byte. */
  #nextStartup(): Batch | undefined {
    if (this.#pending.length < 4) return undefined
    const end = this.#pending.readUInt32BE(0)
    if (end > this.#pending.length) return undefined
    this.#started = true
    return this.#take(end, 'startup')
  }

  #take(end: number, kind: Batch['kind']): Batch {
    const bytes = this.#pending.subarray(0, end)
    this.#pending = this.#pending.subarray(end)
    return { bytes, kind }
  }
}

/** The status at the end of an answer: `I` idle, `T` in a transaction, `E` in a failed one. */
export function statusOf(answer: Buffer): 'I' | 'T' | 'E' {
  const status = answer[answer.length - 6] === READY ? answer[answer.length - 1] : undefined
  if (status === 0x54) return 'T'
  return status === 0x45 ? 'E' : 'I'
}

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
