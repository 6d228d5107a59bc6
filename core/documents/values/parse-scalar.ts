import type { Path } from '../../faults/diagnostic.ts'
import type { ScalarAttribute, ValueType } from '../../model/model.ts'
import type { Stored } from '../desired-state.ts'
import { parseBlocks } from './parse-blocks.ts'
import { parseArray, parseJson, storedBlocks } from './parse-json.ts'
import { parseDate, parseDatetime, parseTime } from './parse-moment.ts'
import { numberLimits, parseBigInteger, parseDecimal, parseDouble, parseInteger } from './parse-number.ts'
import { parseText, textRules } from './parse-text.ts'
import { type ParseOutcome, type Refusal, rule, toFault, type ValueFault, wrongType } from './value-fault.ts'

/** `draft` leaves out what a document must fulfil only once it is published (reference/rest.md#3-attribute-values). */
export type Strictness = 'draft' | 'full'

export type ParsedScalar =
  | { readonly stored: Stored; readonly faults: readonly [] }
  | { readonly stored: undefined; readonly faults: readonly ValueFault[] }

/** A value as a body or a file gives it (null included) becomes its stored form, or everything that is wrong with it. */
export function parseScalar(
  attribute: ScalarAttribute,
  value: unknown,
  { path, strictness }: { readonly path: Path; readonly strictness: Strictness },
): ParsedScalar {
  const strict = strictness === 'full'
  if (value === null) return strict && attribute.required ? failed([missing(attribute, path)]) : passed(null)
  if (attribute.type === 'blocks' && Array.isArray(value)) {
    const { blocks, faults } = parseBlocks(value, path)
    return faults.length > 0 ? failed(faults) : parsed(attribute, blocks, { path, strict })
  }
  return parsed(attribute, value, { path, strict })
}

interface Terms {
  readonly path: Path
  readonly strict: boolean
}

function parsed(attribute: ScalarAttribute, value: unknown, { path, strict }: Terms): ParsedScalar {
  const parsed = PARSERS[attribute.type](value)
  const refusals = [...refusalsOf(attribute, parsed, strict)]
  if (refusals.length > 0) return failed(refusals.map(refusal => toFault(refusal, path, value)))
  return passed('stored' in parsed ? caseOf(attribute, parsed.stored) : null)
}

function* refusalsOf(attribute: ScalarAttribute, parsed: ParseOutcome, strict: boolean): Generator<Refusal> {
  if ('stored' in parsed) return yield* rulesOf(attribute, parsed.stored, strict)
  yield parsed.refusal
  if (parsed.compared !== undefined) yield* numberLimits(attribute, parsed.compared, strict)
}

const caseOf = ({ lowerCase }: ScalarAttribute, stored: Stored): Stored =>
  lowerCase && typeof stored === 'string' ? stored.toLowerCase() : stored

const passed = (stored: Stored): ParsedScalar => ({ stored, faults: [] })
const failed = (faults: readonly ValueFault[]): ParsedScalar => ({ stored: undefined, faults })

/** A required attribute that is null, or is not there in a version that is published. */
export const missing = (attribute: ScalarAttribute, path: Path): ValueFault => {
  const type = TYPE_WORDS[attribute.type]
  return toFault(type === undefined ? rule('must be defined.') : wrongType(type, null), path, null)
}

function* rulesOf(attribute: ScalarAttribute, stored: Stored, strict: boolean): Generator<Refusal> {
  const kind = TYPE_WORDS[attribute.type]
  if (kind === 'string' && typeof stored === 'string') yield* textRules(attribute, stored, strict)
  if (kind === 'number' && (typeof stored === 'string' || typeof stored === 'number'))
    yield* numberLimits(attribute, stored, strict)
}

/** true, false, 1, 0, these as text in any case, and a list of one of them. */
function parseBoolean(value: unknown): ParseOutcome {
  const word = String(value).toLowerCase()
  if (word === 'true' || word === '1') return { stored: true }
  if (word === 'false' || word === '0') return { stored: false }
  return { refusal: wrongType('boolean', value) }
}

const PARSERS: { readonly [Type in ValueType]: (value: unknown) => ParseOutcome } = {
  id: parseInteger,
  documentId: parseText,
  locale: parseText,
  string: parseText,
  text: parseText,
  richtext: parseText,
  enumeration: parseText,
  email: parseText,
  password: parseText,
  uid: parseText,
  date: parseDate,
  time: parseTime,
  datetime: parseDatetime,
  timestamp: parseDatetime,
  integer: parseInteger,
  biginteger: parseBigInteger,
  float: parseDouble,
  decimal: parseDecimal,
  boolean: parseBoolean,
  json: parseJson,
  array: parseArray,
  blocks: storedBlocks,
}

/** The words that the contract has for types in refusals. */
const TYPE_WORDS: { readonly [Type in ValueType]?: 'string' | 'number' | 'boolean' | 'array' } = {
  string: 'string',
  text: 'string',
  richtext: 'string',
  enumeration: 'string',
  email: 'string',
  password: 'string',
  uid: 'string',
  integer: 'number',
  biginteger: 'number',
  float: 'number',
  decimal: 'number',
  boolean: 'boolean',
  array: 'array',
}
