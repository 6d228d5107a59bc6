import type { Statement } from '../../sql/statement.ts'
import { ProtocolError } from '../connect/batch.ts'
import { type BatchResult, type Connection, NO_ROWS, runBatch, settingsOf } from '../connection.ts'
import type { Rows, TransactionOptions } from '../database.ts'
import { DatabaseFailure, toFailure } from '../database-fault.ts'
import { type Lsn, READ_LSN, toLsn } from '../lsn.ts'
import { FAILED_TRANSACTION } from '../sqlstate.ts'
import { commitFailure } from './commit-outcome.ts'

interface PendingStatement {
  readonly statement: Statement
  readonly resolve: (rows: Rows) => void
  readonly reject: (error: unknown) => void
}

export interface QueueOptions {
  /** Milliseconds; see runBatch. */
  readonly timeout: number
  /** True if the commit also reads the WAL position that follows it. */
  readonly readsPosition: boolean
  /** The name of a nested transaction's savepoint; absent: a transaction of its own. */
  readonly savepoint?: string
}

/** The answer is not awaited. */
const UNAWAITED = { resolve: () => undefined, reject: () => undefined } as const

/** The statements of a transaction. Those requested in the same tick are sent in one round trip, in their order. */
export class StatementQueue {
  readonly #connection: Connection
  readonly #options: TransactionOptions
  readonly #timeout: number
  readonly #readsPosition: boolean
  readonly #savepoint: string | undefined
  #pending: PendingStatement[] = []
  /** True if a pending statement's answer is awaited. */
  #isAwaited = false
  #isBegun = false
  /** True if generic plans were enabled. */
  #keepsPlans = false
  #isOver = false
  /** The failure of a batch with an unawaited statement, or of a nested transaction that could not be undone: later statements report it. */
  #failure: unknown

  constructor(connection: Connection, options: TransactionOptions, settings: QueueOptions) {
    this.#connection = connection
    this.#options = options
    this.#timeout = settings.timeout
    this.#savepoint = settings.savepoint
    this.#readsPosition = settings.readsPosition && !options.readonly && !settings.savepoint
  }

  run(statement: Statement): Promise<Rows> {
    if (this.#isOver) return Promise.reject(new DatabaseFailure(OVER))
    return new Promise((resolve, reject) => {
      // After all code that is ready to run has added its statements.
      if (!this.#isAwaited) process.nextTick(() => this.#isAwaited && this.flush())
      this.#isAwaited = true
      this.#pending.push({ statement, resolve, reject })
    })
  }

  /** Is sent with the next awaited statement, at the latest with the commit, which fails if this statement does. */
  send(statement: Statement): void {
    if (this.#isOver) throw new DatabaseFailure(OVER)
    this.#pending.push({ statement, ...UNAWAITED })
  }

  /** Nothing can be committed any more, for this reason. */
  fail(failure: unknown): void {
    this.#failure ??= failure
  }

  /** The same as `flush`, before a statement that does not pass the queue. Throws if the transaction is over. */
  begin(): void {
    if (this.#isOver) throw new DatabaseFailure(OVER)
    this.flush()
  }

  /** Sends the pending statements, and BEGIN if it was not sent. */
  flush(): void {
    if (this.#isBegun && this.#pending.length === 0) return
    // Each statement's own promise rejects. A failed BEGIN shows in all later statements.
    this.#send(this.#first(), []).catch(() => undefined)
  }

  /**
   * Commits together with the pending statements, in one round trip. If these are all statements, their batch is an
   * implicit transaction (PostgreSQL manual, 55.2.3). Resolves to the position after the commit if it is read. Fails with
   * the outcome `unknown` if the COMMIT may have been carried out although its answer was lost.
   */
  async commit(): Promise<Lsn | null> {
    if (this.#mayBeOneBatch) return this.#commitAtOnce()
    const end = this.#savepoint === undefined ? COMMIT : releaseSavepoint(this.#savepoint)
    const last = this.#readsPosition ? [end, READ_LSN] : [end]
    const { result, count } = this.#dispatch(this.#first(), [...this.#guards, ...last])
    const answered = await result
    const commitAt = count - last.length
    const isOrderly = !(answered.error instanceof ProtocolError)
    const isCommitted = isOrderly && end.text.startsWith(answered.results[commitAt]?.tag ?? 'nothing')
    if (answered.error && !isCommitted) throw this.#failed(answered, commitAt)
    if (!isCommitted) throw new DatabaseFailure(SWALLOWED)
    // The connection was lost after the COMMIT was answered.
    if (answered.error) this.#connection.isInvalid = true
    return toLsn(answered.results[count - 1]?.rows[0]?.[0])
  }

  get #mayBeOneBatch(): boolean {
    return !this.#isBegun && isPlain(this.#options) && !this.#readsPosition && this.#savepoint === undefined
  }

  get isBegun(): boolean {
    return this.#isBegun
  }

  /** No more statements follow. Returns whether there is anything to commit. */
  finish(): boolean {
    this.#isOver = true
    if (this.#failure !== undefined) throw this.#failure
    return this.#isBegun || this.#pending.length > 0
  }

  async #commitAtOnce(): Promise<null> {
    const { result, count } = this.#dispatch(settingsOf(this.#connection), this.#guards)
    const answered = await result
    if (answered.error) throw this.#failed(answered, count)
    return null
  }

  get #guards(): readonly Statement[] {
    const { guard } = this.#options
    // A nested transaction is guarded by the outer one.
    return guard === undefined || this.#savepoint !== undefined ? [] : [guard]
  }

  #failed(result: BatchResult, commitAt: number): DatabaseFailure {
    return commitFailure(result, { connection: this.#connection, commitAt })
  }

  /** Rejects statements that were not sent. */
  end(): void {
    this.#isOver = true
    for (const { reject } of this.#pending) reject(new DatabaseFailure(OVER))
    this.#pending = []
  }

  #first(): readonly Statement[] {
    if (this.#isBegun) return []
    if (this.#savepoint !== undefined) return [{ text: `SAVEPOINT ${this.#savepoint}`, values: [] }]
    return begin(this.#options, settingsOf(this.#connection))
  }

  /** The settings that must precede the pending statements. */
  #plans(): readonly Statement[] {
    if (this.#keepsPlans || !this.#options.byKeys) return []
    this.#keepsPlans = this.#pending.some(({ statement }) => !statement.keepsPlan)
    return this.#keepsPlans ? [KEEP_PLANS] : []
  }

  async #send(beginning: readonly Statement[], last: readonly Statement[]): Promise<void> {
    const { error } = await this.#dispatch(beginning, last).result
    if (error) throw toFailure(error)
  }

  #dispatch(beginning: readonly Statement[], last: readonly Statement[]): Dispatched {
    const first = [...beginning, ...this.#plans()]
    const pending = this.#pending
    this.#pending = []
    this.#isAwaited = false
    this.#isBegun = true
    const statements = [...first, ...pending.map(({ statement }) => statement), ...last]
    const result = runBatch(this.#connection, statements, this.#timeout).then(answered => {
      this.#settle(pending, answered, first.length)
      return answered
    })
    return { result, count: statements.length }
  }

  #settle(pending: readonly PendingStatement[], { error, results }: BatchResult, first: number): void {
    if (!error) {
      for (const [index, { resolve }] of pending.entries()) resolve(results[first + index] ?? NO_ROWS)
      return
    }
    const failure = this.#failure ?? toFailure(error)
    if (pending.some(({ resolve }) => resolve === UNAWAITED.resolve)) this.#failure = failure
    for (const { reject } of pending) reject(failure)
  }
}

interface Dispatched {
  readonly result: Promise<BatchResult>
  /** The number of statements in the batch. */
  readonly count: number
}

const COMMIT: Statement = { text: 'COMMIT', values: [] }

const releaseSavepoint = (savepoint: string): Statement => ({
  text: `RELEASE SAVEPOINT ${savepoint}`,
  values: [],
})

const OVER = { kind: 'other', message: 'The transaction is over', code: '25P01' } as const

const SWALLOWED = {
  kind: 'other',
  message: 'A statement of the transaction failed, and its error was swallowed: nothing is committed',
  code: FAILED_TRANSACTION,
} as const

const isPlain = ({ isolation, readonly, statementTimeout }: TransactionOptions): boolean =>
  isolation === undefined && !readonly && statementTimeout === undefined

function begin(options: TransactionOptions, settings: readonly Statement[]): readonly Statement[] {
  const { readonly, statementTimeout } = options
  // A pooler's server may have another default, which settings inside of the transaction are too late to change.
  const isolation = options.isolation ?? (settings.length > 0 ? 'read committed' : undefined)
  const level = isolation === undefined ? '' : ` ISOLATION LEVEL ${isolation.toUpperCase()}`
  const access = readonly ? ' READ ONLY' : ''
  const limit = statementTimeout === undefined ? [] : [Math.trunc(statementTimeout)]
  return [
    { text: `BEGIN${level}${access}`, values: [] },
    ...settings,
    ...limit.map(each => ({ text: `SET LOCAL statement_timeout = ${each}`, values: [] })),
  ]
}

/**
 * PostgreSQL plans a statement with list parameters again at every run: it estimates the generic plan, for lists of any
 * length, as more expensive than it is. Planning takes as long as a write itself. A kept plan must suit a table that was
 * empty when it was made, so it uses indexes.
 */
const KEEP_PLANS: Statement = {
  name: 'keep plans that go by keys',
  text: `SELECT ${[
    ['plan_cache_mode', 'force_generic_plan'],
    ['enable_seqscan', 'off'],
    ['enable_hashjoin', 'off'],
    ['enable_mergejoin', 'off'],
  ]
    .map(([setting, value]) => `set_config('${setting}', '${value}', true)`)
    .join(', ')}`,
  values: [],
}
