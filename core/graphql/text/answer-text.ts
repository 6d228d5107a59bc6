import {
  defaultFieldResolver,
  GraphQLError,
  type GraphQLResolveInfo,
  getArgumentValues,
  locatedError,
  responsePathAsArray,
} from 'graphql'
import { isPromise } from '../../base/with-timeout.ts'
import type { BodyOrText } from '../../cache/answer-store.ts'
import { toDatabaseFault } from '../../database/database-fault.ts'
import { toRequestFault } from '../../database/request-fault.ts'
import type { BodyReads, Documents } from '../../documents/documents.ts'
import type { Page, RestrictedQuery } from '../../query/query.ts'
import { type CollectedFields, type CollectOptions, fieldsBelow } from '../parse/collect-fields.ts'
import {
  type ExecutionContext,
  type Pagination,
  readOptions,
  responsePagination,
} from '../resolve/resolver-context.ts'
import type { CustomField, PlaceSteps } from './custom-field.ts'
import { type AnswerPath, type FoundSlot, findPaths, readSlots, violatesNonNull } from './slots.ts'
import { restrictRoots, type TextOperation, type TextRoot } from './text-operation.ts'

export interface TextOptions {
  readonly context: ExecutionContext
  readonly documents: Documents
  readonly operation: OperationInfo
}

type Text = string | Buffer

/** The complete body, or consecutive parts of `data` with their errors. */
export type TextAnswer =
  | { readonly body: Text }
  | { readonly data: readonly Text[]; readonly errors: readonly GraphQLError[] }

/**
 * Answers an operation as text, one statement per root field. null: it must be resolved field by field, so that refusals
 * and nulls in non-null fields are reported with their path.
 */
export async function answerText(operation: TextOperation, options: TextOptions): Promise<TextAnswer | null> {
  const queries = restrictRoots(operation, options.context.caller)
  if (!queries) return null
  const [sole, ...others] = operation.roots
  const [query] = queries
  if (sole && query && others.length === 0 && sole.steps.length === 0)
    return readOnlyRoot(sole, query, options).catch((error: unknown) => joinRoots([failedRoot(sole, error)]))
  const read = await Promise.all(
    operation.roots.map((root, index) => {
      const query = queries[index]
      return query ? readRoot(root, query, options).catch((error: unknown) => failedRoot(root, error)) : null
    }),
  )
  const known = read.filter(root => root !== null)
  // Custom fields run only now: a fallback to graphql-js would run project code twice.
  return known.length < read.length
    ? null
    : joinRoots(await Promise.all(known.map(root => ('found' in root ? answerRoot(root, options) : root))))
}

/** A root field whose statement could not run: resolved field by field, it would run, or wait, once more. */
function failedRoot({ key, isNonNull }: TextRoot, error: unknown): AnsweredRoot {
  const isAborted = toDatabaseFault(error)?.kind === 'aborted'
  if (isAborted || !(error instanceof Error && toRequestFault(error))) throw error
  const located = new GraphQLError(error.message, { path: [key], originalError: error })
  return { key, text: isNonNull ? null : 'null', errors: [located] }
}

/** Caches the complete body of an operation with one root field, so that it is sent without a copy. */
async function readOnlyRoot(
  root: TextRoot,
  query: RestrictedQuery,
  options: TextOptions,
): Promise<TextAnswer | null> {
  const { documents, context } = options
  const { formatKey: form, print, ...bodyRequest } = bodyQuery(root, query, options)
  const [before, behind] = [`{"data":{${JSON.stringify(root.key)}:`, '}}']
  const around: BodyReads = {
    ...bodyRequest,
    formatKey: `whole ${before}${form}`,
    print(found) {
      const text = print(found)
      return text === null ? null : before + text + behind
    },
  }
  const found = await documents.findBody(around, readOptions(context))
  return found === null ? null : { body: typeof found === 'string' ? found : found.bytes }
}

/** `found`: a complete body, or rows with custom fields to fill in. */
interface ReadRoot {
  readonly root: TextRoot
  readonly found: BodyOrText | RootRows
}

async function readRoot(
  root: TextRoot,
  query: RestrictedQuery,
  options: TextOptions,
): Promise<ReadRoot | null> {
  const { documents, context } = options
  if (root.steps.length === 0) {
    const found = await documents.findBody(bodyQuery(root, query, options), readOptions(context))
    return found === null ? null : { root, found }
  }
  const found = await documents.findRows(query, root.layout, readOptions(context))
  const text = found.text ?? (query.take.kind === 'one' ? 'null' : '[]')
  return violatesNonNull(text, root) ? null : { root, found: { text, total: found.total } }
}

function bodyQuery(root: TextRoot, query: RestrictedQuery, { operation }: TextOptions): BodyReads {
  const frame = frameOf(root, operation)
  return {
    query,
    shape: root.layout,
    formatKey: frame.key,
    print({ text, total }) {
      const rows = text ?? (query.take.kind === 'one' ? 'null' : '[]')
      return violatesNonNull(rows, root) ? null : printRoot(root, frame, { text: rows, total })
    },
  }
}

interface AnsweredRoot {
  readonly key: string
  /** null: the whole data is null. */
  readonly text: Text | null
  readonly errors: readonly GraphQLError[]
}

async function answerRoot({ root, found }: ReadRoot, options: TextOptions): Promise<AnsweredRoot> {
  const { key, customFields: code, steps } = root
  if (typeof found === 'string') return { key, text: found, errors: [] }
  if ('bytes' in found) return { key, text: found.bytes, errors: [] }
  const { context, operation } = options
  const rows = await answerCustomFields(found.text, {
    fields: code,
    steps,
    context,
    operation,
    root: documentsPath(root),
  })
  const text =
    rows.text === null
      ? 'null'
      : printRoot(root, frameOf(root, operation), { text: rows.text, total: found.total })
  return { key, text, errors: rows.errors }
}

/** The path of a root field's documents in the answer. */
function documentsPath({ key, around }: TextRoot): AnswerPath {
  const root = { prev: undefined, key, typename: 'Query' }
  return around ? { prev: root, key: around.key, typename: around.typeName } : root
}

const joinRoots = (roots: readonly AnsweredRoot[]): TextAnswer => ({
  data: roots.some(({ text }) => text === null) ? ['null'] : ['{', ...roots.flatMap(printProperty), '}'],
  errors: roots.flatMap(({ errors }) => errors),
})

const printProperty = ({ key, text }: AnsweredRoot, index: number): readonly Text[] => [
  `${index === 0 ? '' : ','}${JSON.stringify(key)}:`,
  text ?? 'null',
]

interface RootRows {
  /** JSON of the documents, or of one document. */
  readonly text: string
  readonly total: number | null
}

/** The text around the documents of a root field. */
interface RootFrame {
  readonly pieces: readonly (string | { readonly hole: Hole })[]
  /** Cache key: equal keys print equal text for equal rows. */
  readonly key: string
}

type Hole = 'rows' | keyof Pagination

/** By root object, which cached plans reuse. */
const frames = new WeakMap<TextRoot, RootFrame>()

function frameOf(root: TextRoot, operation: OperationInfo): RootFrame {
  const known = frames.get(root)
  if (known) return known
  const pieces = frameRoot(root, { ...operation, variables: operation.variableValues })
  const { start, limit } = pageOf(root.query)
  const frame = { pieces, key: `${JSON.stringify(pieces)}${start},${limit}` }
  frames.set(root, frame)
  return frame
}

/** Prints the value of a root field: its documents, or the object around them with its counts. */
function printRoot({ query }: TextRoot, { pieces }: RootFrame, { text, total }: RootRows): string {
  const pagination = responsePagination(pageOf(query), total ?? 0)
  let printed = ''
  for (const piece of pieces)
    if (typeof piece === 'string') printed += piece
    else printed += piece.hole === 'rows' ? text : pagination[piece.hole]
  return printed
}

function frameRoot({ around }: TextRoot, collect: CollectOptions): RootFrame['pieces'] {
  if (!around) return [{ hole: 'rows' }]
  return frameWrapper(around.fields, around.typeName, (name, nodes) => {
    if (name === 'meta') return frameMeta(fieldsBelow(nodes, 'ResponseCollectionMeta', collect), collect)
    return name === 'pageInfo' ? frameCounts(nodes, collect) : [{ hole: 'rows' }]
  })
}

const pageOf = ({ take }: TextRoot['query']): Page => (take.kind === 'one' ? NO_PAGE : take.page)

const NO_PAGE = { start: 0, limit: 1 }

type Nodes = CollectedFields extends ReadonlyMap<string, infer Value> ? Value : never

/** An object whose properties are pieces. */
function frameWrapper(
  fields: CollectedFields,
  typeName: string,
  frame: (name: string, nodes: Nodes) => RootFrame['pieces'],
): RootFrame['pieces'] {
  const properties = [...fields].map(([key, nodes], index) => {
    const name = nodes[0].name.value
    const value = name === '__typename' ? [`"${typeName}"`] : frame(name, nodes)
    return [`${index === 0 ? '' : ','}"${key}":`, ...value]
  })
  return ['{', ...properties.flat(), '}']
}

const frameMeta = (fields: CollectedFields, collect: CollectOptions): RootFrame['pieces'] =>
  frameWrapper(fields, 'ResponseCollectionMeta', (_, nodes) => frameCounts(nodes, collect))

const frameCounts = (nodes: Nodes, collect: CollectOptions): RootFrame['pieces'] =>
  frameWrapper(fieldsBelow(nodes, 'Pagination', collect), 'Pagination', name => [
    { hole: name as keyof Pagination },
  ])

interface CustomFieldOptions {
  readonly fields: readonly CustomField[]
  readonly steps: PlaceSteps
  readonly context: ExecutionContext
  /** The operation, for resolvers' `info`. */
  readonly operation: OperationInfo
  /** The path of the text in the answer. */
  readonly root: AnswerPath
}

type OperationInfo = Pick<
  GraphQLResolveInfo,
  'schema' | 'fragments' | 'operation' | 'variableValues' | 'rootValue'
>

/** The complete text, and the errors of its custom fields. `text`: null if the object around the documents must be null. */
interface CompletedText {
  readonly text: string | null
  readonly errors: readonly GraphQLError[]
}

/** Resolves the custom fields of a text in document order, and inserts their values. */
async function answerCustomFields(text: string, options: CustomFieldOptions): Promise<CompletedText> {
  if (options.steps.length === 0) return { text, errors: [] }
  const { parts, slots } = readSlots(text, options.fields)
  let paths: readonly AnswerPath[] | undefined
  const pathOf = (index: number): AnswerPath => {
    paths ??= findPaths(text, options)
    const path = paths[index]
    if (!path) throw new TypeError(`the text has no slot ${index}`)
    return path
  }
  const answers = slots.map((slot, index) => answerSlot(slot, () => pathOf(index), options))
  // Without promises the rows of a list cost no turns of the event loop.
  const answered = answers.some(isPromise) ? await Promise.all(answers) : (answers as readonly SlotResult[])
  return fillSlots(parts, answered, options.root)
}

/** JSON text, or a failure. */
type SlotResult = string | FailedSlot

interface FailedSlot {
  readonly error: GraphQLError
  readonly path: readonly (string | number)[]
  readonly levelsUp: number | null
}

function answerSlot(
  { field: customField, row }: FoundSlot,
  pathOf: () => AnswerPath,
  { context, operation }: CustomFieldOptions,
): SlotResult | PromiseLike<SlotResult> {
  const { field, nodes, levelsUp } = customField
  const { resolve = defaultFieldResolver } = field
  const print = (answered: unknown): string => JSON.stringify(complete(answered, customField))
  const fail = (error: unknown): FailedSlot => {
    const path = responsePathAsArray(pathOf())
    return { error: locatedError(error, nodes, path), path, levelsUp }
  }
  try {
    const args = field.args.length === 0 ? {} : getArgumentValues(field, nodes[0], operation.variableValues)
    const answered = resolve(row, args, context, toResolveInfo(customField, pathOf, operation))
    return isPromise(answered) ? Promise.resolve(answered).then(print).catch(fail) : print(answered)
  } catch (error) {
    return fail(error)
  }
}

/** `path` is found when code reads it. */
const toResolveInfo = (
  { field, nodes, parentType }: CustomField,
  pathOf: () => AnswerPath,
  { schema, fragments, operation, variableValues, rootValue }: OperationInfo,
): GraphQLResolveInfo => ({
  fieldName: field.name,
  fieldNodes: nodes,
  returnType: field.type,
  parentType,
  get path() {
    return pathOf()
  },
  schema,
  fragments,
  rootValue,
  operation,
  variableValues,
})

/** The GraphQL specification's CompleteValue (6.4.3) for scalars and enumerations. */
function complete(value: unknown, { field, type, parentType, levelsUp }: CustomField): unknown {
  if (value instanceof Error) throw value
  if (value !== null && value !== undefined) {
    const written: unknown = type.serialize(value)
    if (written !== null && written !== undefined) return written
    throw new Error(
      `Expected \`${type.name}.serialize\` to return a value for ${parentType.name}.${field.name}`,
    )
  }
  if (levelsUp === null) return null
  throw new Error(`Cannot return null for non-nullable field ${parentType.name}.${field.name}.`)
}

function fillSlots(
  [first = '', ...others]: readonly string[],
  answers: readonly SlotResult[],
  root: AnswerPath,
): CompletedText {
  let text = first
  const failed: FailedSlot[] = []
  for (const [index, part] of others.entries()) {
    const answer = answers[index] ?? 'null'
    if (typeof answer !== 'string') failed.push(answer)
    text += (typeof answer === 'string' ? answer : 'null') + part
  }
  const depth = responsePathAsArray(root).length
  const broken = failed.flatMap(({ path, levelsUp }) =>
    levelsUp === null ? [] : [{ path: path.slice(depth), levelsUp }],
  )
  return {
    text: broken.length === 0 ? text : propagateNulls(text, broken),
    errors: failed.map(({ error }) => error),
  }
}

/** A null in a non-null field. The value `levelsUp` objects and lists above it becomes null. */
interface NullViolation {
  /** The path from the root of the text. */
  readonly path: readonly (string | number)[]
  readonly levelsUp: number
}

/** The GraphQL specification's "Handling Execution Errors" (6.4.4). */
function propagateNulls(text: string, broken: readonly NullViolation[]): string | null {
  const whole: unknown = JSON.parse(text)
  const lengths = broken.map(({ path, levelsUp }) => path.length - 1 - levelsUp)
  if (lengths.some(length => length < 0)) return null
  if (lengths.includes(0)) return 'null'
  for (const [index, { path }] of broken.entries()) {
    const keys = path.slice(0, lengths[index])
    const last = keys.pop()
    const holder = keys.reduce<unknown>((value, key) => propertyOf(value, key), whole)
    if (last !== undefined && isObject(holder)) holder[last] = null
  }
  return JSON.stringify(whole)
}

const isObject = (value: unknown): value is Record<string | number, unknown> =>
  typeof value === 'object' && value !== null

/** null if the parent is null already. */
const propertyOf = (value: unknown, key: string | number): unknown => (isObject(value) ? value[key] : null)
