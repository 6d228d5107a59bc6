import type { Statement } from '../../sql/statement.ts'
import { ProtocolError } from '../connect/batch.ts'
import { type BatchAnswer, type Connection, runBatch, settingsOf } from '../connection.ts'
import type { Rows, TransactionOptions } from '../database.ts'
import { DatabaseFailure } from '../database-fault.ts'
import { OWN_POSITION, type Position, toPosition } from '../lsn.ts'
import { toFailure } from '../to-failure.ts'
import { commitFailure } from './commit-outcome.ts'

interface Waiting {
  readonly statement: Statement
  readonly resolve: (rows: Rows) => void
  readonly reject: (error: unknown) => void
}

export interface QueueTerms {
  /** Milliseconds; see runBatch. */
  readonly patience: number
  /** Whether the commit answers where the log is after it. */
  readonly tellsPosition: boolean
  /** The name of the savepoint that it is inside of another transaction; absent: it is one of its own. */
  readonly savepoint?: string
}

/** Its answer is not awaited. */
const SENT = { resolve: () => undefined, reject: () => undefined } as const

/** The statements of a transaction: those asked for at the same moment go out in one round trip, in their order. */
export class StatementQueue {
  readonly #connection: Connection
  readonly #options: TransactionOptions
  readonly #patience: number
  readonly #tellsPosition: boolean
  readonly #savepoint: string | undefined
  #waiting: Waiting[] = []
  /** Whether somebody waits for an answer of what waits to be sent. */
  #isAwaited = false
  #isBegun = false
  /** Whether plans are kept from here on. */
  #keepsPlans = false
  #isOver = false
  /** A batch with a statement that is not awaited: later statements report its failure. */
  #failure: unknown

  constructor(connection: Connection, options: TransactionOptions, terms: QueueTerms) {
    this.#connection = connection
    this.#options = options
    this.#patience = terms.patience
    this.#savepoint = terms.savepoint
    this.#tellsPosition = terms.tellsPosition && !options.readonly && !terms.savepoint
  }

  run(statement: Statement): Promise<Rows> {
    if (this.#isOver) return Promise.reject(new DatabaseFailure(OVER))
    return new Promise((resolve, reject) => {
      // After all that is ready to go on has had its say.
      if (!this.#isAwaited) process.nextTick(() => this.#isAwaited && this.flush())
      this.#isAwaited = true
      this.#waiting.push({ statement, resolve, reject })
    })
  }

  /** Goes out with what is asked for next, at the latest with the commit, which fails where it does. */
  send(statement: Statement): void {
    if (this.#isOver) throw new DatabaseFailure(OVER)
    this.#waiting.push({ statement, ...SENT })
  }

  /** Sends what waits, and the beginning of the transaction where that is not yet sent. */
  flush(): void {
    if (this.#isBegun && this.#waiting.length === 0) return
    // Who asked is told; a beginning that fails shows in all that comes behind it.
    this.#send(this.#first(), []).catch(() => undefined)
  }

  /**
   * Commits with what waits, in one round trip. Where that is all there is, its batch is a transaction by itself
   * (55.2.3). Answers the position after it, where that is told and there was anything to commit. Fails with the
   * outcome `unknown` where the COMMIT may have been carried out although its answer did not come.
   */
  async commit(): Promise<Position | null> {
    if (this.#mayBeOneBatch) return this.#commitAtOnce()
    const end = this.#savepoint === undefined ? COMMIT : release(this.#savepoint)
    const last = this.#tellsPosition ? [end, OWN_POSITION] : [end]
    const { answer, count } = this.#dispatch(this.#first(), [...this.#guards, ...last])
    const answered = await answer
    const commitAt = count - last.length
    const isOrderly = !(answered.error instanceof ProtocolError)
    const isCommitted = isOrderly && end.text.startsWith(answered.outcomes[commitAt]?.tag ?? 'nothing')
    if (answered.error && !isCommitted) throw this.#failed(answered, commitAt)
    if (!isCommitted) throw new DatabaseFailure(SWALLOWED)
    // The COMMIT was answered before the connection was lost.
    if (answered.error) this.#connection._invalid = true
    return toPosition(answered.outcomes[count - 1]?.rows[0]?.[0])
  }

  get #mayBeOneBatch(): boolean {
    return !this.#isBegun && isPlain(this.#options) && !this.#tellsPosition && this.#savepoint === undefined
  }

  get isBegun(): boolean {
    return this.#isBegun
  }

  /** Everything has been asked for. Answers whether there is anything to commit. */
  finish(): boolean {
    this.#isOver = true
    if (this.#failure !== undefined) throw this.#failure
    return this.#isBegun || this.#waiting.length > 0
  }

  async #commitAtOnce(): Promise<null> {
    const { answer, count } = this.#dispatch(settingsOf(this.#connection), this.#guards)
    const answered = await answer
    if (answered.error) throw this.#failed(answered, count)
    return null
  }

  get #guards(): readonly Statement[] {
    const { guard } = this.#options
    // The transaction around it is compared as a whole.
    return guard === undefined || this.#savepoint !== undefined ? [] : [guard]
  }

  #failed(answer: BatchAnswer, commitAt: number): DatabaseFailure {
    return commitFailure(answer, { connection: this.#connection, commitAt })
  }

  /** What was not yet sent never is. */
  end(): void {
    this.#isOver = true
    for (const { reject } of this.#waiting) reject(new DatabaseFailure(OVER))
    this.#waiting = []
  }

  #first(): readonly Statement[] {
    if (this.#isBegun) return []
    if (this.#savepoint !== undefined) return [{ text: `SAVEPOINT ${this.#savepoint}`, values: [] }]
    return begin(this.#options, settingsOf(this.#connection))
  }

  /** What the statements that wait have to be told before. */
  #plans(): readonly Statement[] {
    if (this.#keepsPlans || !this.#options.byKeys) return []
    this.#keepsPlans = this.#waiting.some(({ statement }) => !statement.keepsPlan)
    return this.#keepsPlans ? [BY_KEYS] : []
  }

  async #send(beginning: readonly Statement[], last: readonly Statement[]): Promise<void> {
    const { error } = await this.#dispatch(beginning, last).answer
    if (error) throw toFailure(error)
  }

  #dispatch(beginning: readonly Statement[], last: readonly Statement[]): Dispatched {
    const first = [...beginning, ...this.#plans()]
    const waiting = this.#waiting
    this.#waiting = []
    this.#isAwaited = false
    this.#isBegun = true
    const statements = [...first, ...waiting.map(({ statement }) => statement), ...last]
    const answer = runBatch(this.#connection, statements, this.#patience).then(answered => {
      this.#settle(waiting, answered, first.length)
      return answered
    })
    return { answer, count: statements.length }
  }

  #settle(waiting: readonly Waiting[], { error, outcomes }: BatchAnswer, first: number): void {
    if (!error) {
      for (const [index, { resolve }] of waiting.entries()) resolve(outcomes[first + index] ?? NOTHING)
      return
    }
    const failure = this.#failure ?? toFailure(error)
    if (waiting.some(({ resolve }) => resolve === SENT.resolve)) this.#failure = failure
    for (const { reject } of waiting) reject(failure)
  }
}

interface Dispatched {
  readonly answer: Promise<BatchAnswer>
  /** How many statements went out. */
  readonly count: number
}

const NOTHING: Rows = { rows: [], count: 0 }

const COMMIT: Statement = { text: 'COMMIT', values: [] }

const release = (savepoint: string): Statement => ({ text: `RELEASE SAVEPOINT ${savepoint}`, values: [] })

const OVER = { kind: 'other', message: 'The transaction is over', code: '25P01' } as const

const SWALLOWED = {
  kind: 'other',
  message: 'A statement of the transaction failed, and its error was swallowed: nothing is committed',
  code: '25P02',
} as const

const isPlain = ({ isolation, readonly, statementTimeout }: TransactionOptions): boolean =>
  isolation === undefined && !readonly && statementTimeout === undefined

function begin(options: TransactionOptions, settings: readonly Statement[]): readonly Statement[] {
  const { isolation, readonly, statementTimeout } = options
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
 * A statement whose parameters are lists is planned again at every run: PostgreSQL takes the plan for lists of any
 * length to be dearer than it is. Planning takes as long as a write itself. A plan that is kept must suit a table that
 * was empty when it was made: it goes by indexes.
 */
const BY_KEYS: Statement = {
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
