import type { Transaction as SequelizeTransaction } from 'sequelize'
import type { WriteOutcome, WriteScope } from '../base/request-context.ts'
import type { Statement } from '../sql/statement.ts'
import type { Pool } from './connect/pool.ts'
import type { Connection } from './connection.ts'
import type { Transaction, TransactionOptions } from './database.ts'
import { DatabaseFailure, isUnclear, toDatabaseFault } from './database-fault.ts'
import { currentWrites } from './generations/write-storage.ts'
import type { Position } from './lsn.ts'
import { workOf } from './scheduling/scheduled-work.ts'
import { patienceFor } from './session.ts'
import { refuted } from './statements/commit-outcome.ts'
import { StatementQueue } from './statements/statement-queue.ts'
import { type TimeWatch, watchTime } from './statements/time-watch.ts'

export interface TransactionTerms {
  readonly pool: Pool
  readonly statementTimeout: number
  /** Receives the LSN after a commit; absent: the LSN is not read. */
  readonly committed?: ((position: Position) => void) | undefined
  /** Sequelize's form of a transaction that is open on this connection. */
  adopt(connection: Connection): SequelizeTransaction
}

/**
 * Not Sequelize's own begin and commit: those take a round trip more for an isolation level, and a COMMIT that PostgreSQL answers with
 * ROLLBACK (an error inside was swallowed) passes there for success.
 */
export async function runTransaction<Value>(
  terms: TransactionTerms,
  work: (transaction: Transaction) => Promise<Value>,
  options: TransactionOptions,
): Promise<Value> {
  const { pool } = terms
  const writes = options.readonly ? undefined : (options.purpose?.trail?.writes ?? currentWrites())
  if (writes?.isClosed) throw timeIsOver()
  const connection = await pool.acquire(workOf('write', options))
  const watch = writes && watchTime(writes, connection)
  try {
    const open = openTransaction(connection, terms, options)
    const value = await inTransaction(open, work, { committed: terms.committed, writes, watch })
    // Abandoned, or lost after the COMMIT was answered.
    if (connection._invalid) pool.discard(connection)
    else pool.release(connection)
    return value
  } catch (error) {
    const { isAlive, outdated } = await rollBack(connection, options.guard)
    const failure = isAlive ? refuted(error, connection) : error
    pool.settle(connection, failure)
    throw isUnclear(failure) ? failure : (outdated ?? failure)
  } finally {
    watch?.stop()
  }
}

interface CommitTerms extends Pick<TransactionTerms, 'committed'> {
  readonly writes: WriteScope | undefined
  readonly watch: TimeWatch | undefined
}

async function inTransaction<Value>(
  open: OpenTransaction,
  work: (transaction: Transaction) => Promise<Value>,
  { committed, writes, watch }: CommitTerms,
): Promise<Value> {
  try {
    const value = await work(open.transaction)
    if (!open.finish()) return value
    const position = await gated(writes, async () => {
      const position = await open.commit()
      if (watch?.isUnreplicated()) throw timeIsOver('unknown')
      return position
    })
    if (position !== null) committed?.(position)
    return value
  } finally {
    open.end()
  }
}

/** A COMMIT that the request's time leaves room for, and what comes of it. */
async function gated<Value>(writes: WriteScope | undefined, commit: () => Promise<Value>): Promise<Value> {
  if (!writes) return commit()
  if (!writes.beginCommit()) throw timeIsOver()
  let isWritten = true
  try {
    return await commit()
  } catch (error) {
    isWritten = isUnclear(error)
    throw error
  } finally {
    writes.endCommit(isWritten)
  }
}

const timeIsOver = (outcome?: WriteOutcome) =>
  new DatabaseFailure(
    { kind: 'timeout', message: 'The time of the request is over', code: null },
    undefined,
    outcome,
  )

/** What fails is undone to the savepoint; whatever comes of the transaction around it, nothing of that was written. */
async function runNested<Value>(
  { connection, savepoint, ...terms }: NestTerms,
  work: (transaction: Transaction) => Promise<Value>,
): Promise<Value> {
  const open = openTransaction(connection, { ...terms, savepoint }, {})
  try {
    const value = await work(open.transaction)
    if (open.finish()) await open.commit()
    return value
  } catch (error) {
    const undone = patiently(`ROLLBACK TO SAVEPOINT ${savepoint}`, ROLLBACK_PATIENCE)
    if (open.isBegun() && !connection._invalid) await connection.query(undone).catch(() => undefined)
    throw isUnclear(error) && error instanceof DatabaseFailure
      ? new DatabaseFailure(error.fault, error.cause)
      : error
  } finally {
    open.end()
  }
}

interface NestTerms extends TransactionTerms {
  readonly connection: Connection
  readonly savepoint: string
}

/** Savepoints end in the order in which they began: one at a time. */
function openNests(connection: Connection, terms: TransactionTerms): Transaction['nest'] {
  let last: Promise<unknown> = Promise.resolve()
  let count = 0
  return work => {
    const savepoint = `plinth_${++count}`
    const done = last.then(() => runNested({ ...terms, connection, savepoint }, work))
    last = done.catch(() => undefined)
    return done
  }
}

interface OpenTransaction {
  readonly transaction: Transaction
  isBegun(): boolean
  /** Nothing more is asked for; false: there is nothing to commit. */
  finish(): boolean
  commit(): Promise<Position | null>
  /** Nothing runs in it any more. */
  end(): void
}

/** It begins with its first statement, in one round trip; one that runs none costs nothing. */
function openTransaction(
  connection: Connection,
  terms: TransactionTerms & { readonly savepoint?: string },
  options: TransactionOptions,
): OpenTransaction {
  const patience = patienceFor(options.statementTimeout ?? terms.statementTimeout)
  const queue = new StatementQueue(connection, options, {
    patience,
    tellsPosition: terms.committed !== undefined,
    ...(terms.savepoint !== undefined && { savepoint: terms.savepoint }),
  })
  let adopted: SequelizeTransaction | undefined
  const transaction: Transaction = {
    nest: openNests(connection, terms),
    run: statement => queue.run(statement),
    send: statement => queue.send(statement),
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
      connection.plinthIsChanged = true
    },
    get sequelize() {
      queue.flush()
      adopted ??= terms.adopt(connection)
      return adopted
    },
  }
  return {
    transaction,
    isBegun: () => queue.isBegun,
    finish: () => queue.finish(),
    commit: () => queue.commit(),
    end: () => queue.end(),
  }
}

const LOCK_KEY = 'hashtextextended($1::text, 0)'

/**
 * A connection that cannot even roll back is not given back to the pool: its status shows it. Before the answer of a
 * failed batch is complete its status is that before the batch, so that it is rolled back whatever it says. Answers
 * whether the session lives, and a failure where the guard says that the tables are of another version.
 */
async function rollBack(connection: Connection, guard: Statement | undefined): Promise<RolledBack> {
  if (connection._invalid) return { isAlive: false }
  const text = guard === undefined ? 'ROLLBACK' : `ROLLBACK; ${guard.text}`
  return connection.query(patiently(text, ROLLBACK_PATIENCE)).then(() => ({ isAlive: true }), toOutdated)
}

interface RolledBack {
  readonly isAlive: boolean
  readonly outdated?: DatabaseFailure
}

/** What the work threw may follow from tables that it took for others: a document that is not found, for one. */
function toOutdated(error: unknown): RolledBack {
  const fault = toDatabaseFault(error)
  if (fault?.kind !== 'outdated') return { isAlive: false }
  return { isAlive: true, outdated: new DatabaseFailure(fault, error) }
}

const ROLLBACK_PATIENCE = 5_000

/** pg's types leave `query_timeout` of a single query out. */
const patiently = (text: string, patience: number): { text: string } =>
  ({ text, query_timeout: patience }) as { text: string }
