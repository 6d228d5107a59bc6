import { comparisonsIn } from '../access/compile/expected-lists.ts'
import { operatorTraits } from '../query/operators.ts'
import type { Comparison, Query, RelatedFilter } from '../query/query.ts'

/** What helps a read that no index of compared values finds; null: nothing is known to. */
export function withoutIndex(query: Query): string | null {
  const { filter, search, sort } = query
  if (search || (filter && comparisonsIn(filter).some(isOfParts))) return withTextIndex(query) ?? PARTS
  const isWide = filter ? comparisonsIn(filter).length > 1 : sort.some(({ path }) => path.length > 0)
  return isWide ? WIDE : null
}

const isOfParts = (part: Comparison | RelatedFilter): part is Comparison =>
  part.kind === 'comparison' && operatorTraits(part.operator).text

/** null: each text that the read compares has an index of kind text. */
function withTextIndex({ type, filter, search }: Query): string | null {
  const compared = filter ? comparisonsIn(filter).filter(isOfParts) : []
  const names = [...(search?.attributes ?? []), ...compared.map(({ attribute }) => attribute)].map(
    ({ name }) => name,
  )
  const missing = [...new Set(names)].filter(
    name => type.attributes.has(name) && !type.textIndexes.includes(name),
  )
  if (missing.length === 0) return null
  const all = [...type.textIndexes, ...missing].join(', ')
  return `parts of texts want an index of kind text: \`indexes: [{ attributes: [${all}], kind: text }]\` (docs/storage.md); where visitors search for words, \`search:\` finds them by relevance (docs/search.md)`
}

const PARTS =
  'each text has an index of kind text, which finds values of three letters or more: ask for longer ones, or declare `search:` (docs/search.md)'

const WIDE =
  'no single index finds it: it asks for either of several things, over relations, or for most of the documents; ask for less at a time'
