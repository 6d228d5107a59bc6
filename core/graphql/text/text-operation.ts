import { type FieldNode, isNonNullType, isUnionType, type OperationDefinitionNode } from 'graphql'
import type { Caller, Grants } from '../../access/caller.ts'
import { restrict } from '../../access/restrict/restrict.ts'
import { nullIfRefused } from '../../faults/fault.ts'
import {
  type Attribute,
  type ContentType,
  type Holder,
  isLink,
  type LinkAttribute,
  type ZoneAttribute,
} from '../../model/model.ts'
import { graphqlTypeName, graphqlZoneName } from '../../model/names.ts'
import {
  type AnswerLayout,
  isCovered,
  type LayoutField,
  type LayoutPart,
  type LinkLayoutField,
} from '../../plan/layout.ts'
import type { Query, RestrictedQuery } from '../../query/query.ts'
import type { LinkField } from '../formats/format.ts'
import { type CollectedFields, collectFields, fieldsBelow, fieldsNamed } from '../parse/collect-fields.ts'
import { areGenerated, fieldMark } from '../parse/field-marks.ts'
import {
  answerKey,
  fieldArguments,
  type OperationContext,
  type RowPlace,
  rowPlace,
  UNALIASED,
} from '../parse/operation-context.ts'
import { parseRead } from '../parse/parse-read.ts'
import { isGeneratedUnion } from '../resolve/resolvers.ts'
import type { RootField } from '../sdl/root-fields.ts'
import { isNativeJson } from '../sdl/scalar-names.ts'
import {
  type CustomField,
  customFieldRow,
  layOutCustomField,
  type PlaceSteps,
  toPlaceSteps,
} from './custom-field.ts'

/** An operation whose documents are answered as text that PostgreSQL builds. */
export interface TextOperation {
  readonly roots: readonly TextRoot[]
  /** Restricted queries by grants; null: these callers cannot be answered as text. */
  readonly restricted: WeakMap<Grants, readonly RestrictedQuery[] | null>
}

export interface TextRoot {
  readonly key: string
  /** The field may not be null. */
  readonly isNonNull: boolean
  readonly query: Query
  readonly layout: AnswerLayout
  /** The object around the documents; null: the field answers the documents themselves. */
  readonly around: RootWrapper | null
  /** Matches a null in a non-null field; null: there are no non-null fields. */
  readonly nullPattern: RegExp | null
  /** The custom fields in the text. */
  readonly customFields: readonly CustomField[]
  readonly steps: PlaceSteps
}

export interface RootWrapper {
  readonly typeName: string
  /** The response key of the documents. */
  readonly key: string
  /** The fields of the wrapper: the documents and the counts. */
  readonly fields: CollectedFields
}

/** Plans a query as text; null if part of it must be resolved field by field. */
export function parseTextOperation(
  operation: OperationDefinitionNode,
  roots: ReadonlyMap<string, RootField>,
  context: OperationContext,
): TextOperation | null {
  const found: TextRoot[] = []
  for (const [key, nodes] of collectFields([operation.selectionSet], 'Query', context)) {
    const field = roots.get(`Query.${nodes[0].name.value}`)
    const isGenerated = fieldMark(context.schema, 'Query', nodes[0].name.value) === undefined
    const root = field && isGenerated ? parseRoot(key, nodes, field, context) : null
    if (!root) return null
    found.push(root)
  }
  return { roots: found, restricted: new WeakMap() }
}

type Nodes = readonly [FieldNode, ...FieldNode[]]

function parseRoot(key: string, nodes: Nodes, root: RootField, context: OperationContext): TextRoot | null {
  const documents = parseWrapper(nodes, root, context)
  if (!documents) return null
  const nonNullKeys = new Set<string>()
  const customFields: CustomField[] = []
  const laid = layOutDocuments(root.type, documents, { context, nonNullKeys, customFields })
  if (!laid) return null
  const args = fieldArguments(nodes[0], 'Query', context)
  const query = nullIfRefused(() => parseRead({ root, nodes, args }, context))
  if (!query) return null
  return {
    key,
    isNonNull: isNonNullType(context.schema.getQueryType()?.getFields()[nodes[0].name.value]?.type),
    query,
    layout: { key: JSON.stringify(laid, keyPart), fields: laid },
    around: documents.around,
    nullPattern: toNullPattern(nonNullKeys),
    customFields,
    steps: toPlaceSteps(laid),
  }
}

/** The nodes of the documents of a root field; null if its wrapper has two keys for them or none, or a customized field. */
function parseWrapper(nodes: Nodes, { type, use }: RootField, context: OperationContext) {
  const { around } = context.format.shapeOf(graphqlTypeName(type), use)
  if (!around) return { around: null, nodes, above: [], levelsUp: 0 }
  const fields = fieldsBelow(nodes, around.type, context)
  const [rows, ...others] = fieldsNamed(fields, around.field)
  if (!rows || others.length > 0 || !isGeneratedWrapper(around.type, fields, context)) return null
  const [key, below] = rows
  const above: readonly (readonly [string, string])[] = [[key, around.field]]
  const wrapper = { typeName: around.type, key, fields }
  return { around: wrapper, nodes: below, above, levelsUp: CONNECTION_LEVELS }
}

/** Only a property can match: JSON escapes quotation marks in strings. One pattern for all keys is the fastest search. */
const toNullPattern = (promised: ReadonlySet<string>): RegExp | null =>
  promised.size === 0 ? null : new RegExp(`"(?:${[...promised].join('|')})":null`)

/** True if no field of the wrapper, counts included, is customized. */
function isGeneratedWrapper(typeName: string, fields: CollectedFields, context: OperationContext): boolean {
  if (!areGenerated(typeName, fields, context)) return false
  if (context.format.pageField === 'pageInfo')
    return fieldsNamed(fields, 'pageInfo').every(([, nodes]) =>
      areGenerated('Pagination', fieldsBelow(nodes, 'Pagination', context), context),
    )
  return fieldsNamed(fields, 'meta').every(([, nodes]) => {
    const meta = fieldsBelow(nodes, 'ResponseCollectionMeta', context)
    return (
      areGenerated('ResponseCollectionMeta', meta, context) &&
      fieldsNamed(meta, 'pagination').every(([, below]) =>
        areGenerated('Pagination', fieldsBelow(below, 'Pagination', context), context),
      )
    )
  })
}

/** Attributes appear by name in the key; their types are part of the query. */
function keyPart(name: string, value: unknown): unknown {
  if (name === 'attribute') return nameOf(value)
  return name === 'row' && Array.isArray(value) ? value.map(nameOf) : value
}

const nameOf = (value: unknown): unknown =>
  typeof value === 'object' && value !== null && 'name' in value ? value.name : value

/** Restricts all root queries to the caller; null if a field is refused, so that graphql-js reports it. */
export function restrictRoots(
  { roots, restricted: seen }: TextOperation,
  caller: Caller,
): readonly RestrictedQuery[] | null {
  if (caller.user !== null) return restrictAll(roots, caller)
  const before = seen.get(caller.grants)
  if (before !== undefined) return before
  const restricted = restrictAll(roots, caller)
  seen.set(caller.grants, restricted)
  return restricted
}

function restrictAll(roots: readonly TextRoot[], caller: Caller): readonly RestrictedQuery[] | null {
  const all: RestrictedQuery[] = []
  for (const { query, layout } of roots) {
    const restricted = nullIfRefused(() => restrict(query, caller))
    if (!restricted || !isCovered(restricted.selection, layout.fields)) return null
    all.push(restricted)
  }
  return all
}

/** Context for building a layout. Selections that a layout cannot express are resolved field by field. */
interface LayoutContext {
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
const CONNECTION_LEVELS = 2

/** Lays out the documents of a field below their wrapper; null if a layout cannot express them. */
function layOutDocuments(
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
    if (!attribute || isLink(attribute)) return null
    if (attribute.kind !== 'zone') return layOutAttribute(attribute, { as, nodes }, place)
    const union = place.context.schema.getType(graphqlZoneName(typeName, name))
    const isGenerated = isUnionType(union) && isGeneratedUnion(union)
    return isGenerated ? layOutZone(attribute, { as, nodes }, place) : null
  })
}

interface SelectedAttribute {
  readonly as: string
  readonly nodes: Nodes
}

function layOutAttribute(
  attribute: Exclude<Attribute, LinkAttribute | ZoneAttribute>,
  { as, nodes }: SelectedAttribute,
  place: AttributePlace,
): LayoutField | null {
  if (attribute.kind === 'morph') return null
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

/**
 * Lays out the entries of a dynamic zone, each in the form of its component. null: project code resolves a field of one,
 * whose place in the text depends on the component.
 */
function layOutZone(
  { name, components }: ZoneAttribute,
  { as, nodes }: SelectedAttribute,
  place: AttributePlace,
): LayoutField | null {
  const parts: LayoutPart[] = []
  const customFields = place.customFields.length
  for (const component of components) {
    const below = fieldsBelow(nodes, graphqlTypeName(component), place.context)
    const fields = layOutAttributes(component, below, { ...place, place: UNALIASED, levelsUp: 0 })
    if (!fields || place.customFields.length > customFields) return null
    parts.push({ component: component.uid, fields })
  }
  return { as, kind: 'zone', of: answerKey(place.place, as, name), parts }
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
