import type { FieldNode } from 'graphql'
import { nullIfRefused } from '../../faults/fault.ts'
import {
  type Attribute,
  type ComponentAttribute,
  type ContentType,
  type Holder,
  isLink,
  type LinkAttribute,
  type ScalarAttribute,
  type ZoneAttribute,
} from '../../model/model.ts'
import { graphqlTypeName, graphqlWrapperNames } from '../../model/names.ts'
import type { LinkPopulate, Page, Populate, Selection } from '../../query/query.ts'
import { type CollectedFields, fieldsBelow, fieldsNamed } from './collect-fields.ts'
import { openedLink, withWholeRow } from './field-marks.ts'
import { type Arguments, answerKey, fieldArguments, type OperationContext } from './operation-context.ts'
import { parsePage, parseRows } from './parse-arguments.ts'

/** Parses the selection `data { id attributes { … } }` of a response or collection. */
export function parseDocumentSelection(
  type: ContentType,
  answer: CollectedFields,
  context: OperationContext,
): Selection {
  const name = graphqlTypeName(type)
  const { entity } = graphqlWrapperNames(name)
  const parts = fieldsNamed(answer, 'data').flatMap(([data, rows]) =>
    parseEntitySelection(type, fieldsBelow(rows, entity, context), { context, data }),
  )
  return mergeSelections(parts)
}

/** Parses the selection `id attributes { … }` of an entity, each `attributes` separately. */
export function parseEntitySelection(
  type: ContentType,
  fields: CollectedFields,
  { context, data }: Omit<SelectionPlace, 'attributes'>,
): readonly Selection[] {
  const name = graphqlTypeName(type)
  const typeName = graphqlWrapperNames(name).entity
  const seen = withWholeRow(EMPTY, type, { context, names: fields, typeName })
  const parts = fieldsNamed(fields, 'attributes').map(([attributes, nodes]) =>
    parseAttributeSelection(type, fieldsBelow(nodes, name, context), { context, data, attributes }),
  )
  return [seen, ...parts]
}

const EMPTY: Selection = { fields: [], named: true, populate: [] }

/** The wrappers that attributes are selected in; both null in components. */
export interface SelectionPlace {
  readonly context: OperationContext
  readonly data: string | null
  readonly attributes: string | null
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
    const attribute = holder.attributes.get(nodes[0].name.value)
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
  /** Replaces the client's arguments. */
  readonly args?: Arguments
}

/** Parses a field with a sub-selection to a populate. Throws a RequestFault for invalid arguments. */
export function parsePopulateField(
  holder: Holder,
  attribute: Exclude<Attribute, ScalarAttribute>,
  field: PopulateField,
): Populate {
  if (attribute.kind === 'zone') return parseZone(attribute, field)
  const args = field.args ?? fieldArguments(field.nodes[0], graphqlTypeName(holder), field.context)
  return isLink(attribute)
    ? parseLink(attribute, args, { ...field, holder })
    : parseComponent(attribute, args, field)
}

const basePopulate = (field: PopulateField, attribute: Attribute) =>
  ({ as: answerKey(field, attribute.name), origin: 'named', count: false }) as const

function parseLink(
  attribute: LinkAttribute,
  args: Arguments,
  field: PopulateField & { readonly holder: Holder },
): Populate {
  const { context, nodes, holder } = field
  const { target, many } = attribute
  const rows = parseRows(target, args)
  const page = pageOf(many, args, context)
  const names = graphqlWrapperNames(graphqlTypeName(target))
  const answer = fieldsBelow(nodes, many ? names.relation : names.response, context)
  const versions = linkVersions(args, context)
  return {
    kind: 'link',
    attribute,
    ...basePopulate(field, attribute),
    ...openedLink(holder, attribute, context),
    scope: null,
    page,
    ...rows,
    ...versions,
    selection: parseDocumentSelection(target, answer, { ...context, ...versions }),
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
  const rows = parseRows(component, args)
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

const componentPlace = (context: OperationContext): SelectionPlace => ({
  context,
  data: null,
  attributes: null,
})

const pageOf = (many: boolean, args: Arguments, context: OperationContext): Page | null =>
  many ? parsePage(args.pagination, context.limits) : null

/** Parses a dynamic zone: the fragments on each component's type. */
function parseZone(attribute: ZoneAttribute, field: PopulateField): Populate {
  const { context, nodes } = field
  const components = attribute.components.map(component => {
    const fields = fieldsBelow(nodes, graphqlTypeName(component), context)
    return { component, selection: parseAttributeSelection(component, fields, componentPlace(context)) }
  })
  return { kind: 'zone', attribute, ...basePopulate(field, attribute), components }
}
