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

/** Context for building a layout. Selections that a layout cannot express are resolved field by field. */
export interface LayoutContext {
  readonly context: OperationContext
  /** Response keys of non-null fields. */
  readonly nonNullKeys: Set<string>
  /** Custom fields, in the order of their places. */
  readonly customFields: CustomField[]
}

/** Lays out an entity; null if a layout cannot express it. `data`: the response key of its wrapper. */
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

/** The wrappers' response keys; both null in components. */
interface AttributePlace extends LayoutContext {
  readonly data: string | null
  readonly attributes: string | null
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

/** Lays out a relation with one `data` key; two would need separate subqueries. */
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
