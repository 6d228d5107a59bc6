import type { GraphQLError } from 'graphql'
import type { BodyOrText } from '../../cache/answer-store.ts'
import type { BodyReads, Documents } from '../../documents/documents.ts'
import type { Page, RestrictedQuery } from '../../query/query.ts'
import { type CollectedFields, type CollectTerms, fieldsBelow } from '../parse/collect-fields.ts'
import {
  type ExecutionContext,
  type Pagination,
  readOptions,
  responsePagination,
} from '../resolve/resolve-read.ts'
import { answerCustomFields, type OperationInfo, splitAtPlaces } from './answer-custom-fields.ts'
import type { AnswerPath } from './custom-field.ts'
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
