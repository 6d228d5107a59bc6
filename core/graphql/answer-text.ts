import type { Caller } from '../access/caller.ts'
import type { Trail } from '../base/trail.ts'
import type { Documents } from '../documents/documents.ts'
import type { RestrictedQuery } from '../query/query.ts'
import { type CollectTerms, type Fields, fieldsBelow } from './collect-fields.ts'
import { paginationOf } from './resolve-read.ts'
import { seeText, type TextOperation, type TextRoot } from './text-operation.ts'

export interface TextTerms {
  readonly caller: Caller
  readonly documents: Documents
  readonly signal: AbortSignal
  /** The request that it is for. */
  readonly trail: Trail | undefined
  readonly collect: CollectTerms
}

/**
 * The answer of an operation as text, one statement a root field; null where it has to be answered field by field:
 * what is not for the caller, and what the schema promises and the data lacks, is told with its path.
 */
export async function answerText(operation: TextOperation, terms: TextTerms): Promise<string | null> {
  const queries = seeText(operation, terms.caller)
  if (!queries) return null
  const texts = await Promise.all(
    operation.roots.map((root, index) => {
      const query = queries[index]
      return query ? answerRoot(root, query, terms) : null
    }),
  )
  const parts: string[] = []
  for (const [index, text] of texts.entries()) {
    if (text === null) return null
    parts.push(`${JSON.stringify(operation.roots[index]?.key)}:${text}`)
  }
  return `{"data":{${parts.join(',')}}}`
}

async function answerRoot(
  root: TextRoot,
  query: RestrictedQuery,
  { documents, signal, trail, collect }: TextTerms,
): Promise<string | null> {
  const { layout, typeName, fields } = root
  const options = trail ? { signal, trail } : { signal }
  if (query.take.kind === 'one') {
    const text = (await documents.findOne(query, layout, options)) ?? 'null'
    return isBroken(text, root) ? null : printWrapper(fields, typeName, () => text)
  }
  const { text, total } = await documents.findMany(query, layout, options)
  if (isBroken(text, root)) return null
  const pagination = paginationOf(query.take.page, total ?? 0)
  return printWrapper(fields, typeName, (name, nodes) =>
    name === 'data'
      ? text
      : printMeta(fieldsBelow(nodes, 'ResponseCollectionMeta', collect), pagination, collect),
  )
}

/** Inside of texts quotation marks are escaped: only a property can look so. */
const isBroken = (text: string, { promised }: TextRoot): boolean =>
  promised.some(key => text.includes(`"${key}":null`))

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
