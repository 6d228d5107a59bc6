import { forbidden, RequestFault } from '../../faults/fault.ts'
import type { Populate } from '../../query/query.ts'
import { UNALIASED } from '../parse/operation-context.ts'
import { parsePopulateField } from '../parse/parse-selection.ts'
import { documentWrapper, toOperationContext } from '../resolve/resolve-read.ts'
import { type AnsweredRow, fieldPath } from '../resolve/resolvers.ts'
import type { ResolverCall } from './field-guard.ts'
import { loadersFor } from './hydrate.ts'
import { loadReturned, openBatchLoader, type ReturnedTerms } from './load-returned.ts'
import { isRow, type ReturnedType } from './returned.ts'

/**
 * Reads a generated list again with arguments that code changed: one statement for all rows of one place with equal
 * arguments. Rejects with Error for lists of components, which are read with their documents.
 */
export const openReread =
  ({ holder }: ReturnedType, terms: ReturnedTerms) =>
  async ({ parent, args, execution: { caller }, info }: ResolverCall): Promise<unknown> => {
    const coordinate = `${info.parentType.name}.${info.fieldName}`
    const link = terms.format.linkField(holder, info.fieldName)
    const attribute = link?.attribute ?? holder.attributes.get(info.fieldName)
    if (holder.holder !== 'content-type' || !attribute || attribute.kind === 'scalar' || !isRow(parent))
      throw new Error(`${coordinate} is read with its document: code cannot change its arguments`)
    const populate = parsePopulateField(holder, attribute, {
      context: toOperationContext(info, caller, terms),
      place: UNALIASED,
      key: String(info.path.key),
      nodes: toNodes(info.fieldNodes),
      args,
    })
    const batches = loadersFor(info.variableValues)
    const place = `${fieldPath(info.path)} ${JSON.stringify(args)}`
    const batch =
      batches.get(place) ??
      openBatchLoader<AnsweredRow, AnsweredRow | null>(documents =>
        loadReturned({ type: holder, documents, populate: [populate], caller }, terms),
      )
    batches.set(place, batch)
    const value = linkedValue(await batch.load(parent), populate)
    if (!link) return value
    return documentWrapper(link.attribute.target, link.use, terms.format)(value)
  }

/** A value that access removed is refused; a deleted document has no links. */
function linkedValue(row: AnsweredRow | null, { as }: Populate): unknown {
  if (!row) return []
  const value = row[as]
  if (value === undefined) throw new RequestFault(forbidden())
  return value
}

type Nodes = Parameters<typeof parsePopulateField>[2]['nodes']

function toNodes([first, ...others]: ResolverCall['info']['fieldNodes']): Nodes {
  if (!first) throw new TypeError('a field has at least one node')
  return [first, ...others]
}
