import type { Client, Submittable } from 'pg'
import type { Statement } from '../sql/statement.ts'
import type { Received } from './connect/answer-size.ts'
import { Batch, type BatchWire, type Item, type Outcome, ProtocolError } from './connect/batch.ts'
import type { PreparedStatements } from './connect/prepared-statements.ts'
import type { Primary } from './connect/primary.ts'
import type { Rows } from './database.ts'
import { toDatabaseFault, toDriverError } from './database-fault.ts'
import type { Work } from './scheduling/scheduled-work.ts'
import { isInternal } from './sqlstate.ts'

/** One connection of the pool: pg's client with what this room keeps beside it. */
export interface Connection extends Omit<Client, 'connection'> {
  /** pg's end of the protocol; its types leave it out. */
  readonly connection: Wire
  /** Absent: statements run unprepared. */
  plinthStatements?: PreparedStatements
  /**
   * Its server may be another one in each transaction; absent: it is not. `passesNames`: the pooler leaves the names of
   * prepared statements as they are, instead of keeping them itself.
   */
  plinthPooled?: { readonly passesNames: boolean }
  /** Settings that each transaction has to set again. */
  plinthSettings?: Statement
  /** What it was acquired for. */
  plinthWork?: Work | undefined
  /** Whether the server can be asked to end a statement: not where it is a part of the process. */
  plinthCancels?: boolean
  /** Work of others may have changed its session, so that it is not used again. */
  plinthIsChanged?: boolean
  /** Counts the bytes of an answer while it arrives. */
  plinthReceived?: Received
  /** Set when the connection must not go back to the pool. Sequelize's own mark, which its pool checks. */
  _invalid?: boolean
  /** The error that ended it (watched-client.ts). */
  plinthLost?: Error
  /** To be called once it is ready for statements: it has so much time, and no more. */
  plinthReady?: () => void
  /** The server that it leads to; absent: it is not there to write. */
  plinthPrimary?: Primary
  /** Called with each parameter that the server reports. */
  plinthReports?: (parameter: Parameter) => void
}

/** What a server reports of itself when a connection opens, and whenever it changes (PostgreSQL manual, 55.2.7). */
export interface Parameter {
  readonly parameterName: string
  readonly parameterValue: string
}

interface Wire extends BatchWire {
  readonly stream: BatchWire['stream'] & {
    destroy(): void
    on(event: 'data', listener: (bytes: Buffer) => void): unknown
  }
  close(message: { readonly type: 'S'; readonly name: string }): void
}

export interface BatchAnswer {
  /** The driver's, of the first statement that failed; null: none did. */
  readonly error: Error | null
  /** Of the statements before it. */
  readonly outcomes: readonly Outcome[]
  /** False: the database never got any of it. */
  readonly isSent: boolean
}

/**
 * Runs statements in one round trip, each only if those before it went well. Milliseconds after which the answer is no
 * longer waited for (0: for ever) guard against a network that swallows packets; the server's own timeout comes first.
 */
export function runBatch(
  connection: Connection,
  statements: readonly Statement[],
  patience: number,
): Promise<BatchAnswer> {
  const items = prepare(connection, statements)
  return new Promise(resolve => {
    const batch = new Batch(items, patience, error => {
      const { outcomes, isSent } = batch
      // Its answer is still to come, and would meet the next statement.
      if (error?.message === 'Query read timeout' || error instanceof ProtocolError)
        connection._invalid = true
      if (error) forgetFailed(connection, items[outcomes.length], error)
      resolve({ error: error && connection._invalid ? lostBy(error) : error, outcomes, isSent })
    })
    // pg's types give a query the whole of its connection; ours asks for less.
    connection.query(batch as unknown as Submittable)
  })
}

/** A connection that can no longer be used is lost, whatever its last error says. */
const lostBy = (error: Error): Error =>
  toDatabaseFault(error) && !isInternal(toDriverError(error)?.code)
    ? error
    : new ProtocolError(error.message, error)

/** What a transaction of this connection, or a batch that is one by itself, has to begin with. */
export const settingsOf = ({ plinthSettings }: Connection): readonly Statement[] =>
  plinthSettings ? [plinthSettings] : []

/** Bounds of one answer. */
export interface AnswerTerms {
  /** Milliseconds; see runBatch. */
  readonly patience: number
  /** Infinite: its size does not matter. */
  readonly maxBytes: number
}

/** Runs statements, as runBatch; rejects with the first failure, and with a DatabaseFailure where the answer is too large. */
export async function runBounded(
  connection: Connection,
  statements: readonly Statement[],
  { patience, maxBytes }: AnswerTerms,
): Promise<readonly Outcome[]> {
  const received = maxBytes === Number.POSITIVE_INFINITY ? undefined : connection.plinthReceived
  received?.begin(maxBytes)
  const answer = await runBatch(connection, statements, patience)
  return outcomesOf(answer, received)
}

function outcomesOf({ error, outcomes }: BatchAnswer, received: Received | undefined): readonly Outcome[] {
  // The connection is ended for an answer that is too large, which is what the error is about.
  const failure = received?.end() ?? error
  if (failure) throw failure
  return outcomes
}

export interface RunOnTerms extends AnswerTerms {
  /** Runs behind the statement; where it fails, so does the statement. */
  readonly guard?: Statement | undefined
}

/** Runs one statement, as runBounded. Each read comes through here: it is one promise on top of the batch. */
export async function runOn(connection: Connection, statement: Statement, terms: RunOnTerms): Promise<Rows> {
  const { guard, patience, maxBytes } = terms
  const received = maxBytes === Number.POSITIVE_INFINITY ? undefined : connection.plinthReceived
  received?.begin(maxBytes)
  const own = guard === undefined ? [statement] : [statement, guard]
  const { plinthSettings } = connection
  const answer = await runBatch(connection, plinthSettings ? [plinthSettings, ...own] : own, patience)
  return outcomesOf(answer, received).at(-own.length) ?? NOTHING
}

const NOTHING: Rows = { rows: [], count: 0 }

/** With their prepared forms; makes room for those first. Close messages travel with the query, at no round trip. */
function prepare(
  { plinthStatements, connection }: Connection,
  statements: readonly Statement[],
): readonly Item[] {
  if (!plinthStatements) return statements.map(statement => ({ statement, prepared: null }))
  const items = statements.map(statement => ({ statement, prepared: plinthStatements.of(statement.text) }))
  for (const evicted of plinthStatements.evict(items.length)) connection.close({ type: 'S', name: evicted })
  return items
}

/** Statements that the server may have lost, or holds with a stale plan, are prepared again under another name. */
function forgetFailed(
  { plinthStatements, connection }: Connection,
  item: Item | undefined,
  error: Error,
): void {
  if (!plinthStatements || !item || (item.prepared?.parsers && !isStale(error))) return
  const name = plinthStatements.forget(item.statement.text)
  if (name !== undefined) connection.close({ type: 'S', name })
}

/** `cached plan must not change result type`, and a prepared statement that the server does not know. */
export function isStale(error: unknown): boolean {
  const driver = toDriverError(error)
  if (driver?.code === '26000') return true
  return driver?.code === '0A000' && driver.routine === 'RevalidateCachedQuery'
}
