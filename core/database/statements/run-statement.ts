import type { Statement } from '../../sql/statement.ts'
import { cancelStatement } from '../connect/cancel.ts'
import type { ConnectionPool } from '../connect/pool.ts'
import { type Connection, type RunOnOptions, runOn } from '../connection.ts'
import type { Rows } from '../database.ts'
import { toDatabaseFault, toFailure } from '../database-fault.ts'
import { SERVER_READ, type Work } from '../scheduling/scheduled-work.ts'
import { abortedFailure } from '../scheduling/scheduler.ts'

export interface RunStatementOptions extends RunOnOptions {
  /** A read changes nothing, so it may run again after a lost answer. */
  readonly work: Work
}

/** Runs one statement on a connection of the pool. This is the hot path: nothing is looked up or logged. */
export async function runStatement(
  pool: ConnectionPool,
  statement: Statement,
  options: RunStatementOptions,
): Promise<Rows> {
  const connection = pool.take(options.work) ?? (await pool.acquire(options.work))
  try {
    const rows = await runOn(connection, statement, options)
    pool.release(connection)
    return rows
  } catch (error) {
    return recover({ pool, connection, statement, options }, error)
  }
}

/** Options for statements of the server itself: no caller chooses the size of their answers. */
export const serverRead = (timeout: number): RunStatementOptions => ({
  work: SERVER_READ,
  timeout,
  maxBytes: Number.POSITIVE_INFINITY,
})

export interface AbortableOptions extends RunStatementOptions {
  readonly signal: AbortSignal
}

/** Like runStatement. The signal's abort cancels the statement. */
export async function runAbortable(
  pool: ConnectionPool,
  statement: Statement,
  options: AbortableOptions,
): Promise<Rows> {
  const { signal } = options
  const connection = pool.take(options.work) ?? (await pool.acquire(options.work))
  if (signal.aborted) {
    pool.release(connection)
    throw abortedFailure()
  }
  const cancel = () => cancelStatement(connection)
  signal.addEventListener('abort', cancel, { once: true })
  try {
    const rows = await runOn(connection, statement, options)
    signal.removeEventListener('abort', cancel)
    pool.release(connection)
    return rows
  } catch (error) {
    signal.removeEventListener('abort', cancel)
    if (!signal.aborted) return recover({ pool, connection, statement, options }, error)
    pool.settle(connection, error)
    throw toFailure(error)
  }
}

interface FailedRun {
  readonly pool: ConnectionPool
  readonly connection: Connection
  readonly statement: Statement
  readonly options: RunStatementOptions
}

/** Several idle connections may have broken together: so many of them may fail one read. */
const TRIES = 3

/** Runs it again if the failure is not the statement's fault: a stale plan, a deadlock's victim, a lost connection. */
async function recover({ pool, connection, statement, options }: FailedRun, error: unknown): Promise<Rows> {
  const fault = toDatabaseFault(error)
  // A readonly server did nothing. The next connection leads to a server that takes writes, or fails.
  const isRetryable = fault?.kind === 'serialization' || (fault?.kind === 'unavailable' && fault.isReadonly)
  pool.settle(connection, error)
  const isLostRead = options.work.lane === 'read' && isUnavailable(error)
  if (!isRetryable && !isLostRead) throw toFailure(error)
  return retry(pool, statement, { ...options, tries: isLostRead ? TRIES : 1 })
}

const isUnavailable = (error: unknown): boolean => toDatabaseFault(error)?.kind === 'unavailable'

/** If no connection can be acquired, the database is unavailable, so there is no further try. */
async function retry(
  pool: ConnectionPool,
  statement: Statement,
  { tries, ...options }: RunStatementOptions & { readonly tries: number },
): Promise<Rows> {
  const connection = await pool.acquire(options.work)
  try {
    const rows = await runOn(connection, statement, options)
    pool.release(connection)
    return rows
  } catch (error) {
    pool.settle(connection, error)
    if (tries > 1 && isUnavailable(error)) return retry(pool, statement, { ...options, tries: tries - 1 })
    throw toFailure(error)
  }
}
