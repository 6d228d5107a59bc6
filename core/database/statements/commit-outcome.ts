import type { BatchResult, Connection } from '../connection.ts'
import {
  DatabaseFailure,
  type DatabaseFault,
  type DriverError,
  toDatabaseFault,
  toDriverError,
} from '../database-fault.ts'

export interface CommitOptions {
  readonly connection: Connection
  /** The index of COMMIT in the batch. Its length, if the batch commits implicitly. */
  readonly commitAt: number
}

/** The failure of a batch that ends with COMMIT, and whether the COMMIT may have been carried out nevertheless. */
export function commitFailure(result: BatchResult, { commitAt }: CommitOptions): DatabaseFailure {
  const { error } = result
  const fault = toDatabaseFault(error) ?? { kind: 'unavailable', message: String(error?.message) }
  return new DatabaseFailure(fault, error, isRefused(result, commitAt) ? 'not-written' : 'unknown')
}

/**
 * Proves that nothing was committed. Answers come in the order of the statements. If PostgreSQL reports an error instead of
 * an answer to a statement before the COMMIT, it never reached the COMMIT.
 */
function isRefused({ error, results, isSent }: BatchResult, commitAt: number): boolean {
  if (!isSent) return true
  const driver = toDriverError(error)
  return driver !== undefined && isOfPostgres(driver) && results.length < commitAt
}

/** PostgreSQL names the routine of its source. A pooler that lost the server writes errors of its own, without one. */
const isOfPostgres = ({ routine, code }: DriverError): boolean =>
  typeof routine === 'string' && typeof code === 'string' && !code.startsWith('08')

/**
 * The failure of a commit after the session has answered a ROLLBACK. A server that is alive answers every COMMIT, so this
 * one was refused. Behind a pooler the ROLLBACK may have reached another server, unless only PostgreSQL makes such errors.
 */
export function withKnownOutcome(failure: unknown, { pooler }: Connection): unknown {
  if (!(failure instanceof DatabaseFailure) || failure.outcome !== 'unknown') return failure
  if (pooler !== undefined && !ONLY_OF_POSTGRES.has(failure.fault.kind)) return failure
  return new DatabaseFailure(failure.fault, failure.cause)
}

const ONLY_OF_POSTGRES: ReadonlySet<DatabaseFault['kind']> = new Set([
  'unique',
  'check',
  'foreignKey',
  'notNull',
  'serialization',
])
