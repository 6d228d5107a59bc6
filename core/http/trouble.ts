import { type DatabaseFault, toDatabaseFault } from '../database/database-fault.ts'
import { type Fault, fault, RequestFault } from '../faults/fault.ts'
import type { Observer } from '../observe/observation.ts'

/** Whatever was thrown → what the caller is told, and the log alone learns the rest. */
export function toTrouble(error: unknown, requestId: string, observer: Observer): Fault {
  if (error instanceof RequestFault) return error.fault
  const database = toDatabaseFault(error)
  if (database && PASSING.has(database.kind)) {
    observer.tell({ kind: 'unavailable', requestId, reason: database.message })
    return unavailable()
  }
  observer.tell({ kind: 'failed', requestId, error })
  return fault('internal', 'Internal Server Error')
}

/** What the same request may not meet a second time. */
const PASSING: ReadonlySet<DatabaseFault['kind']> = new Set(['unavailable', 'timeout', 'serialization'])

export const unavailable = (): Fault => fault('unavailable', 'Service Unavailable')
