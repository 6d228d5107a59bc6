import type { Documents } from '../documents/documents.ts'
import type { RestrictedQuery } from '../query/query.ts'
import { answerCode, type ToldOperation, type WholeText } from './answer-code.ts'
import type { AnswerPath } from './code-places.ts'
import { partsOf } from './code-text.ts'
import { type CollectTerms, type Fields, fieldsBelow, fieldsNamed } from './collect-fields.ts'
import { type Acting, optionsOf, paginationOf } from './resolve-read.ts'
import { seeText, type TextOperation, type TextRoot } from './text-operation.ts'

export interface TextTerms {
  readonly acting: Acting
  readonly documents: Documents
  readonly told: ToldOperation
}

/**
 * The data of an operation as text, one statement a root field; null where it has to be answered field by field:
 * what is not for the caller, and what the schema promises and the data lacks, is told with its path.
 */
export async function answerText(operation: TextOperation, terms: TextTerms): Promise<WholeText | null> {
  const queries = seeText(operation, terms.acting.caller)
  if (!queries) return null
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

interface ReadRoot {
  readonly root: TextRoot
  readonly text: string
  /** What lies beside the documents. */
  readonly pagination: Pagination
}

async function readRoot(
  root: TextRoot,
  query: RestrictedQuery,
  { documents, acting }: TextTerms,
): Promise<ReadRoot | null> {
  const options = optionsOf(acting)
  const { text, total } =
    query.take.kind === 'one'
      ? { text: (await documents.findOne(query, root.layout, options)) ?? 'null', total: 0 }
      : await documents.findMany(query, root.layout, options)
  if (isBroken(text, root)) return null
  const page = query.take.kind === 'one' ? NO_PAGE : query.take.page
  return { root, text, pagination: paginationOf(page, total ?? 0) }
}

const NO_PAGE = { start: 0, limit: 1 }

/** Whether something is null that the schema promises. What code sees of a row may be. */
function isBroken(text: string, { broken, steps }: TextRoot): boolean {
  if (!broken?.test(text)) return false
  return steps.length === 0 || partsOf(text).some(part => broken.test(part))
}

interface Answered extends WholeText {
  readonly key: string
}

async function answerRoot({ root, text, pagination }: ReadRoot, terms: TextTerms): Promise<Answered> {
  const { key, typeName, fields, code, steps } = root
  const { acting, told } = terms
  const rows = await answerCode(text, { code, steps, acting, told, root: pathOf(root) })
  const collect = { ...told, variables: told.variableValues }
  const whole = printWrapper(fields, typeName, (name, nodes) =>
    name === 'data'
      ? rows.text
      : printMeta(fieldsBelow(nodes, 'ResponseCollectionMeta', collect), pagination, collect),
  )
  return { key, text: whole, errors: rows.errors }
}

/** Where the documents of a root lie. */
function pathOf({ key, typeName, fields }: TextRoot): AnswerPath {
  const prev = { prev: undefined, key, typename: 'Query' }
  const [data] = fieldsNamed(fields, 'data')
  return { prev, key: data?.[0] ?? 'data', typename: typeName }
}

const joinRoots = (roots: readonly Answered[]): WholeText => ({
  text: `{${roots.map(({ key, text }) => `${JSON.stringify(key)}:${text}`).join(',')}}`,
  errors: roots.flatMap(({ errors }) => errors),
})

type Nodes = Fields extends ReadonlyMap<string, infer Value> ? Value : never

/** An object whose properties are texts. */
function printWrapper(
  fields: Fields,
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

type Pagination = ReturnType<typeof paginationOf>

const printMeta = (fields: Fields, pagination: Pagination, collect: CollectTerms): string =>
  printWrapper(fields, 'ResponseCollectionMeta', (_, nodes) =>
    printWrapper(fieldsBelow(nodes, 'Pagination', collect), 'Pagination', name =>
      String(pagination[name as keyof Pagination]),
    ),
  )
