import type { BatchAnswer, Connection } from '../connection.ts'
import {
  DatabaseFailure,
  type DatabaseFault,
  type DriverError,
  toDatabaseFault,
  toDriverError,
} from '../database-fault.ts'

export interface CommitTerms {
  readonly connection: Connection
  /** The place of the COMMIT among the statements of the batch; their number, where the batch commits by itself. */
  readonly commitAt: number
}

/** Why a batch that ends with a COMMIT failed, and whether the COMMIT may have been carried out all the same. */
export function commitFailure(answer: BatchAnswer, terms: CommitTerms): DatabaseFailure {
  const { error } = answer
  const fault = toDatabaseFault(error) ?? { kind: 'unavailable', message: String(error?.message) }
  return new DatabaseFailure(fault, error, isRefused(answer, terms) ? 'not-written' : 'unknown')
}

/**
 * A proof that nothing was committed. Answers come in the order of the statements: an error of PostgreSQL's that comes
 * in place of an answer to a statement before the COMMIT means that the COMMIT was never reached.
 */
function isRefused({ error, outcomes, isSent }: BatchAnswer, { commitAt }: CommitTerms): boolean {
  if (!isSent) return true
  const driver = toDriverError(error)
  return driver !== undefined && isOfPostgres(driver) && outcomes.length < commitAt
}

/** PostgreSQL names the routine of its source; a pooler that lost the server writes errors of its own, without one. */
const isOfPostgres = ({ routine, code }: DriverError): boolean =>
  typeof routine === 'string' && typeof code === 'string' && !code.startsWith('08')

/**
 * The failure of a commit, once the session has answered a ROLLBACK: a server that lives answers every COMMIT, so this
 * one was refused. Behind a pooler the ROLLBACK may have met another server, unless the error can only be PostgreSQL's.
 */
export function refuted(failure: unknown, { plinthPooled }: Connection): unknown {
  if (!(failure instanceof DatabaseFailure) || failure.outcome !== 'unknown') return failure
  if (plinthPooled !== undefined && !OWN_KINDS.has(failure.fault.kind)) return failure
  return new DatabaseFailure(failure.fault, failure.cause)
}

/** No pooler makes these up. */
const OWN_KINDS: ReadonlySet<DatabaseFault['kind']> = new Set([
  'unique',
  'check',
  'foreignKey',
  'notNull',
  'serialization',
])
