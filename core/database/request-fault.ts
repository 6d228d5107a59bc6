import { PasswordQueueFull, PasswordThreadFailed } from '../base/passwords.ts'
import { UnavailableError } from '../faults/errors.ts'
import { type Fault, fault, RequestFault } from '../faults/fault.ts'
import { type DatabaseFault, isOutcomeUnknown, toDatabaseFault } from './database-fault.ts'

/** The answer to a request whose database work failed. */
export interface RequestFailure {
  readonly fault: Fault
  /** For the log; null: not to be logged. */
  readonly reason: string | null
}

/** null: not a failure of a dependency, but an unexpected error. */
export function toRequestFault(error: unknown): RequestFailure | null {
  if (error instanceof UnavailableError)
    return { fault: error.fault, reason: toRequestFault(error.cause)?.reason ?? null }
  if (error instanceof PasswordQueueFull) return { fault: fault('unavailable', BUSY), reason: null }
  if (error instanceof PasswordThreadFailed)
    return { fault: fault('unavailable', AWAY), reason: error.message }
  const database = toDatabaseFault(error)
  const message = database && MESSAGES[database.kind]
  if (!message) return null
  return {
    fault: fault('unavailable', message, isOutcomeUnknown(error) ? { outcome: 'unknown' } : {}),
    reason: database.kind === 'outdated' || database.kind === 'aborted' ? null : database.message,
  }
}

/** Converts a failure to the error class that plugin code knows. Returns other errors unchanged. */
export function toCodeError(error: unknown): unknown {
  const failure = error instanceof RequestFault ? null : toRequestFault(error)
  if (!failure) return error
  const outcome = isOutcomeUnknown(error) ? 'unknown' : 'not-written'
  return new UnavailableError(failure.fault.message, { ...failure.fault.details, outcome }, { cause: error })
}

export const OUTDATED_MESSAGE =
  'The database was changed for another version of the project: this server has to be restarted with it'

const AWAY = 'Service Unavailable'
const BUSY = 'The server is busy: try again'

const MESSAGES: Readonly<Partial<Record<DatabaseFault['kind'], string>>> = {
  unavailable: AWAY,
  busy: BUSY,
  timeout: 'The database did not answer in time',
  aborted: AWAY,
  serialization: 'Others wrote at the same moment: try again',
  outdated: OUTDATED_MESSAGE,
}
