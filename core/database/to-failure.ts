import { DatabaseFailure, toDatabaseFault } from './database-fault.ts'

/** What a caller of this room sees of any error below it. */
export function toFailure(error: unknown): unknown {
  const fault = toDatabaseFault(error)
  return fault === undefined || error instanceof DatabaseFailure ? error : new DatabaseFailure(fault, error)
}
