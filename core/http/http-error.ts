import { type Fault, type FaultCode, fault } from '../faults/fault.ts'

/** The refusals that a library of Express may pass on, by their status. */
const CODES: ReadonlyMap<number, FaultCode> = new Map([
  [401, 'unauthorized'],
  [403, 'forbidden'],
  [404, 'notFound'],
  [405, 'methodNotAllowed'],
  [408, 'requestTimeout'],
  [412, 'preconditionFailed'],
  [413, 'payloadTooLarge'],
  [416, 'rangeNotSatisfiable'],
  [429, 'rateLimit'],
])

/**
 * The fault of an error that refuses a request: one with a status of 400 to 499 that the error itself allows to be
 * shown (`expose`, as the package http-errors sets it). null: the error is a failure of the server.
 */
export function toHttpFault(error: unknown): Fault | null {
  if (!(error instanceof Error) || !('expose' in error) || error.expose !== true) return null
  const status = 'status' in error ? error.status : undefined
  if (typeof status !== 'number' || status < 400 || status > 499) return null
  return fault(CODES.get(status) ?? 'badRequest', error.message)
}
