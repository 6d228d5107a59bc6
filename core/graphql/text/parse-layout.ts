import type { FieldNode } from 'graphql'
import {
  type Attribute,
  type ContentType,
  type Holder,
  isLink,
  type LinkAttribute,
} from '../../model/model.ts'
import { graphqlTypeName, graphqlWrapperNames } from '../../model/names.ts'
import type { LayoutField, LinkLayoutField } from '../../plan/layout.ts'
import { type CollectedFields, fieldsBelow } from '../parse/collect-fields.ts'
import { areGenerated, fieldMark } from '../parse/field-marks.ts'
import { answerKey, type OperationContext } from '../parse/operation-context.ts'
import { isNativeJson } from '../sdl/scalar-names.ts'
import { type CustomField, customFieldRow, layOutCustomField } from './custom-field.ts'

/** A layout in the making. What cannot be said in one is answered field by field instead. */
export interface LayoutContext {
  readonly context: OperationContext
  /** Keys of what the schema promises not to be null. */
  readonly nonNullKeys: Set<string>
  /** What code of the project answers, in the order of its places. */
  readonly customFields: CustomField[]
}

/** The properties of an entity, or null where they are not to be had as a layout. `data`: the key that it lies under. */
export function layOutEntity(
  type: ContentType,
  nodes: readonly FieldNode[],
  data: string,
  laying: LayoutContext,
): readonly LayoutField[] | null {
  const name = graphqlTypeName(type)
  const { entity } = graphqlWrapperNames(name)
  const fields = fieldsBelow(nodes, entity, laying.context)
  if (!areGenerated(entity, fields, laying.context)) return null
  return layOutAll(fields, (as, below) => {
    switch (below[0].name.value) {
      case '__typename':
        return { as, kind: 'constant', value: entity }
      case 'id':
        return { as, kind: 'documentId' }
      default: {
        const place: AttributePlace = { ...laying, data, attributes: as, levelsUp: 0 }
        const inner = layOutAttributes(type, fieldsBelow(below, name, laying.context), place)
        return inner && { as, kind: 'object', fields: inner }
      }
    }
  })
}

type Nodes = readonly [FieldNode, ...FieldNode[]]

/** Columns carry the keys, and PostgreSQL cuts longer names. */
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

/** In which wrappers; both null in components. */
interface AttributePlace extends LayoutContext {
  readonly data: string | null
  readonly attributes: string | null
  /** How many objects and lists up something may be null, where a field here must not be and is. */
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
    const attribute = holder.attributes.get(name)
    return attribute ? layOutAttribute(attribute, { as, nodes }, place) : null
  })
}

interface SelectedAttribute {
  readonly as: string
  readonly nodes: Nodes
}

function layOutAttribute(
  attribute: Attribute,
  { as, nodes }: SelectedAttribute,
  place: AttributePlace,
): LayoutField | null {
  if (attribute.kind === 'zone') return null
  if (attribute.required && !isLink(attribute)) place.nonNullKeys.add(as)
  if (attribute.kind === 'scalar') return isNativeJson(attribute) ? { as, kind: 'scalar', attribute } : null
  const of = answerKey({ ...place, key: as }, attribute.name)
  if (attribute.kind !== 'component') return layOutLink(attribute, nodes, { ...place, as, of })
  const { component, required, repeatable } = attribute
  const below = fieldsBelow(nodes, graphqlTypeName(component), place.context)
  const above = required && !repeatable ? place.levelsUp + 1 : 0
  const inner = layOutAttributes(component, below, {
    ...place,
    data: null,
    attributes: null,
    levelsUp: above,
  })
  return inner && { as, kind: 'component', of, fields: inner }
}

interface LinkPlace extends LayoutContext {
  readonly as: string
  readonly of: string
}

/** `data` of a relation under one key: under two, each would be a statement's part of its own. */
function layOutLink(
  { target, many }: LinkAttribute,
  nodes: readonly FieldNode[],
  { as, of, ...laying }: LinkPlace,
): LayoutField | null {
  const names = graphqlWrapperNames(graphqlTypeName(target))
  const wrapper = many ? names.relation : names.response
  const fields: LinkLayoutField[] = []
  const asked = fieldsBelow(nodes, wrapper, laying.context)
  if (!areGenerated(wrapper, asked, laying.context)) return null
  for (const [key, below] of asked) {
    if (key.length > MAX_KEY_LENGTH) return null
    if (below[0].name.value === '__typename') {
      fields.push({ as: key, kind: 'constant', value: wrapper })
      continue
    }
    if (below[0].name.value !== 'data' || fields.some(({ kind }) => kind === 'rows')) return null
    const entity: readonly LayoutField[] | null = layOutEntity(target, below, key, laying)
    if (!entity) return null
    fields.push({ as: key, kind: 'rows', fields: entity })
  }
  return { as, kind: 'link', of, fields }
}
