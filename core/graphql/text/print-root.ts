import type { Page } from '../../query/query.ts'
import { type CollectedFields, type CollectTerms, fieldsBelow } from '../parse/collect-fields.ts'
import { type Pagination, responsePagination } from '../resolve/resolve-read.ts'
import type { TextRoot } from './text-operation.ts'

type Root = Pick<TextRoot, 'around' | 'query'>

interface RootRows {
  /** JSON of the documents, or of one document. */
  readonly text: string
  readonly total: number | null
}

/** Prints the value of a root field: its documents, or the object around them with its counts. */
export function printRoot({ around, query }: Root, { text, total }: RootRows, collect: CollectTerms): string {
  if (!around) return text
  const pagination = responsePagination(pageOf(query), total ?? 0)
  return printWrapper(around.fields, around.typeName, (name, nodes) => {
    if (name === 'meta')
      return printMeta(fieldsBelow(nodes, 'ResponseCollectionMeta', collect), pagination, collect)
    return name === 'pageInfo' ? printCounts(nodes, pagination, collect) : text
  })
}

/** Cache key of a root field's form: equal keys print equal text for equal rows. */
export function printForm(root: Root, collect: CollectTerms): string {
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
