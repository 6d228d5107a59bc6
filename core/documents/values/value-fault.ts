import { cutMiddle } from '../../base/text.ts'
import { type Path, printPath } from '../../faults/diagnostic.ts'
import { type Fault, fault, MAX_MESSAGE, printIndented } from '../../faults/fault.ts'
import type { Attribute } from '../../model/model.ts'
import type { Stored } from '../desired-state.ts'

/**
 * One fault in the values of a document. `key`: the path leads to an unknown key. `format`: an invalid date or time
 * (a request reports these first, without the others). `rule`: any other fault.
 */
export interface ValueFault {
  readonly kind: 'key' | 'format' | 'rule'
  readonly path: Path
  /** The whole sentence. That of a rule begins with the path. */
  readonly message: string
  /** The value as given; absent if it is missing in the body. */
  readonly value?: unknown
}

/** Takes the place of all paths while values are only tested: nearly all are valid, and a path for each would cost more than the test. */
export const UNTRACKED: Path = []

/** The path of an item or attribute below another path. */
export const below = (path: Path, key: string | number): Path =>
  path === UNTRACKED ? UNTRACKED : [...path, key]

/** A fault in one value whose path is not known yet. The message of a rule continues a sentence that begins with the path. */
export interface Refusal {
  readonly kind: 'format' | 'rule'
  readonly message: string
  /** The value that the fault reports as found, if it is not the value as given. */
  readonly found?: unknown
}

/** The stored form of a value, or its refusal. `number`: a refused number whose `min` and `max` are checked, too. */
export type ParseOutcome =
  /** `number`: as given, for the limits of the attribute, where another one is stored. */
  | { readonly stored: Stored; readonly number?: number }
  | { readonly refusal: Refusal; readonly number?: number }

/** A refusal of the kind `rule`. The message continues a sentence that begins with the path. */
export const rule = (message: string): Refusal => ({ kind: 'rule', message })

/** A refusal of the kind `format`: the whole message. */
export const format = (message: string): Refusal => ({ kind: 'format', message })

/** The refusal of a value of another type (reference/rest.md#3-attribute-values): ``must be a `string` type, but the final value was: `12345`.`` */
export const wrongType = (type: string, value: unknown): Refusal =>
  rule(`must be a \`${type}\` type, but the final value was: \`${printValue(value)}\`.`)

/** The refusal of a value that cannot become a list or an object: the reference system converts it to null and reports that. */
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

/** The fault of a value that another document has. */
export const notUnique = (path: Path, value: string): ValueFault => ({
  kind: 'rule',
  path,
  message: 'This attribute must be unique',
  value,
})

/** The fault of a refused password, without what was given (reference/safety.md#s2-passwords). */
export const toSecretFault = (refusal: Refusal, path: Path): ValueFault =>
  toFault({ ...refusal, found: undefined }, path, undefined)

/** The refusal of a password that is no text. */
export const secretOfWrongType = rule('must be a `string` type')

/** The fault of a refused value at its path. */
export function toFault(refusal: Refusal, path: Path, value: unknown): ValueFault {
  const message = refusal.kind === 'rule' ? `${printPath(path)} ${refusal.message}` : refusal.message
  const shown = cutMiddle(message, MAX_MESSAGE)
  const found = 'found' in refusal ? refusal.found : value
  return { kind: refusal.kind, path, message: shown, ...(found === undefined ? {} : { value: found }) }
}

/** Prints a value like the reference system: scalars in quotes, also inside lists and objects. */
function printValue(value: unknown): string {
  if (typeof value === 'string') return `"${value}"`
  return typeof value === 'object' && value !== null ? printIndented(value, printValue) : String(value)
}

/** The fault of an update that names a component by an id that the document does not have (reference/rest.md#13-components-and-zones-in-bodies). */
export const foreignComponent = ({ kind, name }: Pick<Attribute, 'kind' | 'name'>) =>
  fault(
    kind === 'zone' ? 'foreignPart' : 'application',
    `Some of the provided components in ${name} are not related to the entity`,
  )

/** Limits the errors in a response, because each repeats a value of the body. */
const MAX_LISTED = 1_000

/**
 * The fault that a response reports; undefined: there are no faults. An unknown key, or else an invalid date or time, is
 * reported alone; all other faults are reported as a list of at most MAX_LISTED (reference/rest.md#2-errors,
 * reference/rest.md#3-attribute-values).
 */
export function toRefusal(faults: readonly ValueFault[]): Fault | undefined {
  const [first] = faults
  if (!first) return undefined
  const alone = faults.find(({ kind }) => kind === 'key') ?? faults.find(({ kind }) => kind === 'format')
  if (alone) return fault('validation', alone.message)
  const errors = faults.slice(0, MAX_LISTED).map(({ path, message, value }) => ({
    path: path.map(String),
    message,
    name: 'ValidationError',
    ...(value === undefined ? {} : { value }),
  }))
  return fault('validation', faults.length === 1 ? first.message : `${faults.length} errors occurred`, {
    errors,
  })
}
