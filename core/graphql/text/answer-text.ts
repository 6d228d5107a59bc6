import {
  defaultFieldResolver,
  type GraphQLError,
  type GraphQLResolveInfo,
  getArgumentValues,
  locatedError,
  responsePathAsArray,
} from 'graphql'
import type { BodyOrText } from '../../cache/answer-store.ts'
import type { BodyReads, Documents } from '../../documents/documents.ts'
import { CODE_SLOT } from '../../plan/layout.ts'
import type { Page, RestrictedQuery } from '../../query/query.ts'
import { type CollectedFields, type CollectTerms, fieldsBelow } from '../parse/collect-fields.ts'
import {
  type ExecutionContext,
  type Pagination,
  readOptions,
  responsePagination,
} from '../resolve/resolver-context.ts'
import {
  type AnswerPath,
  type CustomField,
  findPlaces,
  type PlaceFound,
  type PlaceSteps,
} from './custom-field.ts'
import { restrictRoots, type TextOperation, type TextRoot } from './text-operation.ts'

export interface TextTerms {
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
export async function answerText(operation: TextOperation, terms: TextTerms): Promise<TextAnswer | null> {
  const queries = restrictRoots(operation, terms.context.caller)
  if (!queries) return null
  const [sole, ...others] = operation.roots
  const [query] = queries
  if (sole && query && others.length === 0 && sole.steps.length === 0) return readOnlyRoot(sole, query, terms)
  const read = await Promise.all(
    operation.roots.map((root, index) => {
      const query = queries[index]
      return query ? readRoot(root, query, terms) : null
    }),
  )
  const known = read.filter(root => root !== null)
  // Custom fields run only now: a fallback to graphql-js would run project code twice.
  return known.length < read.length
    ? null
    : joinRoots(await Promise.all(known.map(root => answerRoot(root, terms))))
}

/** Caches the complete body of an operation with one root field, so that it is sent without a copy. */
async function readOnlyRoot(
  root: TextRoot,
  query: RestrictedQuery,
  terms: TextTerms,
): Promise<TextAnswer | null> {
  const { documents, context } = terms
  const { formatKey: form, print, ...bodyRequest } = bodyQuery(root, query, terms)
  const [before, behind] = [`{"data":{${JSON.stringify(root.key)}:`, '}}']
  const around: BodyReads = {
    ...bodyRequest,
    formatKey: `whole ${before}${form}`,
    print(found) {
      const text = print(found)
      return text === null ? null : before + text + behind
    },
  }
  const found = await documents.findBody(around, { ...readOptions(context), ahead: context.prefetch })
  return found === null ? null : { body: typeof found === 'string' ? found : found.bytes }
}

/** `found`: a complete body, or rows with custom fields to fill in. */
interface ReadRoot {
  readonly root: TextRoot
  readonly found: BodyOrText | { readonly rows: string; readonly total: number | null }
}

async function readRoot(root: TextRoot, query: RestrictedQuery, terms: TextTerms): Promise<ReadRoot | null> {
  const { documents, context } = terms
  if (root.steps.length === 0) {
    const found = await documents.findBody(bodyQuery(root, query, terms), {
      ...readOptions(context),
      ahead: context.prefetch,
    })
    return found === null ? null : { root, found }
  }
  const { text, total } =
    query.take.kind === 'one'
      ? { text: (await documents.findOne(query, root.layout, readOptions(context))) ?? 'null', total: null }
      : await documents.findMany(query, root.layout, readOptions(context))
  return violatesNonNull(text, root) ? null : { root, found: { rows: text, total } }
}

function bodyQuery(root: TextRoot, query: RestrictedQuery, { operation }: TextTerms): BodyReads {
  const collect = toCollectTerms(operation)
  return {
    query,
    shape: root.layout,
    formatKey: cachedFormOf(root, collect),
    print({ text, total }) {
      const rows = text ?? (query.take.kind === 'one' ? 'null' : '[]')
      return violatesNonNull(rows, root) ? null : printRoot(root, { text: rows, total }, collect)
    },
  }
}

const toCollectTerms = (operation: OperationInfo): CollectTerms => ({
  ...operation,
  variables: operation.variableValues,
})

/** Cache keys by root object, which cached plans reuse. */
const cacheKeys = new WeakMap<TextRoot, string>()

function cachedFormOf(root: TextRoot, collect: CollectTerms): string {
  const form = cacheKeys.get(root) ?? printForm(root, collect)
  cacheKeys.set(root, form)
  return form
}

/** True if a non-null field is null. Values that are only read for custom fields do not count. */
function violatesNonNull(text: string, { nullPattern: broken, steps }: TextRoot): boolean {
  if (!broken?.test(text)) return false
  return steps.length === 0 || splitAtPlaces(text).some(part => broken.test(part))
}

interface AnsweredRoot {
  readonly key: string
  readonly text: Text
  readonly errors: readonly GraphQLError[]
}

async function answerRoot({ root, found }: ReadRoot, terms: TextTerms): Promise<AnsweredRoot> {
  const { key, customFields: code, steps } = root
  if (typeof found === 'string') return { key, text: found, errors: [] }
  if ('bytes' in found) return { key, text: found.bytes, errors: [] }
  const { context, operation } = terms
  const rows = await answerCustomFields(found.rows, {
    fields: code,
    steps,
    context,
    operation,
    root: documentsPath(root),
  })
  const text =
    rows.text === null
      ? 'null'
      : printRoot(root, { text: rows.text, total: found.total }, toCollectTerms(operation))
  return { key, text, errors: rows.errors }
}

/** The path of a root field's documents in the answer. */
function documentsPath({ key, around }: TextRoot): AnswerPath {
  const root = { prev: undefined, key, typename: 'Query' }
  return around ? { prev: root, key: around.key, typename: around.typeName } : root
}

const joinRoots = (roots: readonly AnsweredRoot[]): TextAnswer => ({
  data: roots
    .flatMap(({ key, text }, index) => [`${index === 0 ? '{' : ','}${JSON.stringify(key)}:`, text])
    .concat('}'),
  errors: roots.flatMap(({ errors }) => errors),
})

type Root = Pick<TextRoot, 'around' | 'query'>

interface RootRows {
  /** JSON of the documents, or of one document. */
  readonly text: string
  readonly total: number | null
}

/** Prints the value of a root field: its documents, or the object around them with its counts. */
function printRoot({ around, query }: Root, { text, total }: RootRows, collect: CollectTerms): string {
  if (!around) return text
  const pagination = responsePagination(pageOf(query), total ?? 0)
  return printWrapper(around.fields, around.typeName, (name, nodes) => {
    if (name === 'meta')
      return printMeta(fieldsBelow(nodes, 'ResponseCollectionMeta', collect), pagination, collect)
    return name === 'pageInfo' ? printCounts(nodes, pagination, collect) : text
  })
}

/** Cache key of a root field's form: equal keys print equal text for equal rows. */
function printForm(root: Root, collect: CollectTerms): string {
  const { start, limit } = pageOf(root.query)
  return `${printRoot(root, { text: '$', total: -1 }, collect)}${start},${limit}`
}

const pageOf = ({ take }: TextRoot['query']): Page => (take.kind === 'one' ? NO_PAGE : take.page)

const NO_PAGE = { start: 0, limit: 1 }

type Nodes = CollectedFields extends ReadonlyMap<string, infer Value> ? Value : never

/** Prints an object whose properties are JSON texts. */
function printWrapper(
  fields: CollectedFields,
  typeName: string,
  print: (name: string, nodes: Nodes) => string,
): string {
  const parts: string[] = []
  for (const [key, nodes] of fields) {
    const name = nodes[0].name.value
    parts.push(`"${key}":${name === '__typename' ? `"${typeName}"` : print(name, nodes)}`)
  }
  return `{${parts.join(',')}}`
}

const printMeta = (fields: CollectedFields, pagination: Pagination, collect: CollectTerms): string =>
  printWrapper(fields, 'ResponseCollectionMeta', (_, nodes) => printCounts(nodes, pagination, collect))

const printCounts = (nodes: Nodes, pagination: Pagination, collect: CollectTerms): string =>
  printWrapper(fieldsBelow(nodes, 'Pagination', collect), 'Pagination', name =>
    String(pagination[name as keyof Pagination]),
  )

interface CustomFieldTerms {
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
async function answerCustomFields(text: string, terms: CustomFieldTerms): Promise<CompletedText> {
  if (terms.steps.length === 0) return { text, errors: [] }
  const places = findPlaces(text, terms)
  return fillPlaces(
    splitAtPlaces(text),
    await Promise.all(places.map(place => answerPlace(place, terms))),
    terms.root,
  )
}

/** JSON text, or a failure. */
type PlaceResult = string | FailedPlace

interface FailedPlace {
  readonly error: GraphQLError
  readonly path: readonly (string | number)[]
  readonly levelsUp: number | null
}

async function answerPlace(
  place: PlaceFound,
  { context, operation }: CustomFieldTerms,
): Promise<PlaceResult> {
  const { field, nodes, levelsUp } = place.field
  const { resolve = defaultFieldResolver } = field
  try {
    const args = field.args.length === 0 ? {} : getArgumentValues(field, nodes[0], operation.variableValues)
    const answered: unknown = await resolve(place.row, args, context, toResolveInfo(place, operation))
    return JSON.stringify(complete(answered, place.field))
  } catch (error) {
    const path = responsePathAsArray(place.path)
    return { error: locatedError(error, nodes, path), path, levelsUp }
  }
}

const toResolveInfo = (
  { field: { field, nodes, parentType }, path }: PlaceFound,
  operation: OperationInfo,
) => ({
  fieldName: field.name,
  fieldNodes: nodes,
  returnType: field.type,
  parentType,
  path,
  ...operation,
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

function fillPlaces(
  [first = '', ...others]: readonly string[],
  answers: readonly PlaceResult[],
  root: AnswerPath,
): CompletedText {
  let text = first
  const failed: FailedPlace[] = []
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

/** Splits a text at the places of custom fields: one part more than there are places. */
function splitAtPlaces(text: string): readonly string[] {
  const { from } = CODE_SLOT
  const parts: string[] = []
  let begin = 0
  for (let mark = nextMark(text, 0); mark >= 0; ) {
    const end = nextMark(text, mark + MARK.length)
    parts.push(text.slice(begin, mark - from.length))
    // A place ends with the mark and a brace.
    begin = end + MARK.length + 1
    mark = nextMark(text, begin)
  }
  parts.push(text.slice(begin))
  return parts
}

const MARK = CODE_SLOT.mark
const ESCAPE = MARK.slice(1)

/** The next mark; -1: none. Searches for the backslash, which is rarer than the quotation mark before it. */
function nextMark(text: string, from: number): number {
  let at = text.indexOf(ESCAPE, from)
  while (at > 0 && text[at - 1] !== '"') at = text.indexOf(ESCAPE, at + 1)
  return at < 0 ? -1 : at - 1
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
