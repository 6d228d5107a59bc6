/**
 * What an error of PostgreSQL means, by its SQLSTATE or the class of it (its first two characters):
 * https://www.postgresql.org/docs/current/errcodes-appendix.html. What is not named here is a fault of the statement.
 *
 * - `retry`: another run of the same work may succeed; after some tries 503.
 * - `timeout`: it took too long; 503, and nothing of it was written.
 * - `unavailable`: the server, or this connection, cannot do its part now; 503. What was sent before a COMMIT is not
 *   written; where the connection ends while a COMMIT is under way, only the data tell.
 * - `readonly`: the server takes no writes: it is a standby, or was set so. 503, nothing is written, and connections to
 *   it are not used again.
 */
export type Meaning = 'retry' | 'timeout' | 'unavailable' | 'readonly'

const BY_CODE: Readonly<Record<string, Meaning>> = {
  // serialization_failure, deadlock_detected, and a prepared statement that the server does not know (any more)
  '40001': 'retry',
  '40P01': 'retry',
  '26000': 'retry',
  // query_canceled (statement_timeout), lock_not_available (lock_timeout)
  '57014': 'timeout',
  '55P03': 'timeout',
  // read_only_sql_transaction
  '25006': 'readonly',
  // statement_completion_unknown
  '40003': 'unavailable',
  // in_failed_sql_transaction, idle_in_transaction_session_timeout, transaction_timeout
  '25P02': 'unavailable',
  '25P03': 'unavailable',
  '25P04': 'unavailable',
  // admin_shutdown, crash_shutdown, cannot_connect_now, database_dropped, idle_session_timeout
  '57P01': 'unavailable',
  '57P02': 'unavailable',
  '57P03': 'unavailable',
  '57P04': 'unavailable',
  '57P05': 'unavailable',
}

const BY_CLASS: Readonly<Record<string, Meaning>> = {
  // connections
  '08': 'unavailable',
  // insufficient resources: too many connections, memory, a full disk, a limit of the configuration
  '53': 'unavailable',
  // system errors: input and output, files that are missing
  '58': 'unavailable',
}

/** undefined: the statement is wrong, or met data that it cannot. */
export const meaningOf = (sqlstate: string): Meaning | undefined =>
  BY_CODE[sqlstate] ?? BY_CLASS[sqlstate.slice(0, 2)]

/** internal_error and damaged data: a fault of the server, which passes where it is being replaced. */
export const isInternal = (sqlstate: unknown): boolean =>
  typeof sqlstate === 'string' && sqlstate.startsWith('XX')
