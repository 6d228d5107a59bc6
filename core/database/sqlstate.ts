/**
 * Categories of PostgreSQL errors by SQLSTATE or by its class (the first two characters):
 * https://www.postgresql.org/docs/current/errcodes-appendix.html. Other errors are faults of the statement.
 *
 * - `retry`: the same work may succeed if it runs again; after some tries 503.
 * - `timeout`: it took too long; 503, nothing was written.
 * - `unavailable`: the server or the connection fails now; 503. Nothing was written unless a COMMIT was sent. If the
 *   connection is lost during a COMMIT, only the data show whether it succeeded.
 * - `overwhelmed`: the server answers, but has no room or cannot use its files, until its operator acts; 503, nothing was
 *   written.
 * - `readonly`: the server takes no writes: it is a standby, or was configured so. 503, nothing was written, and its
 *   connections are not used again.
 */
export type SqlstateCategory = 'retry' | 'timeout' | 'unavailable' | 'overwhelmed' | 'readonly'

/** in_failed_sql_transaction: code ignored the error of an earlier statement. */
export const FAILED_TRANSACTION = '25P02'

/** Raised by a statement whose generation the tables no longer suit (generations/). */
export const OUTDATED = 'PLG01'

const BY_CODE: Readonly<Record<string, SqlstateCategory>> = {
  // serialization_failure, deadlock_detected, invalid_sql_statement_name (a prepared statement was lost)
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
  // idle_in_transaction_session_timeout, transaction_timeout
  '25P03': 'unavailable',
  '25P04': 'unavailable',
  // admin_shutdown, crash_shutdown, cannot_connect_now, database_dropped, idle_session_timeout
  '57P01': 'unavailable',
  '57P02': 'unavailable',
  '57P03': 'unavailable',
  '57P04': 'unavailable',
  '57P05': 'unavailable',
}

const BY_CLASS: Readonly<Record<string, SqlstateCategory>> = {
  // connection exceptions
  '08': 'unavailable',
  // insufficient resources: too many connections, memory, a full disk, a configured limit
  '53': 'overwhelmed',
  // system errors: input and output, missing files
  '58': 'overwhelmed',
}

/** undefined: a fault of the statement or its data. */
export const categorize = (sqlstate: string): SqlstateCategory | undefined =>
  BY_CODE[sqlstate] ?? BY_CLASS[sqlstate.slice(0, 2)]

/** internal_error or damaged data: a defect of the server, which may end when the server is replaced. */
export const isServerDefect = (sqlstate: unknown): boolean =>
  typeof sqlstate === 'string' && sqlstate.startsWith('XX')
