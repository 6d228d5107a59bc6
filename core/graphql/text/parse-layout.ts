import type { FieldNode } from 'graphql'
import {
  type Attribute,
  type ContentType,
  type Holder,
  isLink,
  type LinkAttribute,
} from '../../model/model.ts'
import { graphqlTypeName } from '../../model/names.ts'
import type { LayoutField, LinkLayoutField } from '../../plan/layout.ts'
import type { LinkField } from '../formats/format.ts'
import { type CollectedFields, fieldsBelow } from '../parse/collect-fields.ts'
import { areGenerated, fieldMark } from '../parse/field-marks.ts'
import {
  answerKey,
  type OperationContext,
  type RowPlace,
  rowPlace,
  UNALIASED,
} from '../parse/operation-context.ts'
import { isNativeJson } from '../sdl/scalar-names.ts'
import { type CustomField, customFieldRow, layOutCustomField } from './custom-field.ts'

/** Context for building a layout. Selections that a layout cannot express are resolved field by field. */
export interface LayoutContext {
  readonly context: OperationContext
  /** Response keys of non-null fields. */
  readonly nonNullKeys: Set<string>
  /** Custom fields, in the order of their places. */
  readonly customFields: CustomField[]
}

/** The nodes of a field that answers documents, and the response keys of the wrappers around them. */
interface DocumentNodes {
  readonly nodes: readonly FieldNode[]
  readonly above: readonly (readonly [key: string, name: string])[]
  /** Null propagation: levels up from a document to the nearest value that may be null. */
  readonly levelsUp: number
}

/** The list and the connection around a document that must not be null. */
export const CONNECTION_LEVELS = 2

/** Lays out the documents of a field below their wrapper; null if a layout cannot express them. */
export function layOutDocuments(
  type: ContentType,
  { nodes, above, levelsUp }: DocumentNodes,
  laying: LayoutContext,
): readonly LayoutField[] | null {
  const { context } = laying
  const name = graphqlTypeName(type)
  const { entity } = context.format.shapeOf(name, 'one')
  const place: AttributePlace = { ...laying, place: rowPlace(above), levelsUp: entity ? 0 : levelsUp }
  if (!entity) return layOutAttributes(type, fieldsBelow(nodes, name, context), place)
  const fields = fieldsBelow(nodes, entity, context)
  if (!areGenerated(entity, fields, context)) return null
  return layOutAll(fields, (as, below) => {
    switch (below[0].name.value) {
      case '__typename':
        return { as, kind: 'constant', value: entity }
      case 'id':
        return { as, kind: context.format.entityId }
      default: {
        const inner = layOutAttributes(type, fieldsBelow(below, name, context), {
          ...place,
          place: rowPlace([...above, [as, 'attributes']]),
        })
        return inner && { as, kind: 'object', fields: inner }
      }
    }
  })
}

type Nodes = readonly [FieldNode, ...FieldNode[]]

/** Response keys become column names, which PostgreSQL truncates above this length. */
const MAX_KEY_LENGTH = 63

function layOutAll(
  fields: CollectedFields,
  layOut: (as: string, nodes: Nodes) => LayoutField | null,
): readonly LayoutField[] | null {
  const laid: LayoutField[] = []
  for (const [as, nodes] of fields) {
    const one = as.length > MAX_KEY_LENGTH ? null : layOut(as, nodes)
    if (!one) return null
    laid.push(one)
  }
  return laid
}

interface AttributePlace extends LayoutContext {
  readonly place: RowPlace
  /** Null propagation: levels up to the nearest nullable ancestor of the fields here. */
  readonly levelsUp: number
}

function layOutAttributes(
  holder: Holder,
  fields: CollectedFields,
  place: AttributePlace,
): readonly LayoutField[] | null {
  const typeName = graphqlTypeName(holder)
  const row = customFieldRow({ holder, typeName, names: fields }, place.context)
  return layOutAll(fields, (as, nodes) => {
    const name = nodes[0].name.value
    if (name === '__typename') return { as, kind: 'constant', value: typeName }
    if (fieldMark(place.context.schema, typeName, name))
      return layOutCustomField({ as, nodes, typeName, row }, place)
    if (name === 'id' && holder.holder === 'component') return { as, kind: 'id' }
    if (name === 'documentId') return { as, kind: 'documentId' }
    const link = place.context.format.linkField(holder, name)
    if (link) return layOutLink(link, { as, nodes }, place)
    const attribute = holder.attributes.get(name)
    return attribute && !isLink(attribute) ? layOutAttribute(attribute, { as, nodes }, place) : null
  })
}

interface SelectedAttribute {
  readonly as: string
  readonly nodes: Nodes
}

function layOutAttribute(
  attribute: Exclude<Attribute, LinkAttribute>,
  { as, nodes }: SelectedAttribute,
  place: AttributePlace,
): LayoutField | null {
  if (attribute.kind === 'zone' || attribute.kind === 'morph') return null
  if (attribute.required) place.nonNullKeys.add(as)
  if (attribute.kind === 'scalar') return isNativeJson(attribute) ? { as, kind: 'scalar', attribute } : null
  const of = answerKey(place.place, as, attribute.name)
  const { component, required, repeatable } = attribute
  const below = fieldsBelow(nodes, graphqlTypeName(component), place.context)
  const above = required && !repeatable ? place.levelsUp + 1 : 0
  const inner = layOutAttributes(component, below, {
    ...place,
    place: UNALIASED,
    levelsUp: above,
  })
  return inner && { as, kind: 'component', of, fields: inner }
}

/** Lays out a relation. A wrapper may have one key for its documents; two would need separate subqueries. */
function layOutLink(
  { attribute, use }: LinkField,
  { as, nodes }: SelectedAttribute,
  place: AttributePlace,
): LayoutField | null {
  const { context } = place
  const { target, many, required } = attribute
  const of = answerKey(place.place, as, attribute.name)
  const { around } = context.format.shapeOf(graphqlTypeName(target), use)
  const levelsUp = required ? place.levelsUp + 1 : 0
  if (!around) {
    if (required && !many) place.nonNullKeys.add(as)
    const rows = layOutDocuments(target, { nodes, above: [], levelsUp: many ? 0 : levelsUp }, place)
    return rows && { as, kind: 'rows', of, fields: rows }
  }
  const fields: LinkLayoutField[] = []
  const asked = fieldsBelow(nodes, around.type, context)
  if (!areGenerated(around.type, asked, context)) return null
  for (const [key, below] of asked) {
    if (key.length > MAX_KEY_LENGTH) return null
    if (below[0].name.value === '__typename') {
      fields.push({ as: key, kind: 'constant', value: around.type })
      continue
    }
    if (below[0].name.value !== around.field || fields.some(({ kind }) => kind === 'rows')) return null
    const inner = {
      nodes: below,
      above: [[key, around.field]],
      levelsUp: levelsUp + CONNECTION_LEVELS,
    } as const
    const rows = layOutDocuments(target, inner, place)
    if (!rows) return null
    fields.push({ as: key, kind: 'rows', fields: rows })
  }
  return { as, kind: 'link', of, fields }
}
