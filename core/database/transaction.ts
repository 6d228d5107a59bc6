import type { WriteOutcome, WriteScope } from '../base/request-context.ts'
import type { Statement } from '../sql/statement.ts'
import { cancelStatement } from './connect/cancel.ts'
import type { ConnectionPool } from './connect/pool.ts'
import type { Connection } from './connection.ts'
import type { Transaction, TransactionOptions } from './database.ts'
import { DatabaseFailure, isOutcomeUnknown, toDatabaseFault, toFailure } from './database-fault.ts'
import type { Lsn } from './lsn.ts'
import { currentWrites } from './request-scope.ts'
import { createWork } from './scheduling/scheduled-work.ts'
import { clientTimeout } from './session.ts'
import { withKnownOutcome } from './statements/commit-outcome.ts'
import { StatementQueue } from './statements/statement-queue.ts'
import { changesSession } from './transaction-commands.ts'

export interface TransactionRunnerOptions {
  readonly pool: ConnectionPool
  readonly statementTimeout: number
  /** Receives the LSN after a commit; absent: the LSN is not read. */
  readonly committed?: ((position: Lsn) => void) | undefined
}

/**
 * Runs `work` on one connection. BEGIN and COMMIT travel with its statements. A COMMIT that PostgreSQL answers with ROLLBACK
 * (the work ignored an error) is a failure.
 */
export async function runTransaction<Value>(
  runner: TransactionRunnerOptions,
  work: (transaction: Transaction) => Promise<Value>,
  options: TransactionOptions,
): Promise<Value> {
  const { pool } = runner
  const writes = options.readonly ? undefined : (options.purpose?.requestContext?.writes ?? currentWrites())
  if (writes?.isClosed) throw requestTimedOut()
  const scheduled = createWork('write', options)
  const connection = pool.take(scheduled) ?? (await pool.acquire(scheduled))
  const watch = writes && watchTimeout(writes, connection)
  try {
    const open = openTransaction(connection, runner, options)
    const value = await runAndCommit(open, work, { committed: runner.committed, writes, watch })
    pool.release(connection)
    return value
  } catch (error) {
    const { isAlive, outdated } = await rollBack(connection, options.guard)
    const failure = isAlive ? withKnownOutcome(error, connection) : error
    pool.settle(connection, failure)
    throw isOutcomeUnknown(failure) ? failure : (outdated ?? failure)
  } finally {
    watch?.stop()
  }
}

interface CommitOptions extends Pick<TransactionRunnerOptions, 'committed'> {
  readonly writes: WriteScope | undefined
  readonly watch: TimeoutWatch | undefined
}

async function runAndCommit<Value>(
  open: OpenTransaction,
  work: (transaction: Transaction) => Promise<Value>,
  { committed, writes, watch }: CommitOptions,
): Promise<Value> {
  try {
    const value = await work(open.transaction)
    if (!open.finish()) return value
    const position = await commitWithin(writes, async () => {
      const position = await open.commit()
      if (watch?.isUnreplicated()) throw requestTimedOut('unknown')
      return position
    })
    if (position !== null) committed?.(position)
    return value
  } finally {
    open.end()
  }
}

/** Commits unless the request has timed out, and records the outcome. */
async function commitWithin<Value>(
  writes: WriteScope | undefined,
  commit: () => Promise<Value>,
): Promise<Value> {
  if (!writes) return commit()
  if (!writes.beginCommit()) throw requestTimedOut()
  let isWritten = true
  try {
    return await commit()
  } catch (error) {
    isWritten = isOutcomeUnknown(error)
    throw error
  } finally {
    writes.endCommit(isWritten)
  }
}

const requestTimedOut = (outcome?: WriteOutcome) =>
  new DatabaseFailure(
    { kind: 'timeout', message: 'The time of the request is over', code: null },
    undefined,
    outcome,
  )

/** Cancels a transaction when its request times out. */
interface TimeoutWatch {
  /**
   * True if the server warned after the timeout. A COMMIT that is cancelled while it waits for a synchronous replica
   * succeeds, with a warning that the replica may not have it.
   */
  isUnreplicated(): boolean
  stop(): void
}

/**
 * Cancels whatever the transaction is doing, its COMMIT included: the server then answers whether that was in time.
 * The embedded database cannot cancel: there the transaction ends before COMMIT is sent, or succeeds.
 */
function watchTimeout(writes: WriteScope, connection: Connection): TimeoutWatch {
  let isWarned = false
  const warn = () => {
    isWarned = true
  }
  const unregister = writes.onClose(() => {
    if (!connection.canCancel) return
    connection.on('notice', warn)
    cancelStatement(connection)
  })
  return {
    isUnreplicated: () => isWarned,
    stop() {
      unregister()
      connection.off('notice', warn)
    },
  }
}

/**
 * Rolls back to the savepoint on failure. If it cannot, the outer transaction fails for the same reason. Nothing is written until that one
 * commits.
 */
async function runNested<Value>(
  { connection, savepoint, outer, ...options }: NestedOptions,
  work: (transaction: Transaction) => Promise<Value>,
): Promise<Value> {
  const open = openTransaction(connection, { ...options, savepoint }, {})
  try {
    const value = await work(open.transaction)
    if (open.finish()) await open.commit()
    return value
  } catch (error) {
    const rollback = withTimeLimit(`ROLLBACK TO SAVEPOINT ${savepoint}`, ROLLBACK_TIMEOUT)
    if (connection.isInvalid) outer.fail(error)
    else if (open.isBegun()) await connection.query(rollback).catch(() => outer.fail(error))
    throw isOutcomeUnknown(error) && error instanceof DatabaseFailure
      ? new DatabaseFailure(error.fault, error.cause)
      : error
  } finally {
    open.end()
  }
}

interface NestedOptions extends TransactionRunnerOptions {
  readonly connection: Connection
  readonly savepoint: string
  readonly outer: StatementQueue
}

/** Savepoints end in the order in which they began, so nested transactions run one at a time. */
function nestedRunner(options: Omit<NestedOptions, 'savepoint'>): Transaction['nest'] {
  let last: Promise<unknown> = Promise.resolve()
  let count = 0
  return work => {
    const savepoint = `plinth_${++count}`
    const done = last.then(() => runNested({ ...options, savepoint }, work))
    last = done.catch(() => undefined)
    return done
  }
}

interface OpenTransaction {
  readonly transaction: Transaction
  isBegun(): boolean
  /** No more statements follow. Returns false if there is nothing to commit. */
  finish(): boolean
  commit(): Promise<Lsn | null>
  /** Rejects statements that were not sent. */
  end(): void
}

/** BEGIN is sent with the first statement. A transaction without statements costs nothing. */
function openTransaction(
  connection: Connection,
  runner: TransactionRunnerOptions & { readonly savepoint?: string },
  options: TransactionOptions,
): OpenTransaction {
  const queue = new StatementQueue(connection, options, {
    timeout: clientTimeout(options.statementTimeout ?? runner.statementTimeout),
    readsPosition: runner.committed !== undefined,
    ...(runner.savepoint !== undefined && { savepoint: runner.savepoint }),
  })
  return {
    transaction: toTransaction(connection, runner, queue),
    isBegun: () => queue.isBegun,
    finish: () => queue.finish(),
    commit: () => queue.commit(),
    end: () => queue.end(),
  }
}

function toTransaction(
  connection: Connection,
  options: TransactionRunnerOptions,
  queue: StatementQueue,
): Transaction {
  const nest = nestedRunner({ ...options, connection, outer: queue })
  return {
    nest(work) {
      queue.begin()
      return nest(work)
    },
    run: statement => queue.run(statement),
    send: statement => queue.send(statement),
    async runScript(text) {
      queue.flush()
      await connection.query(text).catch((error: unknown) => {
        throw toFailure(error)
      })
    },
    lock: async name =>
      void (await queue.run({ text: `SELECT 1 FROM pg_advisory_xact_lock(${LOCK_KEY})`, values: [name] })),
    async tryLock(name) {
      const { rows } = await queue.run({
        text: `SELECT pg_try_advisory_xact_lock(${LOCK_KEY})`,
        values: [name],
      })
      return rows[0]?.[0] === true
    },
    endsSession() {
      connection.isSessionChanged = true
    },
    async query(query) {
      queue.begin()
      if (changesSession(query.text)) connection.isSessionChanged = true
      return connection.query(query)
    },
  }
}

const LOCK_KEY = 'hashtextextended($1::text, 0)'

/**
 * Rolls back, also when the transaction status says idle: until a failed batch is fully answered, the status is that before
 * the batch. Returns whether the session is alive, and a failure if the guard found tables of another version.
 */
async function rollBack(connection: Connection, guard: Statement | undefined): Promise<RolledBack> {
  if (connection.isInvalid) return { isAlive: false }
  const text = guard === undefined ? 'ROLLBACK' : `ROLLBACK; ${guard.text}`
  return connection.query(withTimeLimit(text, ROLLBACK_TIMEOUT)).then(() => ({ isAlive: true }), toOutdated)
}

interface RolledBack {
  readonly isAlive: boolean
  readonly outdated?: DatabaseFailure
}

/** Tables of another version may have caused the failure of the work: a document that was not found, for example. */
function toOutdated(error: unknown): RolledBack {
  const fault = toDatabaseFault(error)
  if (fault?.kind !== 'outdated') return { isAlive: false }
  return { isAlive: true, outdated: new DatabaseFailure(fault, error) }
}

const ROLLBACK_TIMEOUT = 5_000

/** pg's types leave out a query's own `query_timeout`. */
const withTimeLimit = (text: string, timeout: number): { text: string } =>
  ({ text, query_timeout: timeout }) as { text: string }
