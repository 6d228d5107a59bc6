import type { Statement } from '../sql/statement.ts'
import { abandon } from './cancel.ts'
import { runOn } from './connection.ts'
import type { Rows } from './database.ts'
import { DatabaseFailure } from './database-fault.ts'
import type { Pool } from './pool.ts'
import { type RunTerms, recover } from './run-statement.ts'
import { toFailure } from './to-failure.ts'

export interface AbortableTerms extends RunTerms {
  readonly signal: AbortSignal
  readonly isServer: boolean
}

/** Runs one statement, until somebody who waits for it gives up. */
export async function runAbortable(pool: Pool, statement: Statement, terms: AbortableTerms): Promise<Rows> {
  const { signal } = terms
  const connection = await pool.acquire()
  if (signal.aborted) {
    pool.release(connection)
    throw gaveUp()
  }
  const giveUp = () => abandon(connection, terms.isServer)
  signal.addEventListener('abort', giveUp, { once: true })
  try {
    const rows = await runOn(connection, statement, terms.patience)
    signal.removeEventListener('abort', giveUp)
    if (connection._invalid) pool.discard(connection)
    else pool.release(connection)
    return rows
  } catch (error) {
    signal.removeEventListener('abort', giveUp)
    if (!signal.aborted) return recover({ pool, connection, statement, terms }, error)
    pool.settle(connection, error)
    throw toFailure(error)
  }
}

const gaveUp = () =>
  new DatabaseFailure({ kind: 'timeout', message: 'Nobody waits for the statement', code: null }, null)
