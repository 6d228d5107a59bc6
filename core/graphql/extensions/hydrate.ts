import {
  type GraphQLOutputType,
  type GraphQLResolveInfo,
  getNamedType,
  getNullableType,
  isListType,
} from 'graphql'
import type { Caller } from '../../access/caller.ts'
import { memoize } from '../../base/memo.ts'
import type { Component, Holder } from '../../model/model.ts'
import { graphqlTypeName, graphqlWrapperNames } from '../../model/names.ts'
import type {
  ComponentPopulate,
  LinkPopulate,
  Populate,
  Selection,
  ShapePart,
  ZonePopulate,
} from '../../query/query.ts'
import type { Wrappers } from '../formats/format.ts'
import { fieldsBelow } from '../parse/collect-fields.ts'
import { type OperationContext, rowPlace } from '../parse/operation-context.ts'
import {
  parseAttributeSelection,
  parseDocumentSelection,
  parseEntitySelection,
} from '../parse/parse-selection.ts'
import { toOperationContext } from '../resolve/resolver-context.ts'
import { type AnsweredRow, aroundKeys, fieldPath, wrapperKeys } from '../resolve/resolvers.ts'
import type { FieldGuard, ResolverCall } from './field-guard.ts'
import { type BatchLoader, loadReturned, openBatchLoader, type ReturnedOptions } from './load-returned.ts'
import { isRow, linkedDocuments, type ReturnedShape, type ReturnedType, toShape } from './returned.ts'

/**
 * Converts documents that code returned to rows for generated fields. Their own values stay as code returned them;
 * populated values are read in one statement for all of them, restricted to the caller.
 */
export function openHydrator(
  type: GraphQLOutputType,
  types: ReadonlyMap<string, ReturnedType>,
  options: ReturnedOptions,
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
    const rows = documents.length === 0 ? [] : await hydrateAll(documents, { returned, call, options })
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
  readonly options: ReturnedOptions
}

async function hydrateAll(
  documents: readonly AnsweredRow[],
  { returned, call: { execution, info }, options }: HydrateContext,
): Promise<readonly AnsweredRow[]> {
  const { caller } = execution
  const selection = parseReturnedSelection(returned, info, {
    context: toOperationContext(info, caller, options),
    wrappers: options.wrappers,
  })
  const batches = loadersFor(info.variableValues)
  const reading: HydrateOptions['loaderFor'] = (place, { holder, selection: { populate } }) => {
    const known = batches.get(place)
    if (known) return known
    if (holder.holder !== 'content-type') throw new TypeError('components are read with their documents')
    const batch = openBatchLoader<AnsweredRow, AnsweredRow | null>(input =>
      loadReturned({ type: holder, documents: input, populate, caller }, options),
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

/** Documents that code returned, and the selection of their fields. */
interface HydrateOptions {
  readonly holder: Holder
  readonly documents: readonly AnsweredRow[]
  readonly selection: Selection
  readonly caller: Caller
  /** The loader of populated values of stored documents, one for each `place` of the operation. */
  readonly loaderFor: (
    place: string,
    adopting: HydrateOptions,
  ) => BatchLoader<AnsweredRow, AnsweredRow | null>
  readonly place: string
}

/** Converts documents of code to rows for generated resolvers: own values plus populated ones. */
async function hydrateRows(adopting: HydrateOptions): Promise<readonly AnsweredRow[]> {
  const { holder, documents, selection } = adopting
  if (selection.populate.length === 0) return documents.map(document => ownValues(document, holder))
  const computed = documents.filter(document => !isStored(document, holder))
  const adopted = await hydrateComputed({ ...adopting, documents: computed })
  return Promise.all(
    documents.map(document =>
      isStored(document, holder) ? hydrateStored(document, adopting) : (adopted.get(document) ?? document),
    ),
  )
}

/** PostgreSQL cannot store NUL, so no document has such an id. */
const isStored = ({ documentId }: AnsweredRow, { holder }: Holder): boolean =>
  holder === 'content-type' && typeof documentId === 'string' && !documentId.includes('\0')

/** The document's scalar values. Populated values are read from the database, or set under their response key. */
function ownValues(document: AnsweredRow, { attributes }: Holder): AnsweredRow {
  const own = Object.entries(document).filter(([key]) => (attributes.get(key)?.kind ?? 'scalar') === 'scalar')
  return { ...Object.fromEntries(own), documentId: document.documentId ?? document.id }
}

async function hydrateStored(document: AnsweredRow, adopting: HydrateOptions): Promise<AnsweredRow> {
  const { holder, selection, loaderFor: reading, place } = adopting
  const read = await reading(place, adopting).load(document)
  const populated = selection.populate.flatMap(({ as, ...populate }) => {
    const value = read ? read[as] : isMany(populate) ? [] : null
    return value === undefined ? [] : [[as, value] as const]
  })
  return { ...ownValues(document, holder), ...Object.fromEntries(populated) }
}

const isMany = ({ attribute }: Pick<Populate, 'attribute'>): boolean => {
  if (attribute.kind === 'zone' || attribute.kind === 'morph') return true
  return attribute.kind === 'component' ? attribute.repeatable : attribute.many
}

/** Documents that exist only in code contain their relations and components themselves. */
async function hydrateComputed(adopting: HydrateOptions): Promise<ReadonlyMap<AnsweredRow, AnsweredRow>> {
  const { documents, selection, holder } = adopting
  if (documents.length === 0) return new Map()
  const columns = await Promise.all(selection.populate.map(populate => hydrateColumn(populate, adopting)))
  return new Map(
    documents.map((document, index) => {
      const values = columns.flatMap(({ as, values: all }) =>
        all ? [[as, all[index] ?? null] as const] : [],
      )
      return [document, { ...ownValues(document, holder), ...Object.fromEntries(values) }]
    }),
  )
}

interface Column {
  readonly as: string
  /** One value per document; null: the caller may not follow the link. */
  readonly values: readonly unknown[] | null
}

async function hydrateColumn(populate: Populate, adopting: HydrateOptions): Promise<Column> {
  const { as } = populate
  switch (populate.kind) {
    case 'link':
      return {
        as,
        values: mayFollow(populate, adopting.caller) ? await hydrateLink(populate, adopting) : null,
      }
    case 'component':
      return { as, values: await hydrateComponents(populate, adopting) }
    case 'zone':
      return { as, values: await hydrateZones(populate, adopting) }
    // Only stored files are used in documents.
    case 'morph':
      return { as, values: adopting.documents.map(() => []) }
  }
}

/** Media need no permission; other links need `find` on their target (reference/graphql.md#8-permissions). */
const mayFollow = ({ attribute, bypassFind: opened }: LinkPopulate, { grants }: Caller): boolean =>
  attribute.kind === 'media' || opened !== undefined || grants.readAccess(attribute.target, 'find') !== null

async function hydrateLink(populate: LinkPopulate, adopting: HydrateOptions): Promise<readonly unknown[]> {
  const { attribute, as, selection } = populate
  const shapes = adopting.documents.map(document => linkedDocuments(document[attribute.name], attribute))
  const rows = await hydrateRows({
    ...adopting,
    holder: attribute.target,
    documents: shapes.flat(),
    selection,
    place: `${adopting.place} ${as}`,
  })
  let at = 0
  return shapes.map(documents => {
    const own = rows.slice(at, at + documents.length)
    at += documents.length
    return attribute.many ? own : (own[0] ?? null)
  })
}

function hydrateComponents(
  populate: ComponentPopulate,
  adopting: HydrateOptions,
): Promise<readonly unknown[]> {
  const { attribute, selection } = populate
  return Promise.all(
    adopting.documents.map(async document => {
      const input = listOf(document[attribute.name])
      const rows = await hydratePart(input, { holder: attribute.component, selection }, adopting)
      return attribute.repeatable ? rows : (rows[0] ?? null)
    }),
  )
}

const hydrateZones = (
  { attribute, parts }: ZonePopulate,
  adopting: HydrateOptions,
): Promise<readonly unknown[]> =>
  Promise.all(
    adopting.documents.map(document =>
      Promise.all(
        listOf(document[attribute.name]).map(async entry => {
          const part = parts.find(({ holder }) => holder.uid === entry.__component)
          const [row = entry] = part ? await hydratePart([entry], part, adopting) : [entry]
          return { __component: entry.__component, ...row }
        }),
      ),
    ),
  )

const hydratePart = (
  documents: readonly AnsweredRow[],
  { holder, selection }: ShapePart<Component>,
  adopting: HydrateOptions,
): Promise<readonly AnsweredRow[]> =>
  hydrateRows({
    ...adopting,
    holder,
    documents,
    selection,
    place: `${adopting.place} ${holder.uid}`,
  })

const listOf = (value: unknown): readonly AnsweredRow[] =>
  (Array.isArray(value) ? value : [value]).filter(isRow)
