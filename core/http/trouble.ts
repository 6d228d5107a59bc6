import { toRequestFault } from '../database/request-fault.ts'
import { type Fault, fault, RequestFault } from '../faults/fault.ts'
import type { Observer } from '../observe/observation.ts'

/** Whatever was thrown → what the caller is told, and the log alone learns the rest. */
export function toTrouble(error: unknown, requestId: string, observer: Observer): Fault {
  if (error instanceof RequestFault) return error.fault
  const told = toRequestFault(error)
  if (told === null) {
    observer.tell({ kind: 'failed', requestId, error })
    return fault('internal', 'Internal Server Error')
  }
  if (told.reason !== null) observer.tell({ kind: 'unavailable', requestId, reason: told.reason })
  return told.fault
}

export const unavailable = (): Fault => fault('unavailable', 'Service Unavailable')
