import type { Transaction as SequelizeTransaction } from 'sequelize'
import type { Statement } from '../sql/statement.ts'
import { type Connection, forgetStatement, isStale, runOn } from './connection.ts'
import type { Transaction, TransactionOptions } from './database.ts'
import { DatabaseFailure, toDatabaseFault } from './database-fault.ts'
import type { Pool } from './pool.ts'
import { patienceFor } from './session.ts'

export interface TransactionTerms {
  readonly pool: Pool
  readonly statementTimeout: number
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
  const connection = await pool.acquire('write')
  try {
    await command(connection, begin(options), terms)
    const value = await inTransaction(connection, work, { ...terms, ...options })
    pool.release(connection)
    return value
  } catch (error) {
    await rollBack(connection)
    pool.settle(connection, error)
    throw error
  }
}

type Terms = TransactionTerms & TransactionOptions

async function inTransaction<Value>(
  connection: Connection,
  work: (transaction: Transaction) => Promise<Value>,
  terms: Terms,
): Promise<Value> {
  const open = openTransaction(connection, terms)
  try {
    const value = await work(open.transaction)
    assertCommitted(await command(connection, 'COMMIT', terms))
    return value
  } finally {
    open.end()
  }
}

function openTransaction(connection: Connection, terms: Terms): { transaction: Transaction; end(): void } {
  const patience = patienceFor(terms.statementTimeout)
  let isOver = false
  let adopted: SequelizeTransaction | undefined
  const run = async (statement: Statement) => {
    if (isOver)
      throw new DatabaseFailure({ kind: 'other', message: 'The transaction is over', code: '25P01' })
    return runOn(connection, statement, patience).catch(error => failStatement(connection, statement, error))
  }
  const transaction: Transaction = {
    run,
    lock: async name =>
      void (await run({ text: `SELECT 1 FROM pg_advisory_xact_lock(${LOCK_KEY})`, values: [name] })),
    async tryLock(name) {
      const { rows } = await run({ text: `SELECT pg_try_advisory_xact_lock(${LOCK_KEY})`, values: [name] })
      return rows[0]?.[0] === true
    },
    get sequelize() {
      adopted ??= terms.adopt(connection)
      return adopted
    },
  }
  const end = () => {
    isOver = true
  }
  return { transaction, end }
}

const LOCK_KEY = 'hashtextextended($1::text, 0)'

function failStatement(connection: Connection, { text }: Statement, error: unknown): never {
  if (isStale(error)) forgetStatement(connection, text)
  throw toFailure(error)
}

/** What a caller of this room sees of any error below it. */
export function toFailure(error: unknown): unknown {
  const fault = toDatabaseFault(error)
  return fault === undefined || error instanceof DatabaseFailure ? error : new DatabaseFailure(fault, error)
}

function begin({ isolation, readonly, statementTimeout }: TransactionOptions): string {
  const level = isolation === undefined ? '' : ` ISOLATION LEVEL ${isolation.toUpperCase()}`
  const access = readonly ? ' READ ONLY' : ''
  const timeout =
    statementTimeout === undefined ? '' : `; SET LOCAL statement_timeout = ${Math.trunc(statementTimeout)}`
  return `BEGIN${level}${access}${timeout}`
}

function assertCommitted(tag: string): void {
  if (tag === 'COMMIT') return
  const message = 'A statement of the transaction failed, and its error was swallowed: nothing is committed'
  throw new DatabaseFailure({ kind: 'other', message, code: '25P02' })
}

/** Answers the command tag: of several commands, the last one's. */
async function command(connection: Connection, text: string, { statementTimeout }: Terms): Promise<string> {
  try {
    const answer = await connection.query(patiently(text, patienceFor(statementTimeout)))
    return [answer].flat().at(-1)?.command ?? ''
  } catch (error) {
    throw toFailure(error)
  }
}

/** A connection that cannot even roll back is not given back to the pool: its status shows it. */
async function rollBack(connection: Connection): Promise<void> {
  if (connection._invalid || connection.getTransactionStatus() === 'I') return
  await connection.query(patiently('ROLLBACK', ROLLBACK_PATIENCE)).catch(() => undefined)
}

const ROLLBACK_PATIENCE = 5_000

/** pg's types leave `query_timeout` of a single query out. */
const patiently = (text: string, patience: number): { text: string } =>
  ({ text, query_timeout: patience }) as { text: string }
