import type { Path } from '../../faults/diagnostic.ts'
import { castToNull, type Refusal, rule, toFault, type ValueFault, wrongType } from './value-fault.ts'

/** One key of a block node as it is kept, and what is wrong with it. */
export interface BlockField {
  readonly value: unknown
  readonly faults: readonly ValueFault[]
}

/** Reads what a node has under a key; undefined: nothing. */
export type ReadField = (given: unknown, path: Path) => BlockField

export const kept = (value: unknown): BlockField => ({ value, faults: [] })

export const refused = (refusal: Refusal, path: Path, given: unknown): BlockField => ({
  value: given,
  faults: [toFault(refusal, path, given)],
})

/** A sentence of its own, without the place. */
export const customFault = (message: string, path: Path, given: unknown): BlockField => ({
  value: given,
  faults: [{ kind: 'rule', path, message, ...(given === undefined ? {} : { value: given }) }],
})

const REQUIRED = rule('is a required field')

export const required =
  (read: ReadField): ReadField =>
  (given, path) =>
    given === undefined || given === '' ? refused(REQUIRED, path, given) : read(given, path)

export const optional =
  (read: ReadField): ReadField =>
  (given, path) =>
    given === undefined ? kept(given) : read(given, path)

export const nullable = (read: ReadField): ReadField =>
  optional((given, path) => (given === null ? kept(given) : read(given, path)))

/** Numbers and booleans count as their text. */
export const readString: ReadField = (given, path) =>
  given === null || typeof given === 'object'
    ? refused(wrongType('string', given), path, given)
    : kept(String(given))

export const readBoolean: ReadField = (given, path) => {
  const word = String(given).toLowerCase()
  if (word === 'true' || word === '1') return kept(true)
  if (word === 'false' || word === '0') return kept(false)
  return refused(wrongType('boolean', given), path, given)
}

export const readNumber: ReadField = (given, path) => {
  const number = typeof given === 'string' && given.trim() !== '' ? Number(given) : given
  return typeof number === 'number' && !Number.isNaN(number)
    ? kept(number)
    : refused(wrongType('number', given), path, given)
}

export const oneOf =
  (values: readonly unknown[], read: ReadField): ReadField =>
  (given, path) => {
    const field = read(given, path)
    if (field.faults.length > 0 || values.includes(field.value)) return field
    return refused(rule(`must be one of the following values: ${values.join(', ')}`), path, given)
  }

/** null cannot be a list, nor can what is no list. */
export const notAList = (given: unknown): Refusal =>
  given === null || typeof given === 'object' ? wrongType('array', given) : castToNull('array', given)

/** Text may be empty, but not missing. */
export const readText: ReadField = (given, path) =>
  given === undefined
    ? customFault('Text must be defined with at least an empty string', path, given)
    : readString(given, path)

/** An absolute address, or one from the root of the site; never code. */
export const readLink: ReadField = (given, path) =>
  typeof given === 'string' && isLink(given)
    ? kept(given)
    : customFault('Please specify a valid link.', path, given)

const CODE: ReadonlySet<string> = new Set(['javascript:', 'vbscript:', 'data:'])

function isLink(url: string): boolean {
  const absolute = url.startsWith('/') ? `https://localhost${url}` : url
  return URL.canParse(absolute) && !CODE.has(new URL(absolute).protocol)
}
