import { forbidden } from '../../faults/fault.ts'
import { isLink } from '../../model/model.ts'
import type { Populate } from '../../query/query.ts'
import { parsePopulate } from '../parse/parse-selection.ts'
import { must, toGraphqlError } from '../parse/to-graphql-error.ts'
import { fieldKey, keyAbove, keysOf } from '../resolve/path-keys.ts'
import { contextOf } from '../resolve/resolve-read.ts'
import type { AnsweredRow } from '../resolve/resolvers.ts'
import { type GivenTerms, readGiven } from './argument-value.ts'
import { openBatch } from './batch.ts'
import type { Visit } from './field-guard.ts'
import { batchesOf } from './hydrate.ts'
import { isRow } from './returned-shape.ts'
import type { ReturnedType } from './returned-types.ts'

/**
 * Reads a generated list once more, with arguments that code changed: one statement for the rows of one place that
 * ask for the same. Rejects with Error for lists of components, which are read with their documents.
 */
export const anewReader =
  ({ holder }: ReturnedType, terms: GivenTerms) =>
  async (visit: Visit): Promise<unknown> => {
    const { parent, args, acting, info } = visit
    const { caller } = acting
    const coordinate = `${info.parentType.name}.${info.fieldName}`
    const attribute = holder.attributes.get(info.fieldName)
    if (holder.holder !== 'content-type' || !attribute || attribute.kind === 'scalar' || !isRow(parent))
      throw new Error(`${coordinate} is read with its document: code cannot change its arguments`)
    const { key, prev } = info.path
    const populate = must(
      parsePopulate(holder, attribute, {
        context: contextOf(info, caller, terms),
        data: keyAbove(prev),
        attributes: fieldKey(prev),
        key: String(key),
        nodes: toNodes(info.fieldNodes),
        given: args,
      }),
    )
    const batches = batchesOf(info.variableValues)
    const place = `${keysOf(info.path)} ${JSON.stringify(args)}`
    const batch =
      batches.get(place) ??
      openBatch<AnsweredRow, AnsweredRow | null>(documents =>
        readGiven({ type: holder, documents, populate: [populate], caller }, terms),
      )
    batches.set(place, batch)
    const row = await batch.load(parent)
    return isLink(attribute) ? { data: valueIn(row, populate) } : valueIn(row, populate)
  }

/** What access left out is not the caller's to find; a document that is gone leads nowhere. */
function valueIn(row: AnsweredRow | null, { as }: Populate): unknown {
  if (!row) return []
  const value = row[as]
  if (value === undefined) throw toGraphqlError(forbidden())
  return value
}

type Nodes = Parameters<typeof parsePopulate>[2]['nodes']

function toNodes([first, ...others]: Visit['info']['fieldNodes']): Nodes {
  if (!first) throw new TypeError('a field is asked for by one node at least')
  return [first, ...others]
}
