import type { Statement } from '../../sql/statement.ts'
import { abandon } from '../connect/cancel.ts'
import type { Pool } from '../connect/pool.ts'
import { runOn } from '../connection.ts'
import type { Rows } from '../database.ts'
import { abandoned } from '../scheduling/scheduler.ts'
import { toFailure } from '../to-failure.ts'
import { type RunTerms, recover } from './run-statement.ts'

export interface AbortableTerms extends RunTerms {
  readonly signal: AbortSignal
}

/** Runs one statement, until somebody who waits for it gives up. */
export async function runAbortable(pool: Pool, statement: Statement, terms: AbortableTerms): Promise<Rows> {
  const { signal } = terms
  const connection = await pool.acquire(terms.work)
  if (signal.aborted) {
    pool.release(connection)
    throw abandoned()
  }
  const giveUp = () => abandon(connection)
  signal.addEventListener('abort', giveUp, { once: true })
  try {
    const rows = await runOn(connection, statement, terms)
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
