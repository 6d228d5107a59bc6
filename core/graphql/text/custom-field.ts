import {
  type FieldNode,
  type GraphQLField,
  type GraphQLLeafType,
  type GraphQLObjectType,
  getNullableType,
  isLeafType,
  isNonNullType,
  isObjectType,
} from 'graphql'
import type { Attribute, Holder, ScalarAttribute } from '../../model/model.ts'
import type { LayoutField } from '../../plan/layout.ts'
import type { CollectedFields } from '../parse/collect-fields.ts'
import { fieldMark, fieldsForCode, needsWholeRow } from '../parse/field-marks.ts'
import type { OperationContext } from '../parse/operation-context.ts'
import { isNativeJson, SCALAR_NAMES } from '../sdl/scalar-names.ts'

type Nodes = readonly [FieldNode, ...FieldNode[]]

/** A field that project code resolves, inside a text that PostgreSQL builds. */
export interface CustomField {
  readonly nodes: Nodes
  readonly parentType: GraphQLObjectType
  readonly field: GraphQLField<unknown, unknown>
  readonly type: GraphQLLeafType
  readonly row: CustomFieldRow
  /** Null propagation: levels up to the nearest nullable ancestor; null: the field is nullable. */
  readonly levelsUp: number | null
}

/**
 * The row that project code gets for one object, shared by all of its custom fields. Its values are in the first slot of
 * the object, and in the run around that slot: fields that are neither objects nor lists, so that the text of a run can be
 * found by its keys.
 */
export interface CustomFieldRow {
  /** The values of the run: pairs of response key and attribute name. */
  readonly present: readonly (readonly [string, string])[]
  /** Values that are added to the object's first slot. */
  readonly added: readonly ScalarAttribute[]
  readonly run: SlotRun
}

/** Response keys of a run. */
export interface SlotRun {
  /** The first field before the slots; null: the run begins with a slot. */
  readonly first: string | null
  /** The slots, in order. */
  readonly slots: readonly string[]
  /** The last field after the slots; null: the run ends with a slot. */
  readonly last: string | null
  /** The field behind the run; null: the object ends with it. */
  readonly next: string | null
}

interface SelectedObject {
  readonly holder: Holder
  readonly typeName: string
  readonly names: CollectedFields
}

export function customFieldRow(object: SelectedObject, context: OperationContext): CustomFieldRow {
  const { holder, typeName, names } = object
  const { run, keys } = runOf(object, context)
  const present: (readonly [string, string])[] = []
  const named: ScalarAttribute[] = []
  for (const [key, [{ name }]] of names) {
    const attribute = holder.attributes.get(name.value)
    if (attribute?.kind !== 'scalar') continue
    const isPresent = keys.has(key) && !run.slots.includes(key) && isPlainScalar(attribute)
    if (isPresent) present.push([key, name.value])
    else named.push(attribute)
  }
  const known = new Set(present.map(([, name]) => name))
  const seen = needsWholeRow({ context, names, typeName }) ? fieldsForCode(holder) : []
  const added = [...named, ...seen].filter(({ name }) => !known.has(name))
  return { present, added: [...new Set(added)], run }
}

/** The run around the first slot of an object, and all of its response keys; empty if the object has no slot. */
function runOf({ holder, typeName, names }: SelectedObject, context: OperationContext) {
  const fields = [...names].map(([key, [{ name }]]) => {
    const isSlot = fieldMark(context.schema, typeName, name.value) !== undefined
    const attribute = holder.attributes.get(name.value)
    const isPlain = PLAIN.has(name.value) || (attribute !== undefined && isPlainScalar(attribute))
    return { key, isSlot, isInRun: isSlot || isPlain }
  })
  const slot = fields.findIndex(({ isSlot }) => isSlot)
  const begin = fields.findLastIndex(({ isInRun }, index) => index < slot && !isInRun) + 1
  const behind = fields.findIndex(({ isInRun }, index) => index > slot && !isInRun)
  const inRun = slot < 0 ? [] : fields.slice(begin, behind < 0 ? fields.length : behind)
  const [head, tail] = [inRun[0], inRun.at(-1)]
  const run: SlotRun = {
    first: head && !head.isSlot ? head.key : null,
    slots: inRun.filter(({ isSlot }) => isSlot).map(({ key }) => key),
    last: tail && !tail.isSlot ? tail.key : null,
    next: fields[behind]?.key ?? null,
  }
  return { run, keys: new Set(inRun.map(({ key }) => key)) }
}

/** Fields whose values are texts, whatever the attributes are. */
const PLAIN: ReadonlySet<string> = new Set(['__typename', 'id', 'documentId'])

/** False for JSON, which may contain any text. */
const isPlainScalar = (attribute: Attribute): boolean =>
  attribute.kind === 'scalar' && isNativeJson(attribute) && SCALAR_NAMES[attribute.type] !== 'JSON'

/** A selected custom field and its object. */
interface SelectedField {
  readonly as: string
  readonly nodes: Nodes
  readonly typeName: string
  readonly row: CustomFieldRow
}

interface CustomFieldContext {
  readonly context: OperationContext
  readonly customFields: CustomField[]
  readonly levelsUp: number
}

/** Lays out a place for a custom field; null if its type is a list or has a sub-selection. */
export function layOutCustomField(
  { as, nodes, typeName, row }: SelectedField,
  { context, customFields: code, levelsUp: above }: CustomFieldContext,
): LayoutField | null {
  const parentType = context.schema.getType(typeName)
  const field = isObjectType(parentType) ? parentType.getFields()[nodes[0].name.value] : undefined
  const type = field && getNullableType(field.type)
  if (!isObjectType(parentType) || !field || !isLeafType(type)) return null
  const isFirst = code.every(({ row: other }) => other !== row)
  const at = code.length
  code.push({ nodes, parentType, field, type, row, levelsUp: isNonNullType(field.type) ? above : null })
  return { as, kind: 'code', at, row: isFirst ? row.added : null }
}

/** The keys of an object that are places of custom fields or lead to some, in text order. */
export type PlaceSteps = readonly PlaceStep[]

type PlaceStep =
  | { readonly key: string; readonly kind: 'place'; readonly at: number }
  | { readonly key: string; readonly kind: 'inner'; readonly steps: PlaceSteps }

/** Converts a layout to the steps to its places; empty if it has none. */
export function toPlaceSteps(fields: readonly LayoutField[]): PlaceSteps {
  return fields.flatMap((field): readonly PlaceStep[] => {
    if (field.kind === 'code') return [{ key: field.as, kind: 'place', at: field.at }]
    if (field.kind === 'link') {
      const parts = field.fields.flatMap(part =>
        part.kind === 'rows' ? inner(part.as, toPlaceSteps(part.fields)) : [],
      )
      return inner(field.as, parts)
    }
    return 'fields' in field ? inner(field.as, toPlaceSteps(field.fields)) : []
  })
}

const inner = (key: string, steps: PlaceSteps): PlaceSteps =>
  steps.length === 0 ? [] : [{ key, kind: 'inner', steps }]
