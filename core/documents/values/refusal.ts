import { type Fault, fault } from '../../faults/fault.ts'
import type { ValueFault } from './value-fault.ts'

/** contract/rest.md 2 and 3: dates and times first and alone, else all of them in a list. */
export function toRefusal(faults: readonly ValueFault[]): Fault | undefined {
  const [first] = faults
  if (!first) return undefined
  const alone = faults.find(({ kind }) => kind === 'key') ?? faults.find(({ kind }) => kind === 'format')
  if (alone) return fault('validation', alone.message)
  const errors = faults.map(({ path, message, value }) => ({
    path: path.map(String),
    message,
    name: 'ValidationError',
    ...(value === undefined ? {} : { value }),
  }))
  return fault('validation', faults.length === 1 ? first.message : `${faults.length} errors occurred`, {
    errors,
  })
}
