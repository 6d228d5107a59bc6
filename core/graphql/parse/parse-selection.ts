import type { FieldNode } from 'graphql'
import { nullIfRefused } from '../../faults/fault.ts'
import {
  type Attribute,
  type ComponentAttribute,
  type ContentType,
  type Holder,
  isLink,
  type LinkAttribute,
  type MorphAttribute,
  type ScalarAttribute,
  type ZoneAttribute,
} from '../../model/model.ts'
import { graphqlTypeName, graphqlWrapperNames } from '../../model/names.ts'
import { allShapes } from '../../query/populate-nodes.ts'
import type { LinkPopulate, Page, Populate, Selection } from '../../query/query.ts'
import type { DocumentUse } from '../formats/format.ts'
import { type CollectedFields, fieldsBelow, fieldsNamed } from './collect-fields.ts'
import { openedLink, withWholeRow } from './field-marks.ts'
import {
  type Arguments,
  answerKey,
  fieldArguments,
  type OperationContext,
  type RowPlace,
  rowPlace,
  UNALIASED,
} from './operation-context.ts'
import { parsePage, parseRows } from './parse-arguments.ts'

/** A field that answers documents: its nodes, and how it wraps them. */
export interface DocumentField {
  readonly nodes: readonly FieldNode[]
  readonly use: DocumentUse
}

/** Parses the selection of a field that answers documents. */
export function parseDocumentSelection(
  type: ContentType,
  { nodes, use }: DocumentField,
  context: OperationContext,
): Selection {
  const { around, entity } = context.format.shapeOf(graphqlTypeName(type), use)
  if (!around) return parseDocuments(type, nodes, { context, entity, above: [] })
  const found = fieldsNamed(fieldsBelow(nodes, around.type, context), around.field)
  return mergeSelections(
    found.map(([key, rows]) => parseDocuments(type, rows, { context, entity, above: [[key, around.field]] })),
  )
}

interface RowContext {
  readonly context: OperationContext
  /** The name of the entity type with `id` and `attributes` (nested format); null: the attributes are not wrapped. */
  readonly entity: string | null
  /** The wrapper fields around the rows, outermost first. */
  readonly above: readonly (readonly [key: string, name: string])[]
}

/** Parses the fields of documents: of `<Type>`, or of the entity around it. */
function parseDocuments(
  type: ContentType,
  nodes: readonly FieldNode[],
  { context, entity, above }: RowContext,
): Selection {
  if (entity) return parseEntitySelection(type, fieldsBelow(nodes, entity, context), { context, above })
  const fields = fieldsBelow(nodes, graphqlTypeName(type), context)
  return parseAttributeSelection(type, fields, { context, place: rowPlace(above) })
}

/** Parses the selection `id attributes { … }` of an entity, each `attributes` separately. */
export function parseEntitySelection(
  type: ContentType,
  fields: CollectedFields,
  { context, above }: Omit<RowContext, 'entity'>,
): Selection {
  const name = graphqlTypeName(type)
  const typeName = graphqlWrapperNames(name).entity
  const seen = withWholeRow(EMPTY, type, { context, names: fields, typeName })
  const parts = fieldsNamed(fields, 'attributes').map(([key, nodes]) =>
    parseAttributeSelection(type, fieldsBelow(nodes, name, context), {
      context,
      place: rowPlace([...above, [key, 'attributes']]),
    }),
  )
  return mergeSelections([seen, ...parts])
}

const EMPTY: Selection = { fields: [], named: true, populate: [] }

/** The position of selected attributes in the operation. */
export interface SelectionPlace {
  readonly context: OperationContext
  readonly place: RowPlace
}

/** Parses the fields of `<Type>` or of a component's type: scalars become fields, all others populates. */
export function parseAttributeSelection(
  holder: Holder,
  fields: CollectedFields,
  place: SelectionPlace,
): Selection {
  const scalars: ScalarAttribute[] = []
  const populate: Populate[] = []
  for (const [key, nodes] of fields) {
    const attribute = attributeOf(holder, nodes[0].name.value, place.context)
    if (!attribute) continue
    if (attribute.kind === 'scalar') {
      scalars.push(attribute)
      continue
    }
    // Invalid arguments fail only this field, when it is resolved (reference/graphql.md#5-pagination, reference/graphql.md#8-permissions).
    const parsed = nullIfRefused(() => parsePopulateField(holder, attribute, { ...place, key, nodes }))
    if (parsed) populate.push(parsed)
  }
  const selection: Selection = { fields: unique(scalars), named: true, populate }
  const typeName = graphqlTypeName(holder)
  return withWholeRow(selection, holder, { context: place.context, names: fields, typeName })
}

/** The attribute that a field answers; undefined: none, such as for `__typename` and custom fields. */
const attributeOf = (holder: Holder, name: string, { format }: OperationContext): Attribute | undefined =>
  format.linkField(holder, name)?.attribute ?? holder.attributes.get(name)

/** Merges the selections of several wrappers of the same rows, so that the rows are read once. */
export function mergeSelections(selections: readonly Selection[]): Selection {
  const fields = selections.flatMap(selection =>
    selection.fields.filter(field => !selection.internalFields?.has(field)),
  )
  const named = new Set(fields)
  // A field that any of them names is the caller's own selection.
  const internal = new Set(
    selections.flatMap(selection => [...(selection.internalFields ?? [])]).filter(field => !named.has(field)),
  )
  return {
    fields: [...named, ...internal],
    named: true,
    populate: selections.flatMap(({ populate }) => populate),
    ...(internal.size > 0 && { internalFields: internal }),
  }
}

const unique = (attributes: readonly ScalarAttribute[]): readonly ScalarAttribute[] => [
  ...new Set(attributes),
]

/** A field with a sub-selection: all nodes of its response key. */
interface PopulateField extends SelectionPlace {
  readonly key: string
  readonly nodes: readonly [FieldNode, ...FieldNode[]]
  /** Replaces the arguments in the operation. */
  readonly args?: Arguments
}

/** Parses a field with a sub-selection to a populate. Throws a RequestFault for invalid arguments. */
export function parsePopulateField(
  holder: Holder,
  attribute: Exclude<Attribute, ScalarAttribute>,
  field: PopulateField,
): Populate {
  if (attribute.kind === 'zone') return parseZone(attribute, field)
  if (attribute.kind === 'morph') return parseMorph(attribute, field)
  const args = field.args ?? fieldArguments(field.nodes[0], graphqlTypeName(holder), field.context)
  return isLink(attribute)
    ? parseLink(attribute, args, { ...field, holder })
    : parseComponent(attribute, args, field)
}

/** The part that all kinds of populates have. */
const basePopulate = (field: PopulateField, attribute: Attribute) =>
  ({ as: answerKey(field.place, field.key, attribute.name), origin: 'named', count: false }) as const

function parseLink(
  attribute: LinkAttribute,
  args: Arguments,
  field: PopulateField & { readonly holder: Holder },
): Populate {
  const { context, nodes, holder } = field
  const { target, many } = attribute
  const rows = parseRows(target, args, context.format)
  const page = pageOf(many, args, context)
  const fieldName = nodes[0].name.value
  const use = context.format.linkField(holder, fieldName)?.use ?? 'toOne'
  const versions = linkVersions(args, context)
  return {
    kind: 'link',
    attribute,
    ...basePopulate(field, attribute),
    ...openedLink(holder, fieldName, context),
    scope: null,
    page,
    ...rows,
    ...versions,
    selection: parseDocumentSelection(target, { nodes, use }, { ...context, ...versions }),
  }
}

/** A list has its own publicationState, independent of its parent's (reference/documents.md#17-graphql-nested-dialect). */
function linkVersions(
  { publicationState }: Arguments,
  { status }: OperationContext,
): Pick<LinkPopulate, 'status'> {
  if (publicationState === 'PREVIEW') return { status: 'latest' }
  return publicationState === undefined || status !== 'latest' ? {} : { status: 'published' }
}

function parseComponent(attribute: ComponentAttribute, args: Arguments, field: PopulateField): Populate {
  const { context, nodes } = field
  const { component, repeatable } = attribute
  const rows = parseRows(component, args, context.format)
  const page = pageOf(repeatable, args, context)
  const below = fieldsBelow(nodes, graphqlTypeName(component), context)
  return {
    kind: 'component',
    attribute,
    ...basePopulate(field, attribute),
    page,
    ...rows,
    selection: parseAttributeSelection(component, below, componentPlace(context)),
  }
}

const componentPlace = (context: OperationContext): SelectionPlace => ({ context, place: UNALIASED })

const pageOf = (many: boolean, args: Arguments, context: OperationContext): Page | null =>
  many ? parsePage(args.pagination, context.limits) : null

/** Parses a dynamic zone: the fragments on each component's type. */
function parseZone(attribute: ZoneAttribute, field: PopulateField): Populate {
  const { context, nodes } = field
  const parts = attribute.components.map(component => ({
    holder: component,
    selection: parseShape(component, nodes, context),
  }))
  return { kind: 'zone', attribute, ...basePopulate(field, attribute), parts }
}

/** Parses the fragments on one of the types of a union. */
function parseShape(holder: Holder, nodes: readonly FieldNode[], context: OperationContext): Selection {
  const fields = fieldsBelow(nodes, graphqlTypeName(holder), context)
  return parseAttributeSelection(holder, fields, componentPlace(context))
}

/** Parses `related` of files: all content-types, and the components that a fragment selects fields of. */
function parseMorph(attribute: MorphAttribute, field: PopulateField): Populate {
  const { context, nodes } = field
  const parts = allShapes(attribute).flatMap(holder => {
    // shadowCRUD may have removed the type from the schema.
    if (!context.schema.getType(graphqlTypeName(holder))) return []
    const selection = parseShape(holder, nodes, context)
    const isSelected = selection.fields.length + selection.populate.length > 0
    return holder.holder === 'content-type' || isSelected ? [{ holder, selection }] : []
  })
  const page = { start: 0, limit: context.limits.amountLimit }
  return { kind: 'morph', attribute, ...basePopulate(field, attribute), parts, page }
}
