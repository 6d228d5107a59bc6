import type { Path } from '../../faults/diagnostic.ts'
import {
  type BlockField,
  customFault,
  kept,
  notAList,
  nullable,
  oneOf,
  optional,
  type ReadField,
  readBoolean,
  readLink,
  readNumber,
  readString,
  readText,
  refused,
  required,
} from './block-fields.ts'
import { rule, type ValueFault, wrongType } from './value-fault.ts'

type Node = Readonly<Record<string, unknown>>

export interface Blocks {
  /** As they are stored: what counts as a number, a text or a boolean is one. */
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

/** A node that can only be of one kind, and says so. */
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

/** What a picture of the media library is told by. */
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
