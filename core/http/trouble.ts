import { toRequestFault } from '../database/request-fault.ts'
import { type Fault, fault, RequestFault } from '../faults/fault.ts'
import { type HttpRequest, isSafeMethod } from '../faults/http-exchange.ts'
import type { Observer } from '../observe/observation.ts'

/** Whatever was thrown → what the caller is told, and the log alone learns the rest. */
export function toTrouble(error: unknown, requestId: string, observer: Observer): Fault {
  const told = toRequestFault(error)
  if (told === null && error instanceof RequestFault) return error.fault
  if (told === null) {
    observer.emit({ kind: 'failed', requestId, error })
    return fault('internal', 'Internal Server Error')
  }
  if (told.reason !== null) observer.emit({ kind: 'unavailable', requestId, reason: told.reason })
  return told.fault
}

/**
 * The same fault, saying what became of the data (contract/rest.md 0): always of requests that may write, of others
 * where something was written. An internal fault says so only where it came after a write.
 */
export function withOutcome(given: Fault, { method, writes }: HttpRequest): Fault {
  if (given.code !== 'unavailable' && given.code !== 'internal') return given
  const isUnknown = given.details.outcome === 'unknown' || writes?.outcome !== 'not-written'
  const outcome = isUnknown ? 'unknown' : 'not-written'
  if (outcome === 'not-written' && (given.code === 'internal' || isSafeMethod(method))) return given
  return { ...given, details: { ...given.details, outcome } }
}

export const unavailable = (): Fault => fault('unavailable', 'Service Unavailable')
