import {
  type GraphQLOutputType,
  type GraphQLResolveInfo,
  getNamedType,
  getNullableType,
  isListType,
} from 'graphql'
import { memoize } from '../../base/memo.ts'
import { graphqlTypeName, graphqlWrapperNames } from '../../model/names.ts'
import type { Selection } from '../../query/query.ts'
import { fieldsBelow } from '../parse/collect-fields.ts'
import { type OperationContext, rowPlace } from '../parse/operation-context.ts'
import {
  parseAttributeSelection,
  parseDocumentSelection,
  parseEntitySelection,
} from '../parse/parse-selection.ts'
import { toOperationContext } from '../resolve/resolve-read.ts'
import { type AnsweredRow, aroundKeys, fieldPath, type Wrappers, wrapperKeys } from '../resolve/resolvers.ts'
import type { FieldGuard, ResolverCall } from './field-guard.ts'
import { type HydrateTerms, hydrateRows } from './hydrate-rows.ts'
import { type BatchLoader, loadReturned, openBatchLoader, type ReturnedTerms } from './load-returned.ts'
import { type ReturnedShape, type ReturnedType, toShape } from './returned.ts'

/**
 * Converts documents that code returned to rows for generated fields. Their own values stay as code returned them;
 * populated values are read in one statement for all of them, restricted to the caller.
 */
export function openHydrator(
  type: GraphQLOutputType,
  types: ReadonlyMap<string, ReturnedType>,
  terms: ReturnedTerms,
): FieldGuard['hydrate'] {
  const returned = types.get(getNamedType(type).name)
  if (!returned) return value => value
  const lists = listDepth(type)
  return async (value, call) => {
    const { generated: inner } = call.original
    if (inner.includes(value)) return value
    const shape = shapeOfLists(await awaitLists(value), returned, lists)
    // Rows of the generated resolver are complete, wherever code placed them.
    const known = new Set(inner.flatMap(each => shapeOfLists(each, returned, lists).documents))
    const documents = shape.documents.filter(document => !known.has(document))
    const rows = documents.length === 0 ? [] : await hydrateAll(documents, { returned, call, terms })
    const adopted = new Map(documents.map((document, index) => [document, rows[index] ?? document]))
    return shape.build(shape.documents.map(document => adopted.get(document) ?? document))
  }
}

/** Lists may contain promises, as everywhere in GraphQL. */
const awaitLists = async (value: unknown): Promise<unknown> =>
  Array.isArray(value) ? Promise.all(value.map(awaitLists)) : value

const listDepth = (type: GraphQLOutputType): number => {
  const nullable = getNullableType(type)
  return isListType(nullable) ? 1 + listDepth(nullable.ofType) : 0
}

/** The shape of a value, or of each entry of nested lists. */
function shapeOfLists(value: unknown, returned: ReturnedType, lists: number): ReturnedShape {
  if (lists === 0 || !Array.isArray(value)) return toShape(value, returned)
  const shapes = value.map(each => shapeOfLists(each, returned, lists - 1))
  return {
    documents: shapes.flatMap(({ documents }) => documents),
    build(rows) {
      let at = 0
      return shapes.map(({ documents, build }) => {
        const own = rows.slice(at, at + documents.length)
        at += documents.length
        return build(own)
      })
    },
  }
}

interface HydrateContext {
  readonly returned: ReturnedType
  readonly call: ResolverCall
  readonly terms: ReturnedTerms
}

async function hydrateAll(
  documents: readonly AnsweredRow[],
  { returned, call: { execution, info }, terms }: HydrateContext,
): Promise<readonly AnsweredRow[]> {
  const { caller } = execution
  const selection = parseReturnedSelection(returned, info, {
    context: toOperationContext(info, caller, terms),
    wrappers: terms.wrappers,
  })
  const batches = loadersFor(info.variableValues)
  const reading: HydrateTerms['loaderFor'] = (place, { holder, selection: { populate } }) => {
    const known = batches.get(place)
    if (known) return known
    if (holder.holder !== 'content-type') throw new TypeError('components are read with their documents')
    const batch = openBatchLoader<AnsweredRow, AnsweredRow | null>(given =>
      loadReturned({ type: holder, documents: given, populate, caller }, terms),
    )
    batches.set(place, batch)
    return batch
  }
  const { holder } = returned
  return hydrateRows({
    holder,
    documents,
    selection,
    caller,
    loaderFor: reading,
    place: fieldPath(info.path),
  })
}

type Loaders = Map<string, BatchLoader<AnsweredRow, AnsweredRow | null>>

/** Loaders by the operation's variables object, which is unique to one execution. */
export const loadersFor = memoize((_variables: object): Loaders => new Map())

/** Parses the selection below a custom field with a generated type. */
function parseReturnedSelection(
  returned: ReturnedType,
  { fieldNodes: nodes, path }: Pick<GraphQLResolveInfo, 'fieldNodes' | 'path'>,
  { context, wrappers }: { readonly context: OperationContext; readonly wrappers: Wrappers },
): Selection {
  const name = graphqlTypeName(returned.holder)
  switch (returned.wrapper) {
    case 'attributes':
      return parseAttributeSelection(returned.holder, fieldsBelow(nodes, name, context), {
        context,
        place: rowPlace(wrapperKeys(path, wrappers)),
      })
    case 'entity': {
      const fields = fieldsBelow(nodes, graphqlWrapperNames(name).entity, context)
      return parseEntitySelection(returned.holder, fields, { context, above: aroundKeys(path, wrappers) })
    }
    case 'around':
      return parseDocumentSelection(returned.holder, { nodes, use: returned.use }, context)
  }
}
