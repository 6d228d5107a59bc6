import type { Result } from '../base/result.ts'
import { toError } from '../faults/errors.ts'
import { type Fault, fault } from '../faults/fault.ts'

/** The value of a result; throws its fault. */
export function given<Value>(result: Result<Value, Fault>): Value {
  if (result.ok) return result.value
  throw toError(result.reasons[0] ?? fault('internal', 'A refusal without a reason'))
}

export const refuse = (message: string, key: string): Error => toError(fault('validation', message, { key }))
