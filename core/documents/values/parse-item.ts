import type { Path } from '../../faults/diagnostic.ts'
import type { ComponentAttribute, ZoneAttribute } from '../../model/model.ts'
import { readRowId } from '../../query/parse-given-values.ts'
import type { Strictness } from './parse-scalar.ts'
import { castToNull, type Refusal, rule, toFault, type ValueFault, wrongType } from './value-fault.ts'

export type Body = Readonly<Record<string, unknown>>

/** The refusal of an item of a list or of a single component that is no object. */
export const notAnObject = (input: unknown): Refusal =>
  input === null ? wrongType('object', input) : castToNull('object', input)

export const isBody = (value: unknown): value is Body =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The id of the component that an item changes; null: it makes one. A value that is no id names a component that no document has. */
export const idOf = ({ id = null }: Body): number | null =>
  id === null ? null : (readRowId(id) ?? NO_COMPONENT)

const NO_COMPONENT = 0

/** How many items a list may have. */
export function* counts(
  { min, max }: ComponentAttribute | ZoneAttribute,
  input: readonly unknown[],
  path: Path,
  { strictness }: { readonly strictness: Strictness },
): Generator<ValueFault> {
  if (strictness === 'full' && min !== undefined && input.length < min)
    yield toFault(rule(`field must have at least ${min} items`), path, input)
  if (max !== undefined && input.length > max)
    yield toFault(rule(`field must have less than or equal to ${max} items`), path, input)
}
