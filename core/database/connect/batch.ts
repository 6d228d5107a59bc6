import type { Statement } from '../../sql/statement.ts'
import type { Cell, Rows } from '../database.ts'

/** `tag`: the first word of the command tag. */
export interface StatementResult extends Rows {
  readonly tag: string
}

export interface BatchItem {
  readonly statement: Statement
  /** null: sent unprepared. */
  readonly prepared: PreparedStatement | null
}

/** The part of pg's protocol layer that a batch writes to. */
export interface BatchWire {
  readonly stream: { cork(): void; uncork(): void }
  parse(message: { readonly name: string; readonly text: string }): void
  bind(message: { readonly statement: string; readonly values: readonly WireValue[] }): void
  describe(message: { readonly type: 'P' }): void
  execute(message: object): void
  sync(): void
}

type WireValue = string | Buffer | null

/** The server's messages do not match what was sent: the connection is unusable. */
export class ProtocolError extends Error {
  override readonly name = 'ProtocolError'

  constructor(why: string, cause?: unknown) {
    super(`Connection terminated: the server does not follow the protocol (${why})`, { cause })
  }
}

type Done = (error: Error | null) => void

/**
 * Statements that are sent together and answered together (PostgreSQL manual, 55.2.3). After one fails, the rest do not
 * run. A query of pg's own would ask for the columns of a prepared statement at every run; a batch remembers them from the
 * first. pg calls the methods.
 */
export class Batch {
  /** pg's name for the milliseconds to wait for an answer. */
  readonly query_timeout: number
  /** pg wraps it to stop its timer. */
  callback: Done
  isSent = false
  readonly #items: readonly BatchItem[]
  readonly #results: StatementResult[] = []
  #rows: Cell[][] = []
  #parsers: readonly CellParser[] | null = null

  constructor(items: readonly BatchItem[], timeout: number, callback: Done) {
    this.#items = items
    this.query_timeout = timeout
    this.callback = callback
  }

  /** Returns an error if nothing was sent. */
  submit(wire: BatchWire): Error | null {
    const bound = bindValues(this.#items)
    if (bound instanceof Error) return bound
    wire.stream.cork()
    this.isSent = true
    for (const [index, { statement, prepared }] of this.#items.entries()) {
      const name = prepared?.name ?? ''
      const isKnown = prepared !== null && (prepared.parsers !== null || prepared.parsedIn === this)
      if (!isKnown) wire.parse({ name, text: statement.text })
      if (prepared && !isKnown) prepared.parsedIn = this
      wire.bind({ statement: name, values: bound[index] ?? [] })
      if (!prepared?.parsers) wire.describe({ type: 'P' })
      wire.execute({})
    }
    wire.sync()
    wire.stream.uncork()
    this.#start()
    return null
  }

  /** Results of the statements so far. If the batch failed, the next statement is the one that failed. */
  get results(): readonly StatementResult[] {
    return this.#results
  }

  handleRowDescription({ fields }: { readonly fields: readonly { readonly dataTypeID: number }[] }): void {
    this.#parsers = fields.map(({ dataTypeID }) => cellParser(dataTypeID))
  }

  handleDataRow({ fields }: { readonly fields: readonly (string | null)[] }): void {
    const parsers = this.#parsers
    if (fields.length !== parsers?.length) throw new ProtocolError('a row has not a value for each column')
    this.#rows.push(fields.map((text, index) => (text === null ? null : (parsers[index]?.(text) ?? text))))
  }

  handleCommandComplete({ text }: { readonly text: string }): void {
    const prepared = this.#items[this.#results.length]?.prepared
    if (prepared) prepared.parsers = this.#parsers ?? []
    const end = text.indexOf(' ')
    const tag = end < 0 ? text : text.slice(0, end)
    this.#results.push({ rows: this.#rows, count: Number(text.slice(text.lastIndexOf(' ') + 1)) || 0, tag })
    this.#start()
  }

  handleEmptyQuery(): void {
    this.handleCommandComplete({ text: '' })
  }

  handleReadyForQuery(): void {
    if (this.#results.length === this.#items.length) this.callback(null)
    // pg considers the batch finished, so it would ignore a thrown error.
    else this.callback(new ProtocolError('not each statement was answered once'))
  }

  handleError(error: Error): void {
    this.callback(error)
  }

  #start(): void {
    this.#rows = []
    this.#parsers = this.#items[this.#results.length]?.prepared?.parsers ?? null
  }
}

/** A statement that a connection has prepared or is about to prepare. */
export interface PreparedStatement {
  readonly name: string
  /** Parsers of its columns; null before the first answer. */
  parsers: readonly CellParser[] | null
  /** The last batch that sent its text. */
  parsedIn: Batch | null
}

/**
 * The prepared statements of one connection, by their text, with short names. The least recently used are evicted.
 * A name is never reused on a connection, so a late error cannot concern the wrong statement.
 */
export class PreparedStatements {
  readonly #statements = new Map<string, PreparedStatement>()
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

  /** Marks the text as the most recently used. */
  get(text: string): PreparedStatement {
    const known = this.#statements.get(text)
    if (known !== undefined) {
      this.#statements.delete(text)
      this.#statements.set(text, known)
      return known
    }
    const created: PreparedStatement = {
      name: `${this.#prefix}${++this.#count}`,
      parsers: null,
      parsedIn: null,
    }
    this.#statements.set(text, created)
    return created
  }

  /** Removes the oldest above the limit, except the `kept` youngest. Yields their names. */
  *evict(kept: number): Generator<string> {
    for (const [text, { name }] of this.#statements) {
      if (this.#statements.size <= Math.max(this.#limit, kept)) return
      this.#statements.delete(text)
      yield name
    }
  }

  /** Returns the removed statement's name. */
  forget(text: string): string | undefined {
    const known = this.#statements.get(text)
    this.#statements.delete(text)
    return known?.name
  }
}

/** Runs before anything is sent: an invalid value must not leave half a batch on the wire. */
function bindValues(items: readonly BatchItem[]): readonly (readonly WireValue[])[] | Error {
  try {
    return items.map(({ statement }) => statement.values.map(toWireValue))
  } catch (error) {
    if (error instanceof Error) return error
    throw error
  }
}

/** PostgreSQL's text form; bytes stay bytes. */
function toWireValue(value: unknown): WireValue {
  switch (typeof value) {
    case 'string':
      return value
    case 'number':
    case 'boolean':
    case 'bigint':
      return String(value)
    case 'object':
      return value === null || Buffer.isBuffer(value) ? value : objectToText(value)
    case 'undefined':
      return null
    default:
      throw new TypeError(`PostgreSQL has no form for a ${typeof value}`)
  }
}

function objectToText(value: object): string {
  if (Array.isArray(value)) return `{${value.map(toArrayElement).join(',')}}`
  return value instanceof Date ? value.toISOString() : JSON.stringify(value)
}

function toArrayElement(value: unknown): string {
  if (Array.isArray(value)) return objectToText(value)
  const sent = toWireValue(value)
  if (sent === null) return 'NULL'
  if (typeof sent !== 'string') return `"\\\\x${sent.toString('hex')}"`
  return typeof value === 'number' || typeof value === 'boolean'
    ? sent
    : `"${sent.replace(/[\\"]/g, '\\$&')}"`
}

export type CellParser = (text: string) => Cell

const asText: CellParser = text => text
const asNumber: CellParser = text => Number(text)
const asBoolean: CellParser = text => text === 't'

/** Counts fit. Larger integers stay text, so that they keep all digits. */
const asSafeInteger: CellParser = text => {
  const number = Number(text)
  return Number.isSafeInteger(number) ? number : text
}

/** By type oid (pg_type): bool, int8, int2, int4, oid, float4, float8. All other types stay text. */
const PARSERS = new Map<number, CellParser>([
  [16, asBoolean],
  [20, asSafeInteger],
  [21, asNumber],
  [23, asNumber],
  [26, asNumber],
  [700, asNumber],
  [701, asNumber],
])

const cellParser = (oid: number): CellParser => PARSERS.get(oid) ?? asText
