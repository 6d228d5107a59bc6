import { printJsonValue } from '../../base/text.ts'
import type { Path } from '../../faults/diagnostic.ts'
import { castToNull, type Refusal, rule, toFault, type ValueFault, wrongType } from './value-fault.ts'

/** One key of a block node as it is kept, and what is wrong with it. */
interface BlockField {
  readonly value: unknown
  readonly faults: readonly ValueFault[]
}

/** Reads what a node has under a key; undefined: nothing. */
type ReadField = (input: unknown, path: Path) => BlockField

const kept = (value: unknown): BlockField => ({ value, faults: [] })

const refused = (refusal: Refusal, path: Path, input: unknown): BlockField => ({
  value: input,
  faults: [toFault(refusal, path, input)],
})

/** A sentence of its own, without the place. */
const customFault = (message: string, path: Path, input: unknown): BlockField => ({
  value: input,
  faults: [{ kind: 'rule', path, message, ...(input === undefined ? {} : { value: input }) }],
})

const REQUIRED = rule('is a required field')

const required =
  (read: ReadField): ReadField =>
  (input, path) =>
    input === undefined || input === '' ? refused(REQUIRED, path, input) : read(input, path)

const optional =
  (read: ReadField): ReadField =>
  (input, path) =>
    input === undefined ? kept(input) : read(input, path)

const nullable = (read: ReadField): ReadField =>
  optional((input, path) => (input === null ? kept(input) : read(input, path)))

/** Numbers and booleans count as their text. */
const readString: ReadField = (input, path) =>
  input === null || typeof input === 'object'
    ? refused(wrongType('string', input), path, input)
    : kept(String(input))

const readBoolean: ReadField = (input, path) => {
  const word = printJsonValue(input).toLowerCase()
  if (word === 'true' || word === '1') return kept(true)
  if (word === 'false' || word === '0') return kept(false)
  return refused(wrongType('boolean', input), path, input)
}

const readNumber: ReadField = (input, path) => {
  const number = typeof input === 'string' && input.trim() !== '' ? Number(input) : input
  return typeof number === 'number' && !Number.isNaN(number)
    ? kept(number)
    : refused(wrongType('number', input), path, input)
}

const oneOf =
  (values: readonly unknown[], read: ReadField): ReadField =>
  (input, path) => {
    const field = read(input, path)
    if (field.faults.length > 0 || values.includes(field.value)) return field
    return refused(rule(`must be one of the following values: ${values.join(', ')}`), path, input)
  }

/** null cannot be a list, nor can what is no list. */
const notAList = (input: unknown): Refusal =>
  input === null || typeof input === 'object' ? wrongType('array', input) : castToNull('array', input)

/** Text may be empty, but not missing. */
const readText: ReadField = (input, path) =>
  input === undefined
    ? customFault('Text must be defined with at least an empty string', path, input)
    : readString(input, path)

/** An absolute address, or one from the root of the site; never code. */
const readLink: ReadField = (input, path) =>
  typeof input === 'string' && isLink(input)
    ? kept(input)
    : customFault('Please specify a valid link.', path, input)

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
export function parseBlocks(input: readonly unknown[], path: Path): Blocks {
  const { values, faults } = readAll(input, path, readBlock)
  return { blocks: values, faults }
}

function readAll(input: readonly unknown[], path: Path, read: ReadField) {
  const fields = input.map((each, index) => read(each, [...path, index]))
  return { values: fields.map(({ value }) => value), faults: fields.flatMap(({ faults }) => faults) }
}

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

type Fields = Readonly<Record<string, ReadField>>
type Kinds = Readonly<Record<string, () => Fields>>

/** A node of one of several kinds. */
const nodeOf =
  (kinds: Kinds, message: string): ReadField =>
  (input, path) => {
    if (!isNode(input)) return customFault(message, path, input)
    const { type } = input
    const fields = typeof type === 'string' && Object.hasOwn(kinds, type) ? kinds[type] : undefined
    return fields ? readNode(input, fields(), path) : customFault(message, path, input)
  }

/** Reads a node whose `type` must be this kind. */
const nodeNamed =
  (kind: string, fields: Fields): ReadField =>
  (input, path) =>
    isNode(input)
      ? readNode(input, { ...fields, type: required(oneOf([kind], readString)) }, path)
      : refused(wrongType('object', input), path, input)

function readNode(input: Node, fields: Fields, path: Path): BlockField {
  const read = Object.entries(fields).map(
    ([key, readField]) => [key, readField(input[key], [...path, key])] as const,
  )
  const changed = read.filter(([key, { value }]) => value !== input[key])
  return {
    value: { ...input, ...Object.fromEntries(changed.map(([key, { value }]) => [key, value])) },
    faults: read.flatMap(([, { faults }]) => faults),
  }
}

/** `least`: what is said where there is none. */
const childrenOf =
  (read: ReadField, least?: string): ReadField =>
  (input, path) => {
    if (input === undefined) return refused(rule('is a required field'), path, input)
    if (!Array.isArray(input)) return refused(notAList(input), path, input)
    if (input.length === 0 && least !== undefined) return customFault(least, path, input)
    const { values, faults } = readAll(input, path, read)
    return values.every((value, index) => value === input[index])
      ? { ...kept(input), faults }
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

const readListChild: ReadField = (input, path) =>
  nodeOf(
    { list: () => LIST, 'list-item': () => ({ children: childrenOf(readInline) }) },
    'Inline node must be list-item or list',
  )(input, path)

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

const readPicture: ReadField = (input = {}, path) =>
  isNode(input) ? readNode(input, PICTURE, path) : refused(wrongType('object', input), path, input)

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
