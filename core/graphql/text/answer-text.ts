import type { GraphQLError } from 'graphql'
import type { BodyOrText } from '../../cache/answer-store.ts'
import type { AskedDocuments, Documents } from '../../documents/documents.ts'
import type { RestrictedQuery } from '../../query/query.ts'
import { type CollectTerms, fieldsNamed } from '../parse/collect-fields.ts'
import { type ExecutionContext, readOptions } from '../resolve/resolve-read.ts'
import { answerCustomFields, type OperationInfo, splitAtPlaces } from './answer-custom-fields.ts'
import type { AnswerPath } from './custom-field.ts'
import { printForm, printRoot } from './print-root.ts'
import { restrictRoots, type TextOperation, type TextRoot } from './text-operation.ts'

export interface TextTerms {
  readonly context: ExecutionContext
  readonly documents: Documents
  readonly operation: OperationInfo
}

type Text = string | Buffer

/** All of the answer, or its data in parts that follow one another, and what went wrong in them. */
export type TextAnswer =
  | { readonly body: Text }
  | { readonly data: readonly Text[]; readonly errors: readonly GraphQLError[] }

/**
 * An operation answered as text, one statement a root field; null where it has to be answered field by field:
 * what is not for the caller, and what the schema promises and the data lacks, is told with its path.
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
  // Only now: what is answered field by field asks the project's code once.
  return known.length < read.length
    ? null
    : joinRoots(await Promise.all(known.map(root => answerRoot(root, terms))))
}

/** All of the answer is kept, so that it goes out as it is: copying it costs more than all else. */
async function readOnlyRoot(
  root: TextRoot,
  query: RestrictedQuery,
  terms: TextTerms,
): Promise<TextAnswer | null> {
  const { documents, context: acting } = terms
  const { formatKey: form, print, ...asked } = bodyQuery(root, query, terms)
  const [before, behind] = [`{"data":{${JSON.stringify(root.key)}:`, '}}']
  const around: AskedDocuments = {
    ...asked,
    formatKey: `whole ${before}${form}`,
    print(found) {
      const text = print(found)
      return text === null ? null : before + text + behind
    },
  }
  const found = await documents.findBody(around, { ...readOptions(acting), ahead: acting.prefetch })
  return found === null ? null : { body: typeof found === 'string' ? found : found.bytes }
}

/** `found`: all of it, as a body; or what the project's code has a say in. */
interface ReadRoot {
  readonly root: TextRoot
  readonly found: BodyOrText | { readonly rows: string; readonly total: number | null }
}

async function readRoot(root: TextRoot, query: RestrictedQuery, terms: TextTerms): Promise<ReadRoot | null> {
  const { documents, context: acting } = terms
  if (root.steps.length === 0) {
    const found = await documents.findBody(bodyQuery(root, query, terms), {
      ...readOptions(acting),
      ahead: acting.prefetch,
    })
    return found === null ? null : { root, found }
  }
  const { text, total } =
    query.take.kind === 'one'
      ? { text: (await documents.findOne(query, root.layout, readOptions(acting))) ?? 'null', total: null }
      : await documents.findMany(query, root.layout, readOptions(acting))
  return violatesNonNull(text, root) ? null : { root, found: { rows: text, total } }
}

function bodyQuery(root: TextRoot, query: RestrictedQuery, { operation: told }: TextTerms): AskedDocuments {
  const collect = toCollectTerms(told)
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

const toCollectTerms = (told: OperationInfo): CollectTerms => ({ ...told, variables: told.variableValues })

/** Of roots that are asked for again as the very same objects: those of one operation with the same variables. */
const cacheKeys = new WeakMap<TextRoot, string>()

function cachedFormOf(root: TextRoot, collect: CollectTerms): string {
  const form = cacheKeys.get(root) ?? printForm(root, collect)
  cacheKeys.set(root, form)
  return form
}

/** Whether something is null that the schema promises. What code sees of a row may be. */
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
  const { context: acting, operation: told } = terms
  const rows = await answerCustomFields(found.rows, {
    fields: code,
    steps,
    context: acting,
    operation: told,
    root: documentsPath(root),
  })
  const text = printRoot(root, { text: rows.text, total: found.total }, toCollectTerms(told))
  return { key, text, errors: rows.errors }
}

/** Where the documents of a root lie. */
function documentsPath({ key, typeName, fields }: TextRoot): AnswerPath {
  const prev = { prev: undefined, key, typename: 'Query' }
  const [data] = fieldsNamed(fields, 'data')
  return { prev, key: data?.[0] ?? 'data', typename: typeName }
}

const joinRoots = (roots: readonly AnsweredRoot[]): TextAnswer => ({
  data: roots
    .flatMap(({ key, text }, index) => [`${index === 0 ? '{' : ','}${JSON.stringify(key)}:`, text])
    .concat('}'),
  errors: roots.flatMap(({ errors }) => errors),
})
