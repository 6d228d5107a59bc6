import { PasswordQueueFull } from '../base/passwords.ts'
import { UnavailableError } from '../faults/errors.ts'
import { type Fault, fault, RequestFault } from '../faults/fault.ts'
import { type DatabaseFault, isUnclear, toDatabaseFault } from './database-fault.ts'

/** What a request is told, and why, where the database did not do its part. */
export interface Told {
  readonly fault: Fault
  /** For the log; null: it knows. */
  readonly reason: string | null
}

/** null: the error is no such thing, but the server's own trouble. */
export function toRequestFault(error: unknown): Told | null {
  if (error instanceof UnavailableError)
    return { fault: error.fault, reason: toRequestFault(error.cause)?.reason ?? null }
  if (error instanceof PasswordQueueFull) return { fault: fault('unavailable', BUSY), reason: null }
  const database = toDatabaseFault(error)
  const message = database && MESSAGES[database.kind]
  if (!message) return null
  return {
    fault: fault('unavailable', message, isUnclear(error) ? { outcome: 'unknown' } : {}),
    reason: database.kind === 'outdated' || database.kind === 'aborted' ? null : database.message,
  }
}

/** The same error as code of the project knows it; any other as it is. */
export function toCodeError(error: unknown): unknown {
  const told = error instanceof RequestFault ? null : toRequestFault(error)
  if (!told) return error
  const outcome = isUnclear(error) ? 'unknown' : 'not-written'
  return new UnavailableError(told.fault.message, { ...told.fault.details, outcome }, { cause: error })
}

export const OUTDATED_MESSAGE =
  'The database was changed for another version of the project: this server has to be restarted with it'

const AWAY = 'Service Unavailable'
const BUSY = 'The server is busy: try again'

const MESSAGES: Readonly<Partial<Record<DatabaseFault['kind'], string>>> = {
  unavailable: AWAY,
  busy: BUSY,
  timeout: AWAY,
  aborted: AWAY,
  serialization: 'Others wrote at the same moment: try again',
  outdated: OUTDATED_MESSAGE,
}
