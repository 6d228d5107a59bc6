import { printJsonValue } from '../../base/text.ts'
import type { Path } from '../../faults/diagnostic.ts'
import { castToNull, type Refusal, rule, toFault, type ValueFault, wrongType } from './value-fault.ts'

/** One key of a block node as it is kept, and what is wrong with it. */
interface BlockField {
  readonly value: unknown
  readonly faults: readonly ValueFault[]
}

/** Reads what a node has under a key; undefined: nothing. */
type ReadField = (given: unknown, path: Path) => BlockField

const kept = (value: unknown): BlockField => ({ value, faults: [] })

const refused = (refusal: Refusal, path: Path, given: unknown): BlockField => ({
  value: given,
  faults: [toFault(refusal, path, given)],
})

/** A sentence of its own, without the place. */
const customFault = (message: string, path: Path, given: unknown): BlockField => ({
  value: given,
  faults: [{ kind: 'rule', path, message, ...(given === undefined ? {} : { value: given }) }],
})

const REQUIRED = rule('is a required field')

const required =
  (read: ReadField): ReadField =>
  (given, path) =>
    given === undefined || given === '' ? refused(REQUIRED, path, given) : read(given, path)

const optional =
  (read: ReadField): ReadField =>
  (given, path) =>
    given === undefined ? kept(given) : read(given, path)

const nullable = (read: ReadField): ReadField =>
  optional((given, path) => (given === null ? kept(given) : read(given, path)))

/** Numbers and booleans count as their text. */
const readString: ReadField = (given, path) =>
  given === null || typeof given === 'object'
    ? refused(wrongType('string', given), path, given)
    : kept(String(given))

const readBoolean: ReadField = (given, path) => {
  const word = printJsonValue(given).toLowerCase()
  if (word === 'true' || word === '1') return kept(true)
  if (word === 'false' || word === '0') return kept(false)
  return refused(wrongType('boolean', given), path, given)
}

const readNumber: ReadField = (given, path) => {
  const number = typeof given === 'string' && given.trim() !== '' ? Number(given) : given
  return typeof number === 'number' && !Number.isNaN(number)
    ? kept(number)
    : refused(wrongType('number', given), path, given)
}

const oneOf =
  (values: readonly unknown[], read: ReadField): ReadField =>
  (given, path) => {
    const field = read(given, path)
    if (field.faults.length > 0 || values.includes(field.value)) return field
    return refused(rule(`must be one of the following values: ${values.join(', ')}`), path, given)
  }

/** null cannot be a list, nor can what is no list. */
const notAList = (given: unknown): Refusal =>
  given === null || typeof given === 'object' ? wrongType('array', given) : castToNull('array', given)

/** Text may be empty, but not missing. */
const readText: ReadField = (given, path) =>
  given === undefined
    ? customFault('Text must be defined with at least an empty string', path, given)
    : readString(given, path)

/** An absolute address, or one from the root of the site; never code. */
const readLink: ReadField = (given, path) =>
  typeof given === 'string' && isLink(given)
    ? kept(given)
    : customFault('Please specify a valid link.', path, given)

const CODE: ReadonlySet<string> = new Set(['javascript:', 'vbscript:', 'data:'])

function isLink(url: string): boolean {
  const absolute = url.startsWith('/') ? `https://localhost${url}` : url
  return URL.canParse(absolute) && !CODE.has(new URL(absolute).protocol)
}

type Node = Readonly<Record<string, unknown>>

export interface Blocks {
  /** In stored form: values that count as numbers, texts or booleans are converted. */
  readonly blocks: readonly unknown[]
  readonly faults: readonly ValueFault[]
}

/** A list of block nodes, and what is wrong with it (reference/rest.md#3-attribute-values); extra keys are kept unchecked. */
export function parseBlocks(given: readonly unknown[], path: Path): Blocks {
  const { values, faults } = readAll(given, path, readBlock)
  return { blocks: values, faults }
}

function readAll(given: readonly unknown[], path: Path, read: ReadField) {
  const fields = given.map((each, index) => read(each, [...path, index]))
  return { values: fields.map(({ value }) => value), faults: fields.flatMap(({ faults }) => faults) }
}

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

type Fields = Readonly<Record<string, ReadField>>
type Kinds = Readonly<Record<string, () => Fields>>

/** A node of one of several kinds. */
const nodeOf =
  (kinds: Kinds, message: string): ReadField =>
  (given, path) => {
    if (!isNode(given)) return customFault(message, path, given)
    const { type } = given
    const fields = typeof type === 'string' && Object.hasOwn(kinds, type) ? kinds[type] : undefined
    return fields ? readNode(given, fields(), path) : customFault(message, path, given)
  }

/** Reads a node whose `type` must be this kind. */
const nodeNamed =
  (kind: string, fields: Fields): ReadField =>
  (given, path) =>
    isNode(given)
      ? readNode(given, { ...fields, type: required(oneOf([kind], readString)) }, path)
      : refused(wrongType('object', given), path, given)

function readNode(given: Node, fields: Fields, path: Path): BlockField {
  const read = Object.entries(fields).map(
    ([key, readField]) => [key, readField(given[key], [...path, key])] as const,
  )
  const changed = read.filter(([key, { value }]) => value !== given[key])
  return {
    value: { ...given, ...Object.fromEntries(changed.map(([key, { value }]) => [key, value])) },
    faults: read.flatMap(([, { faults }]) => faults),
  }
}

/** `least`: what is said where there is none. */
const childrenOf =
  (read: ReadField, least?: string): ReadField =>
  (given, path) => {
    if (given === undefined) return refused(rule('is a required field'), path, given)
    if (!Array.isArray(given)) return refused(notAList(given), path, given)
    if (given.length === 0 && least !== undefined) return customFault(least, path, given)
    const { values, faults } = readAll(given, path, read)
    return values.every((value, index) => value === given[index])
      ? { ...kept(given), faults }
      : { value: values, faults }
  }

const flag = optional(readBoolean)
const TEXT: Fields = {
  text: readText,
  bold: flag,
  italic: flag,
  underline: flag,
  strikethrough: flag,
  code: flag,
}
const readTextNode = nodeNamed('text', TEXT)

const LINK: Fields = { url: readLink, children: childrenOf(readTextNode) }

const readInline = nodeOf({ text: () => TEXT, link: () => LINK }, 'Inline node must be Text or Link')

const inlineOf = (name: string): ReadField =>
  childrenOf(readInline, `${name} node children must have at least one Text or Link node`)

const readListChild: ReadField = (given, path) =>
  nodeOf(
    { list: () => LIST, 'list-item': () => ({ children: childrenOf(readInline) }) },
    'Inline node must be list-item or list',
  )(given, path)

const LIST: Fields = {
  format: required(oneOf(['ordered', 'unordered'], readString)),
  children: childrenOf(readListChild, 'List node children must have at least one ListItem or ListNode'),
}

const word = required(readString)
const size = required(readNumber)
const note = nullable(readString)

/** The fields of an image of the media library. */
const PICTURE: Fields = {
  name: word,
  alternativeText: note,
  url: word,
  caption: note,
  width: size,
  height: size,
  hash: word,
  ext: word,
  mime: word,
  size,
  previewUrl: note,
  provider: word,
  createdAt: word,
  updatedAt: word,
}

const readPicture: ReadField = (given = {}, path) =>
  isNode(given) ? readNode(given, PICTURE, path) : refused(wrongType('object', given), path, given)

const readBlock = nodeOf(
  {
    paragraph: () => ({ children: inlineOf('Paragraph') }),
    quote: () => ({ children: inlineOf('Quote') }),
    heading: () => ({
      level: required(oneOf([1, 2, 3, 4, 5, 6], readNumber)),
      children: inlineOf('Heading'),
    }),
    code: () => ({
      language: note,
      children: childrenOf(readTextNode, 'Quote node children must have at least one Text or Link node'),
    }),
    list: () => LIST,
    image: () => ({ image: readPicture, children: childrenOf(readInline) }),
  },
  'Block node is of invalid type',
)
