import { type Path, printPath } from '../../faults/diagnostic.ts'
import { type Fault, fault } from '../../faults/fault.ts'
import type { Attribute } from '../../model/model.ts'
import type { Stored } from '../desired-state.ts'

/**
 * One fault in the values of a document. `key`: the path leads to an unknown key. `format`: an invalid date or time
 * (a request reports these first, without the others). `rule`: any other fault.
 */
export interface ValueFault {
  readonly kind: 'key' | 'format' | 'rule'
  readonly path: Path
  /** The whole sentence: of a rule, the place comes first. */
  readonly message: string
  /** Absent where the value is. */
  readonly value?: unknown
}

/** A fault in one value whose path is not known yet. The message of a rule continues a sentence that begins with the path. */
export interface Refusal {
  readonly kind: 'format' | 'rule'
  readonly message: string
  /** The value that the fault reports as found, if it is not the value as given. */
  readonly found?: unknown
}

/** The stored form, or why there is none; a number that is not the right one is held against its limits all the same. */
export type ParseOutcome =
  | { readonly stored: Stored }
  | { readonly refusal: Refusal; readonly compared?: number }

export const rule = (message: string): Refusal => ({ kind: 'rule', message })

export const format = (message: string): Refusal => ({ kind: 'format', message })

/** reference/rest.md#3-attribute-values: ``must be a `string` type, but the final value was: `12345`.`` */
export const wrongType = (type: string, value: unknown): Refusal =>
  rule(`must be a \`${type}\` type, but the final value was: \`${printValue(value)}\`.`)

/** The reference makes null of what cannot be a list or an object. */
export const castToNull = (type: string, value: unknown): Refusal => ({
  kind: 'rule',
  message: `must be a \`${type}\` type, but the final value was: \`null\` (cast from the value \`${printValue(value)}\`).`,
  found: null,
})

/** The refusal of a value that cannot be converted to a number. */
export const notANumber = (value: unknown): Refusal => ({
  kind: 'rule',
  message: `must be a \`number\` type, but the final value was: \`NaN\` (cast from the value \`${printValue(value)}\`).`,
  found: null,
})

export const notUnique = (path: Path, value: string): ValueFault => ({
  kind: 'rule',
  path,
  message: 'This attribute must be unique',
  value,
})

export function toFault(refusal: Refusal, path: Path, value: unknown): ValueFault {
  const message = refusal.kind === 'rule' ? `${printPath(path)} ${refusal.message}` : refusal.message
  const found = 'found' in refusal ? refusal.found : value
  return { kind: refusal.kind, path, message, ...(found === undefined ? {} : { value: found }) }
}

/** Prints a value as the reference does: in quotes unless it is a list or an object, also inside of these. */
function printValue(value: unknown): string {
  if (typeof value === 'string') return `"${value}"`
  if (!isNested(value)) return String(value)
  return JSON.stringify(value, (_, each) => (isNested(each) ? each : printValue(each)), 2)
}

const isNested = (value: unknown): boolean => typeof value === 'object' && value !== null

/** A component that an update names by id and that the document does not have; zones have their own fault (reference/rest.md#13-components-and-zones-in-bodies). */
export const foreignComponent = ({ kind, name }: Pick<Attribute, 'kind' | 'name'>) =>
  fault(
    kind === 'zone' ? 'foreignPart' : 'application',
    `Some of the provided components in ${name} are not related to the entity`,
  )

/** Errors that a response lists: each repeats a value of the body. */
const MOST_LISTED = 1_000

/** reference/rest.md#2-errors, reference/rest.md#3-attribute-values: dates and times first and alone, else the first MOST_LISTED in a list. */
export function toRefusal(faults: readonly ValueFault[]): Fault | undefined {
  const [first] = faults
  if (!first) return undefined
  const alone = faults.find(({ kind }) => kind === 'key') ?? faults.find(({ kind }) => kind === 'format')
  if (alone) return fault('validation', alone.message)
  const errors = faults.slice(0, MOST_LISTED).map(({ path, message, value }) => ({
    path: path.map(String),
    message,
    name: 'ValidationError',
    ...(value === undefined ? {} : { value }),
  }))
  return fault('validation', faults.length === 1 ? first.message : `${faults.length} errors occurred`, {
    errors,
  })
}
