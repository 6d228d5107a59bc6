import { toDatabaseFault } from '../database/database-fault.ts'
import { type Fault, fault, RequestFault } from '../faults/fault.ts'
import type { Observer } from '../observe/observation.ts'

/** Whatever was thrown → what the caller is told, and the log alone learns the rest. */
export function toTrouble(error: unknown, requestId: string, observer: Observer): Fault {
  if (error instanceof RequestFault) return error.fault
  const database = toDatabaseFault(error)
  if (database?.kind === 'unavailable' || database?.kind === 'timeout') {
    observer.tell({ kind: 'unavailable', requestId, reason: database.message })
    return unavailable()
  }
  observer.tell({ kind: 'failed', requestId, error })
  return fault('internal', 'Internal Server Error')
}

export const unavailable = (): Fault => fault('unavailable', 'Service Unavailable')
