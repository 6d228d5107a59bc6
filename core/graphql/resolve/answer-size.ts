import {
  defaultFieldResolver,
  type FieldNode,
  type GraphQLFieldResolver,
  type GraphQLNamedType,
  type GraphQLResolveInfo,
  getNamedType,
  isAbstractType,
  isLeafType,
  isObjectType,
} from 'graphql'
import type { Wrappers } from '../formats/format.ts'
import { type CollectOptions, fieldsBelow } from '../parse/collect-fields.ts'

// Aliases repeat a value that was read once, and an error is answered for each row: both make an answer that is resolved
// field by field much larger than what was read, of which the database counts the bytes.

/** Counts the bytes that the operations of a request are answered with. */
export class AnswerSize {
  readonly most: number
  #bytes = 0

  /** `most`: in bytes; 0: there is no limit. */
  constructor(most: number) {
    this.most = most === 0 ? Number.POSITIVE_INFINITY : most
  }

  /** False if the answer is larger than allowed: then nothing more is resolved. */
  add(bytes: number): boolean {
    this.#bytes += bytes
    return !this.isOver
  }

  get isOver(): boolean {
    return this.#bytes > this.most
  }
}

/** Estimated bytes of an error, with what it takes in memory until it is answered. */
const ERROR_BYTES = 2_000

/** Estimated bytes of a field without a text: its value, quotation marks, colon and comma. */
const FIELD_BYTES = 8
const ID_BYTES = 24

/** False if the answer is too large: then the field is null instead of one more error. */
export const countError = ({ answerSize }: Counting): boolean => answerSize?.add(ERROR_BYTES) ?? true

/** The part of the context of an operation that counts; absent: nothing is counted. */
export interface Counting {
  readonly answerSize?: AnswerSize
}

/** Counts the keys of documents or components before they are resolved; false if the answer is too large. */
export function countAnswerRows(
  rows: unknown,
  { answerSize }: Counting,
  info: GraphQLResolveInfo,
  wrappers: Wrappers,
): boolean {
  if (!answerSize) return true
  const { once, each } = keyBytes(info, wrappers)
  return answerSize.add(once + each * (Array.isArray(rows) ? rows.length : rows === null ? 0 : 1))
}

/** Resolves a field to the property of its name, as graphql-js does, and counts the text. */
export const countedField: GraphQLFieldResolver<unknown, Counting> = (source, args, context, info) => {
  const value: unknown = defaultFieldResolver(source, args, context, info)
  const { answerSize } = context
  if (!answerSize) return value
  if (typeof value === 'string') return answerSize.add(value.length) ? value : null
  if (typeof value !== 'object' || value === null || !isLeafType(getNamedType(info.returnType))) return value
  return answerSize.add(jsonBytes(value)) ? value : null
}

const measured = new WeakMap<object, number>()

/** Several keys may show the same value. */
function jsonBytes(value: object): number {
  const known = measured.get(value)
  if (known !== undefined) return known
  const bytes = JSON.stringify(value)?.length ?? 0
  measured.set(value, bytes)
  return bytes
}

/** Bytes of the keys of a field's selection, up to the fields below that have rows of their own. */
interface KeyBytes {
  /** Of the object around the rows. */
  readonly once: number
  readonly each: number
}

/** By the nodes of a field, which are the same for all rows of one execution. */
const known = new WeakMap<readonly FieldNode[], KeyBytes>()

function keyBytes(info: GraphQLResolveInfo, wrappers: Wrappers): KeyBytes {
  const before = known.get(info.fieldNodes)
  if (before) return before
  const options = { ...info, variables: info.variableValues, wrappers }
  const found = bytesBelow(info.fieldNodes, getNamedType(info.returnType), options)
  known.set(info.fieldNodes, found)
  return found
}

interface KeyOptions extends CollectOptions {
  readonly wrappers: Wrappers
}

function bytesBelow(nodes: readonly FieldNode[], type: GraphQLNamedType, options: KeyOptions): KeyBytes {
  if (isAbstractType(type)) {
    const all = options.schema.getPossibleTypes(type).map(each => bytesBelow(nodes, each, options))
    return { once: 0, each: Math.max(0, ...all.map(({ once, each }) => once + each)) }
  }
  if (!isObjectType(type)) return { once: 0, each: 0 }
  const wrapper = options.wrappers.get(type.name)
  let own = 0
  let inner = 0
  for (const [key, below] of fieldsBelow(nodes, type.name, options)) {
    const { value: name } = below[0].name
    own +=
      key.length + FIELD_BYTES + (name === '__typename' ? type.name.length : name === 'id' ? ID_BYTES : 0)
    const field = wrapper?.field === name ? type.getFields()[name] : undefined
    if (field) inner += bytesBelow(below, getNamedType(field.type), options).each
  }
  return wrapper?.kind === 'around' ? { once: own, each: inner } : { once: 0, each: own + inner }
}
