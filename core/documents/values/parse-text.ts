import { fitsPassword } from '../../base/passwords.ts'
import type { ScalarAttribute } from '../../model/model.ts'
import { isStorable } from './parse-json.ts'
import { type ParseOutcome, type Refusal, rule, wrongType } from './value-fault.ts'

/** varchar(255) */
const COLUMN_LENGTH = 255
const UNBOUNDED: ReadonlySet<string> = new Set(['text', 'richtext'])

/** A text as given: no trimming, no conversion of numbers. */
export function parseText(value: unknown): ParseOutcome {
  if (typeof value !== 'string') return { refusal: wrongType('string', value) }
  if (!isStorable(value))
    return { refusal: rule('must not hold the character NUL or half of a surrogate pair') }
  return { stored: value }
}

/** What the attribute and its column ask of a text. `strict` is false for drafts (reference/rest.md#3-attribute-values). */
export function* textRules(attribute: ScalarAttribute, text: string, strict: boolean): Generator<Refusal> {
  yield* lengths(attribute, text, strict)
  if (attribute.type === 'password' && !fitsPassword(text)) yield rule('must be at most 72 bytes')
  if (attribute.values && !attribute.values.includes(text)) yield rule(listed(attribute.values))
  if (!strict) return
  if (attribute.regex && !(text === '' && !attribute.required) && !attribute.regex.test(text))
    yield rule(`must match the following: "${attribute.regex}"`)
  if (attribute.type === 'uid' && !UID.test(text)) yield rule(`must match the following: "${UID}"`)
  if (attribute.type === 'email') yield* email(text)
}

function* lengths(attribute: ScalarAttribute, text: string, strict: boolean): Generator<Refusal> {
  const { minLength, maxLength } = attribute
  const most = Math.min(maxLength ?? Number.POSITIVE_INFINITY, columnLength(attribute))
  if (strict && minLength !== undefined && text.length < minLength)
    yield rule(`must be at least ${minLength} characters`)
  if (text.length > most) yield rule(`must be at most ${most} characters`)
}

/** A password's column holds its hash. */
const columnLength = ({ type }: ScalarAttribute): number =>
  UNBOUNDED.has(type) || type === 'password' ? Number.POSITIVE_INFINITY : COLUMN_LENGTH

/** The reference ends the list with an empty item. */
const listed = (values: readonly string[]): string =>
  `must be one of the following values: ${[...values, ''].join(', ')}`

const UID = /^[A-Za-z0-9-_.~]*$/

/** What an address may have beyond ASCII: nearly everything. */
const BEYOND = '\\u00A0-\\uD7FF\\uF900-\\uFDCF\\uFDF0-\\uFFEF'
const NAME = `[\\w!#$%&'*+\\-/=?^\`{|}~${BEYOND}]+`
const QUOTED = `"(?:[^"\\\\\\r\\n]|\\\\.)*"`

/** RFC 5322 without comments, with the letters of all languages. Each is linear in the length of the text. */
const BEFORE_AT = new RegExp(`^(?:${NAME}(?:\\.${NAME})*|${QUOTED})@`, 'i')
const DOMAIN = new RegExp(`^[a-z0-9${BEYOND}][\\w\\-.~${BEYOND}]*[a-z${BEYOND}]$`, 'i')
const DOT = new RegExp(`[a-z0-9${BEYOND}]\\.[a-z${BEYOND}]`, 'i')

function isEmail(text: string): boolean {
  const [before] = BEFORE_AT.exec(text) ?? []
  if (before === undefined) return false
  const domain = text.slice(before.length)
  return DOMAIN.test(domain) && DOT.test(domain)
}

function* email(text: string): Generator<Refusal> {
  if (text === '') yield rule('cannot be empty')
  else if (!isEmail(text)) yield rule('must be a valid email')
}
