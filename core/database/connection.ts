import type { Client, Submittable } from 'pg'
import type { Statement } from '../sql/statement.ts'
import type { AnswerSizeLimit } from './connect/answer-size.ts'
import {
  Batch,
  type BatchItem,
  type BatchWire,
  type PreparedStatements,
  ProtocolError,
  type StatementResult,
} from './connect/batch.ts'
import type { Primary, ServerParameter } from './connect/primary.ts'
import type { Rows } from './database.ts'
import { toDatabaseFault, toDriverError } from './database-fault.ts'
import type { Work } from './scheduling/scheduled-work.ts'
import { isServerDefect } from './sqlstate.ts'

/** pg's client with the state that this module keeps for it. */
export interface Connection extends Omit<Client, 'connection'> {
  /** pg's protocol layer, which its types leave out. */
  readonly connection: Wire
  /** It must not be used again: it is lost, its statement was cancelled, or its server is no longer the primary. */
  isInvalid: boolean
  /** The first error that made it unusable. */
  lostError?: Error
  /** To be called once it is ready for statements: ends the connect timeout. */
  setReady: () => void
  /** Called with each parameter that the server reports. */
  onParameter?: (parameter: ServerParameter) => void
  /** Absent: statements run unprepared. */
  preparedStatements?: PreparedStatements
  /**
   * Present if a pooler may give each transaction another server. `keepsNames`: it passes the names of prepared statements
   * to the server unchanged, instead of managing prepared statements itself.
   */
  pooler?: { readonly keepsNames: boolean }
  /** Sets the settings that a pooled connection loses between transactions. */
  transactionSettings?: Statement
  /** True if the server can be asked to cancel a statement. False for the embedded database. */
  canCancel?: boolean
  /** Bounds the size of an answer while it arrives. */
  answerSize?: AnswerSizeLimit
  /** The server that it leads to, if writes are wanted. */
  primary?: Primary
  /** Foreign SQL may have changed its session, so it is closed after use. */
  isSessionChanged?: boolean
  /** The work that it is lent for. */
  work?: Work | undefined
  /** When it was last returned to the pool, as of performance.now(). */
  idleSince: number
}

interface Wire extends BatchWire {
  readonly stream: BatchWire['stream'] & {
    destroy(): void
    on(event: 'data', listener: (bytes: Buffer) => void): unknown
  }
  close(message: { readonly type: 'S'; readonly name: string }): void
}

export interface BatchResult {
  /** The driver's error for the first statement that failed; null: none failed. */
  readonly error: Error | null
  /** Results of the statements before it. */
  readonly results: readonly StatementResult[]
  /** False: the batch was never sent. */
  readonly isSent: boolean
}

/**
 * Runs statements in one round trip, each only if those before it succeeded. `timeout` is in milliseconds (0: none). It
 * guards against a network that drops packets: the server's own statement timeout comes first.
 */
export const runBatch = (
  connection: Connection,
  statements: readonly Statement[],
  timeout: number,
): Promise<BatchResult> =>
  new Promise(resolve => {
    const done: BatchDone = (error, { results, isSent }) => resolve({ error, results, isSent })
    sendBatch(connection, statements, { timeout, done })
  })

type BatchDone = (error: Error | null, batch: Batch) => void

function sendBatch(
  connection: Connection,
  statements: readonly Statement[],
  { timeout, done }: { readonly timeout: number; readonly done: BatchDone },
): void {
  const items = prepare(connection, statements)
  const batch = new Batch(items, timeout, error => {
    if (error === null) {
      done(null, batch)
      return
    }
    // A late answer would be taken for that of the next statement.
    if (error.message === 'Query read timeout' || error instanceof ProtocolError) connection.isInvalid = true
    forgetFailed(connection, items[batch.results.length], error)
    done(connection.isInvalid ? toLost(error) : error, batch)
  })
  // pg's types pass a query the whole connection; a batch needs less.
  connection.query(batch as unknown as Submittable)
}

/** A connection that became unusable counts as lost, whatever its last error says. */
const toLost = (error: Error): Error =>
  toDatabaseFault(error) && !isServerDefect(toDriverError(error)?.code)
    ? error
    : new ProtocolError(error.message, error)

/** The statements that every transaction of this connection must begin with. */
export const settingsOf = ({ transactionSettings }: Connection): readonly Statement[] =>
  transactionSettings ? [transactionSettings] : []

export interface AnswerLimits {
  /** Milliseconds; see runBatch. */
  readonly timeout: number
  /** Infinite: unlimited. */
  readonly maxBytes: number
}

/** Like runBatch, but rejects with the first failure, or with a DatabaseFailure if the answer is too large. */
export async function runBounded(
  connection: Connection,
  statements: readonly Statement[],
  { timeout, maxBytes }: AnswerLimits,
): Promise<readonly StatementResult[]> {
  const answerSize = maxBytes === Number.POSITIVE_INFINITY ? undefined : connection.answerSize
  answerSize?.begin(maxBytes)
  const { error, results } = await runBatch(connection, statements, timeout)
  const failure = failureOf(error, answerSize)
  if (failure) throw failure
  return results
}

/** An answer that is too large ends the connection, which would show as a lost connection. */
const failureOf = (error: Error | null, answerSize: AnswerSizeLimit | undefined): Error | null =>
  answerSize?.end() ?? error

export interface RunOnOptions extends AnswerLimits {
  /** Runs after the statement. If it fails, the statement does. */
  readonly guard?: Statement | undefined
}

/** Runs one statement; see runBounded. Every read comes through here, so it costs a single promise. */
export function runOn(connection: Connection, statement: Statement, options: RunOnOptions): Promise<Rows> {
  const { guard, timeout, maxBytes } = options
  const answerSize = maxBytes === Number.POSITIVE_INFINITY ? undefined : connection.answerSize
  answerSize?.begin(maxBytes)
  const own = guard === undefined ? [statement] : [statement, guard]
  const { transactionSettings } = connection
  const statements = transactionSettings ? [transactionSettings, ...own] : own
  return new Promise((resolve, reject) =>
    sendBatch(connection, statements, {
      timeout,
      done(error, { results }) {
        const failure = failureOf(error, answerSize)
        if (failure) reject(failure)
        else resolve(results[results.length - own.length] ?? NO_ROWS)
      },
    }),
  )
}

export const NO_ROWS: Rows = { rows: [], count: 0 }

/** Adds the prepared forms, after evicting old ones. The Close messages travel with the batch. */
function prepare(
  { preparedStatements, connection }: Connection,
  statements: readonly Statement[],
): readonly BatchItem[] {
  if (!preparedStatements) return statements.map(statement => ({ statement, prepared: null }))
  const items = statements.map(statement => ({ statement, prepared: preparedStatements.get(statement.text) }))
  for (const evicted of preparedStatements.evict(items.length)) connection.close({ type: 'S', name: evicted })
  return items
}

/** Prepares a statement again, under another name, if the server may have lost it or has a stale plan. */
function forgetFailed(
  { preparedStatements, connection }: Connection,
  item: BatchItem | undefined,
  error: Error,
): void {
  if (!preparedStatements || !item || (item.prepared?.parsers && !isStalePlan(error))) return
  const name = preparedStatements.forget(item.statement.text)
  if (name !== undefined) connection.close({ type: 'S', name })
}

/** `cached plan must not change result type`, or a prepared statement that the server does not know. */
function isStalePlan(error: unknown): boolean {
  const driver = toDriverError(error)
  if (driver?.code === '26000') return true
  return driver?.code === '0A000' && driver.routine === 'RevalidateCachedQuery'
}
