import type { Transaction as SequelizeTransaction } from 'sequelize'
import type { Statement } from '../sql/statement.ts'
import type { Connection } from './connection.ts'
import type { Transaction, TransactionOptions } from './database.ts'
import { DatabaseFailure, toDatabaseFault } from './database-fault.ts'
import type { Pool } from './pool.ts'
import type { Position } from './position.ts'
import { patienceFor } from './session.ts'
import { StatementQueue } from './statement-queue.ts'
import { workOf } from './work.ts'

export interface TransactionTerms {
  readonly pool: Pool
  readonly statementTimeout: number
  /** Hears where the log is after a commit; absent: nobody needs to know. */
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
  const connection = await pool.acquire(workOf('write', options))
  try {
    const value = await inTransaction(openTransaction(connection, terms, options), work, terms)
    pool.release(connection)
    return value
  } catch (error) {
    const outdated = await rollBack(connection, options.guard)
    pool.settle(connection, error)
    throw outdated ?? error
  }
}

async function inTransaction<Value>(
  open: OpenTransaction,
  work: (transaction: Transaction) => Promise<Value>,
  { committed }: TransactionTerms,
): Promise<Value> {
  try {
    const value = await work(open.transaction)
    const position = await open.commit()
    if (position !== null) committed?.(position)
    return value
  } finally {
    open.end()
  }
}

interface OpenTransaction {
  readonly transaction: Transaction
  commit(): Promise<Position | null>
  /** Nothing runs in it any more. */
  end(): void
}

/** It begins with its first statement, in one round trip; one that runs none costs nothing. */
function openTransaction(
  connection: Connection,
  terms: TransactionTerms,
  options: TransactionOptions,
): OpenTransaction {
  const patience = patienceFor(options.statementTimeout ?? terms.statementTimeout)
  const queue = new StatementQueue(connection, options, {
    patience,
    tellsPosition: terms.committed !== undefined,
  })
  let adopted: SequelizeTransaction | undefined
  const transaction: Transaction = {
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
    get sequelize() {
      queue.flush()
      adopted ??= terms.adopt(connection)
      return adopted
    },
  }
  return { transaction, commit: () => queue.commit(), end: () => queue.end() }
}

const LOCK_KEY = 'hashtextextended($1::text, 0)'

/**
 * A connection that cannot even roll back is not given back to the pool: its status shows it. Before the answer of a
 * failed batch is complete its status is that before the batch, so that it is rolled back whatever it says. Answers a
 * failure where the guard says that the tables are of another version.
 */
async function rollBack(
  connection: Connection,
  guard: Statement | undefined,
): Promise<DatabaseFailure | undefined> {
  if (connection._invalid) return undefined
  const text = guard === undefined ? 'ROLLBACK' : `ROLLBACK; ${guard.text}`
  return connection.query(patiently(text, ROLLBACK_PATIENCE)).then(() => undefined, toOutdated)
}

/** What the work threw may follow from tables that it took for others: a document that is not found, for one. */
function toOutdated(error: unknown): DatabaseFailure | undefined {
  const fault = toDatabaseFault(error)
  return fault?.kind === 'outdated' ? new DatabaseFailure(fault, error) : undefined
}

const ROLLBACK_PATIENCE = 5_000

/** pg's types leave `query_timeout` of a single query out. */
const patiently = (text: string, patience: number): { text: string } =>
  ({ text, query_timeout: patience }) as { text: string }
