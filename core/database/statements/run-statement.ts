import type { Statement } from '../../sql/statement.ts'
import type { Pool } from '../connect/pool.ts'
import { type Connection, type RunOnTerms, runOn } from '../connection.ts'
import type { Rows } from '../database.ts'
import { toDatabaseFault } from '../database-fault.ts'
import { SERVER_READ, type Work } from '../scheduling/scheduled-work.ts'
import { toFailure } from '../to-failure.ts'

/** Runs one statement on a connection of the pool. The hot path: nothing is looked up, nothing is logged. */
export async function runStatement(pool: Pool, statement: Statement, terms: RunTerms): Promise<Rows> {
  const connection = await pool.acquire(terms.work)
  try {
    const rows = await runOn(connection, statement, terms)
    pool.release(connection)
    return rows
  } catch (error) {
    return recover({ pool, connection, statement, terms }, error)
  }
}

export interface RunTerms extends RunOnTerms {
  /** A read changes nothing, so that it may run again where an answer was lost. */
  readonly work: Work
}

/** Statements of the server itself: no caller chooses the size of their answers. */
export const ownRead = (patience: number): RunTerms => ({
  work: SERVER_READ,
  patience,
  maxBytes: Number.POSITIVE_INFINITY,
})

interface FailedRun {
  readonly pool: Pool
  readonly connection: Connection
  readonly statement: Statement
  readonly terms: RunTerms
}

/** Connections that broke together may still lie in the pool: so many of them does one statement find out. */
const TRIES = 3

/** Tries again where the failure says nothing about the statement: its plan was stale, or it was chosen as a deadlock's victim. */
export async function recover(
  { pool, connection, statement, terms }: FailedRun,
  error: unknown,
): Promise<Rows> {
  const fault = toDatabaseFault(error)
  // A server that takes no writes did nothing; the next connection leads to one that does, or fails.
  const isAgain = fault?.kind === 'serialization' || (fault?.kind === 'unavailable' && fault.isReadonly)
  pool.settle(connection, error)
  const isLost = terms.work.lane === 'read' && isUnavailable(error)
  if (isAgain || isLost) return runAgain(pool, statement, { ...terms, tries: isLost ? TRIES : 1 })
  throw toFailure(error)
}

const isUnavailable = (error: unknown): boolean => toDatabaseFault(error)?.kind === 'unavailable'

/** Where no connection can be had there is no other try: the database is away. */
async function runAgain(
  pool: Pool,
  statement: Statement,
  { tries, ...terms }: RunTerms & { readonly tries: number },
): Promise<Rows> {
  const connection = await pool.acquire(terms.work)
  try {
    const rows = await runOn(connection, statement, terms)
    pool.release(connection)
    return rows
  } catch (error) {
    pool.settle(connection, error)
    if (tries > 1 && isUnavailable(error)) return runAgain(pool, statement, { ...terms, tries: tries - 1 })
    throw toFailure(error)
  }
}
