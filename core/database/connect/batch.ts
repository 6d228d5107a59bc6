import type { Statement } from '../../sql/statement.ts'
import type { Cell, Rows } from '../database.ts'
import { type CellParser, cellParser } from './cell-types.ts'
import type { Prepared } from './prepared-statements.ts'
import { toWire } from './to-wire.ts'

/** What one statement of a batch answered. `tag`: its command tag's first word. */
export interface Outcome extends Rows {
  readonly tag: string
}

/** A statement with its prepared form; null: it is sent unprepared. */
export interface Item {
  readonly statement: Statement
  readonly prepared: Prepared | null
}

/** The part of pg's wire that a batch writes to. */
export interface BatchWire {
  readonly stream: { cork(): void; uncork(): void }
  parse(message: { readonly name: string; readonly text: string }): void
  bind(message: { readonly statement: string; readonly values: readonly (string | Buffer | null)[] }): void
  describe(message: { readonly type: 'P' }): void
  execute(message: object): void
  sync(): void
}

/** What comes from the server does not answer what it was sent: nothing more can be asked over this connection. */
export class ProtocolError extends Error {
  override readonly name = 'ProtocolError'

  constructor(why: string, cause?: unknown) {
    super(`Connection terminated: the server does not follow the protocol (${why})`, { cause })
  }
}

type Answer = (error: Error | null) => void

/**
 * Statements that go out at once and are answered at once (PostgreSQL's protocol, 55.2.3): where one fails, none
 * behind it runs. A query of pg's own would ask for the columns of a prepared statement at every run; here they are
 * known from the first. pg calls the methods.
 */
export class Batch {
  /** pg's word for how long an answer is waited for. */
  readonly query_timeout: number
  /** pg wraps it to stop its timer. */
  callback: Answer
  isSent = false
  readonly #items: readonly Item[]
  readonly #outcomes: Outcome[] = []
  #rows: Cell[][] = []
  #parsers: readonly CellParser[] | null = null

  constructor(items: readonly Item[], patience: number, callback: Answer) {
    this.#items = items
    this.query_timeout = patience
    this.callback = callback
  }

  /** Answers an error where nothing was sent. */
  submit(wire: BatchWire): Error | null {
    const bound = boundOf(this.#items)
    if (bound instanceof Error) return bound
    wire.stream.cork()
    this.isSent = true
    const parsed = new Set<Prepared>()
    for (const [index, { statement, prepared }] of this.#items.entries()) {
      const name = prepared?.name ?? ''
      const isKnown = prepared !== null && (prepared.parsers !== null || parsed.has(prepared))
      if (!isKnown) wire.parse({ name, text: statement.text })
      if (prepared) parsed.add(prepared)
      wire.bind({ statement: name, values: bound[index] ?? [] })
      if (!prepared?.parsers) wire.describe({ type: 'P' })
      wire.execute({})
    }
    wire.sync()
    wire.stream.uncork()
    this.#start()
    return null
  }

  /** Of the statements that were answered: the one behind them is the one that fails. */
  get outcomes(): readonly Outcome[] {
    return this.#outcomes
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
    const prepared = this.#items[this.#outcomes.length]?.prepared
    if (prepared) prepared.parsers = this.#parsers ?? []
    const words = text.split(' ')
    this.#outcomes.push({ rows: this.#rows, count: Number(words.at(-1)) || 0, tag: words[0] ?? '' })
    this.#start()
  }

  handleEmptyQuery(): void {
    this.handleCommandComplete({ text: '' })
  }

  handleReadyForQuery(): void {
    if (this.#outcomes.length === this.#items.length) this.callback(null)
    // pg considers the batch finished: an error that is thrown here would be lost.
    else this.callback(new ProtocolError('not each statement was answered once'))
  }

  handleError(error: Error): void {
    this.callback(error)
  }

  #start(): void {
    this.#rows = []
    this.#parsers = this.#items[this.#outcomes.length]?.prepared?.parsers ?? null
  }
}

/** Before anything is sent: a value that cannot be must not leave half a batch on the wire. */
function boundOf(items: readonly Item[]): readonly (readonly (string | Buffer | null)[])[] | Error {
  try {
    return items.map(({ statement }) => statement.values.map(toWire))
  } catch (error) {
    if (error instanceof Error) return error
    throw error
  }
}
