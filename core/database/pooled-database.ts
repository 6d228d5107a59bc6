import { setMaxListeners } from 'node:events'
import { withTimeout } from '../base/with-timeout.ts'
import type { DatabaseSettings } from '../project/settings/settings.ts'
import type { Statement } from '../sql/statement.ts'
import { tooLargeFailure } from './connect/answer-size.ts'
import type { Connect } from './connect/open-connection.ts'
import { type ConnectionPool, toUnavailable } from './connect/pool.ts'
import { runOn } from './connection.ts'
import type { Database, DedicatedSession, Ping, Rows, RunOptions, Transaction } from './database.ts'
import { toDatabaseFault, toFailure } from './database-fault.ts'
import type { Lsn } from './lsn.ts'
import type { OpenReplicas } from './replicas/open-replicas.ts'
import { currentRequestTransaction, type RequestTransaction } from './request-scope.ts'
import { createWork } from './scheduling/scheduled-work.ts'
import { clientReadTimeout, clientTimeout } from './session.ts'
import { SessionHolders } from './session-holders.ts'
import { runAbortable, runStatement, serverRead } from './statements/run-statement.ts'
import { currentReplicaSession, noteWrite, stayOnPrimary } from './statements/session-scope.ts'
import { runTransaction } from './transaction.ts'

export interface PooledDatabaseParts {
  readonly kind: Database['kind']
  readonly settings: DatabaseSettings
  readonly pool: ConnectionPool
  readonly replicas: OpenReplicas | null
  readonly isShared: boolean
  readonly openSession: Database['openSession']
  /** Its abort ends the connections. */
  readonly aborting: AbortController
  /** See Database; absent: no other process works through this one. */
  endForeign?(): void
  /** Called after the last connection has ended. */
  afterClose(): Promise<void>
}

/** Every connection listens to its signal. */
export function createAborting(): AbortController {
  const aborting = new AbortController()
  setMaxListeners(0, aborting.signal)
  return aborting
}

/** The Database over a pool, for a server and for the embedded database. */
export function createPooledDatabase(parts: PooledDatabaseParts): Database {
  const { kind, settings, pool, replicas, endForeign = () => {} } = parts
  const { statementTimeout, schema } = settings
  const holders = kind === 'embedded' ? new SessionHolders() : null
  const timeouts = { read: clientReadTimeout(settings), write: clientTimeout(statementTimeout) }
  const runHere = (statement: Statement, options: RunOptions = {}) => {
    const lane = options.readonly ? 'read' : 'write'
    const { signal, maxBytes = Number.POSITIVE_INFINITY, guard } = options
    const runOptions = { work: createWork(lane, options), timeout: timeouts[lane], maxBytes, guard }
    const rows = signal
      ? runAbortable(pool, statement, { ...runOptions, signal })
      : runStatement(pool, statement, runOptions)
    return holders ? rows.catch(error => holders.explain(error)) : rows
  }
  let closing: Promise<void> | undefined
  return {
    kind,
    schema,
    replicas,
    isShared: parts.isShared,
    ...(holders && { holders }),
    openSession: parts.openSession,
    connections: () => pool.state,
    run(statement, options) {
      if (options?.transaction) return options.transaction.run(statement)
      const whole = currentRequestTransaction()
      if (whole) return runWithin(whole, statement, options)
      if (replicas === null || !options?.readonly || options.onPrimary) return runHere(statement, options)
      return replicas.run(statement, options).then(rows => rows ?? runHere(statement, options))
    },
    transaction(work, options = {}) {
      const whole = currentRequestTransaction()
      if (whole) return nest(whole, work)
      const committed = replicas === null ? undefined : trackWrites()
      const value = runTransaction({ pool, statementTimeout, committed }, work, options)
      return holders ? value.catch(error => holders.explain(error)) : value
    },
    ping: () => ping(pool),
    endForeign,
    abort() {
      endForeign()
      parts.aborting.abort()
    },
    close() {
      endForeign()
      const timeout = parts.aborting.signal.aborted ? ABORT_TIMEOUT : CLOSE_TIMEOUT
      const closed = () => Promise.all([pool.close(), replicas?.close()])
      closing ??= withTimeout<unknown>(timeout, closed(), undefined).then(parts.afterClose)
      return closing
    },
  }
}

function runWithin(
  { transaction, boundsReads }: RequestTransaction,
  statement: Statement,
  { maxBytes = Number.POSITIVE_INFINITY }: RunOptions = {},
): Promise<Rows> {
  return boundsReads && maxBytes !== Number.POSITIVE_INFINITY
    ? runBoundedRead(transaction, statement, maxBytes)
    : transaction.run(statement)
}

/**
 * Runs a read inside a transaction, with a limit for the size of its answer. PostgreSQL compares the size and sends no row
 * above it: an error, or a connection that ends while the answer arrives, would roll the transaction back.
 * Rejects with a DatabaseFailure of kind `too-large`; the transaction goes on.
 */
async function runBoundedRead(
  transaction: Pick<Transaction, 'run'>,
  statement: Statement,
  maxBytes: number,
): Promise<Rows> {
  const { rows } = await transaction.run(withSize(statement, maxBytes))
  const bytes = Number(rows[0]?.at(-1))
  if (bytes > maxBytes) throw tooLargeFailure(maxBytes, [])
  const found = bytes === 0 ? [] : rows.map(row => row.slice(0, -1))
  return { rows: found, count: found.length }
}

/** One row at least; the last column is the size of all rows, 0 if there are none. */
const withSize = ({ text, values, ...rest }: Statement, maxBytes: number): Statement => ({
  ...rest,
  text: `WITH answer$ AS MATERIALIZED (${text}), size$ AS (SELECT coalesce(sum(pg_column_size(a.*)), 0) AS bytes FROM answer$ AS a)
SELECT a.*, s.bytes FROM size$ AS s LEFT JOIN answer$ AS a ON s.bytes <= $${values.length + 1}::bigint`,
  values: [...values, maxBytes],
})

async function nest<Value>(
  whole: RequestTransaction,
  work: (transaction: Transaction) => Promise<Value>,
): Promise<Value> {
  try {
    const value = await whole.transaction.nest(work)
    whole.isTouched = true
    return value
  } catch (error) {
    if (toDatabaseFault(error)?.kind === 'serialization') whole.isDeadlocked = true
    throw error
  }
}

/** Sends the session's reads to the primary even if the transaction fails. */
function trackWrites(): (position: Lsn) => void {
  const session = currentReplicaSession()
  stayOnPrimary()
  return position => session && noteWrite(session, position)
}

const SESSION_TIMEOUT = 10_000

export async function openDedicatedSession(
  connect: Connect,
  timeout = SESSION_TIMEOUT,
): Promise<DedicatedSession> {
  const connection = await connect().catch(toUnavailable)
  const bounds = { timeout, maxBytes: Number.POSITIVE_INFINITY }
  return {
    isPooled: connection.pooler !== undefined,
    run: statement =>
      runOn(connection, statement, bounds).catch((error: unknown) => {
        throw toFailure(error)
      }),
    onNotice: listener => void connection.on('notification', listener),
    onEnd: listener => void connection.once('end', listener),
    close: () => connection.end().catch(() => undefined),
  }
}

const PING_TIMEOUT = 2_000

async function ping(pool: ConnectionPool): Promise<Ping> {
  const start = performance.now()
  const answer = runStatement(pool, IS_READONLY, serverRead(PING_TIMEOUT)).then(
    ({ rows }): Ping => {
      if (rows[0]?.[0] === 'on')
        return { ok: false, message: 'The database takes no writes', isReadonly: true }
      return { ok: true, milliseconds: performance.now() - start }
    },
    (error: Error): Ping => ({ ok: false, message: error.message, isReadonly: isReadonly(error) }),
  )
  return withTimeout(PING_TIMEOUT, answer, UNANSWERED)
}

const IS_READONLY: Statement = { text: `SELECT current_setting('transaction_read_only')`, values: [] }

const UNANSWERED: Ping = { ok: false, message: 'The database did not answer in time', isReadonly: false }

function isReadonly(error: Error): boolean {
  const fault = toDatabaseFault(error)
  return fault?.kind === 'unavailable' && fault.isReadonly === true
}

/** Milliseconds that work in progress has to end when the database is closed. */
const CLOSE_TIMEOUT = 10_000

/** Milliseconds that aborted work has to end: code of the project may not notice the abort. */
const ABORT_TIMEOUT = 500
