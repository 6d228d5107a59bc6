import type { Statement } from '../sql/statement.ts'
import { type Connection, isStale, runOn } from './connection.ts'
import type { Rows } from './database.ts'
import { toDatabaseFault } from './database-fault.ts'
import type { Pool } from './pool.ts'
import { toFailure } from './to-failure.ts'

/** Runs one statement on a connection of the pool. The hot path: nothing is looked up, nothing is logged. */
export async function runStatement(pool: Pool, statement: Statement, terms: RunTerms): Promise<Rows> {
  const connection = await pool.acquire(terms.use)
  try {
    const rows = await runOn(connection, statement, terms.patience)
    pool.release(connection)
    return rows
  } catch (error) {
    return recover({ pool, connection, statement, terms }, error)
  }
}

export interface RunTerms {
  readonly use: 'read' | 'write'
  /** Changes nothing, so that it may run again where an answer was lost. */
  readonly readonly: boolean
  /** Milliseconds; see runOn. */
  readonly patience: number
}

interface FailedRun {
  readonly pool: Pool
  readonly connection: Connection
  readonly statement: Statement
  readonly terms: RunTerms
}

/** One more try where the failure says nothing about the statement. */
export async function recover(
  { pool, connection, statement, terms }: FailedRun,
  error: unknown,
): Promise<Rows> {
  const isAgain = isStale(error)
  pool.settle(connection, error)
  const isLost = terms.readonly && toDatabaseFault(error)?.kind === 'unavailable'
  if (isAgain || isLost) return runOnce(pool, statement, terms)
  throw toFailure(error)
}

async function runOnce(pool: Pool, statement: Statement, { use, patience }: RunTerms): Promise<Rows> {
  const connection = await pool.acquire(use)
  try {
    const rows = await runOn(connection, statement, patience)
    pool.release(connection)
    return rows
  } catch (error) {
    pool.settle(connection, error)
    throw toFailure(error)
  }
}
