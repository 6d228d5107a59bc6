import { comparisonsIn } from '../access/compile/expected-lists.ts'
import type { ContentType, Model, RelationAttribute } from '../model/model.ts'
import { operatorTraits } from '../query/operators.ts'
import { isRecord } from '../query/parse-place.ts'
import type { Comparison, Query, RelatedFilter } from '../query/query.ts'
import type { Advice } from './advice.ts'
import type { SlowRead } from './slow-reads.ts'

// Advice on slow reads that no index of compared values makes faster.

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

/** Advice on lists of related documents that a slow read populates or counts as a whole. `took`: its duration in words. */
export function longRelations({ work }: SlowRead, took: string, model: Model): readonly Advice[] {
  const { contentType, populate } = work
  const type = [...model.contentTypes.values()].find(({ key }) => key === contentType)
  if (!type || !isRecord(populate)) return []
  return Object.entries(populate).flatMap(([name, asked]) => {
    const attribute = type.attributes.get(name)
    if (attribute?.kind !== 'relation' || !attribute.many || !isRecord(asked) || asked.limit !== undefined)
      return []
    const found = `${took} with all documents of \`${name}\`, which has no limit`
    const remedy = ownList(type, attribute)
    return [{ severity: 'advice', code: 'long-relation', about: type.key, found, remedy }]
  })
}

const ownList = ({ key }: ContentType, { target, counterpart }: RelationAttribute): string =>
  counterpart
    ? `if it is long, ask for it page by page: \`GET /api/${target.pluralApiId}?filters[${counterpart.name}][documentId]=…\`, and for the number of its documents with \`pagination[withCount]=estimate\``
    : `if it is long, declare \`inversedBy\` on it, so that it can be asked for page by page: \`GET /api/${target.pluralApiId}?filters[${key}][documentId]=…\``
