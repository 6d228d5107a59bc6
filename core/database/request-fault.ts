import { type Fault, fault } from '../faults/fault.ts'
import { type DatabaseFault, toDatabaseFault } from './database-fault.ts'

/** What a request is told, and why, where the database did not do its part. */
export interface Told {
  readonly fault: Fault
  /** For the log; null: it knows. */
  readonly reason: string | null
}

/** null: the error is no such thing, but the server's own trouble. */
export function toRequestFault(error: unknown): Told | null {
  const database = toDatabaseFault(error)
  const message = database && MESSAGES[database.kind]
  if (!message) return null
  return {
    fault: fault('unavailable', message),
    reason: database.kind === 'outdated' ? null : database.message,
  }
}

export const OUTDATED_MESSAGE =
  'The database was changed for another version of the project: this server has to be restarted with it'

const AWAY = 'Service Unavailable'
const BUSY = 'The server is busy: try again'

const MESSAGES: Readonly<Partial<Record<DatabaseFault['kind'], string>>> = {
  unavailable: AWAY,
  busy: BUSY,
  timeout: AWAY,
  serialization: 'Others wrote at the same moment: try again',
  outdated: OUTDATED_MESSAGE,
}
