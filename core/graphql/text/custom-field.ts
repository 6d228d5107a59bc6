import {
  type FieldNode,
  type GraphQLField,
  type GraphQLLeafType,
  type GraphQLObjectType,
  type GraphQLResolveInfo,
  getNullableType,
  isLeafType,
  isNonNullType,
  isObjectType,
} from 'graphql'
import type { Holder, ScalarAttribute } from '../../model/model.ts'
import type { LayoutField } from '../../plan/layout.ts'
import type { CollectedFields } from '../parse/collect-fields.ts'
import { fieldMark, fieldsForCode, needsWholeRow } from '../parse/field-marks.ts'
import type { OperationContext } from '../parse/operation-context.ts'
import type { AnsweredRow } from '../resolve/resolvers.ts'
import { isNativeJson } from '../sdl/scalar-names.ts'

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

/** The row that project code gets for one object, shared by all of its custom fields. */
export interface CustomFieldRow {
  /** Values that the text contains anyway: pairs of response key and attribute name. */
  readonly present: readonly (readonly [string, string])[]
  /** Values that are added to the object's first place. */
  readonly added: readonly ScalarAttribute[]
}

interface SelectedObject {
  readonly holder: Holder
  readonly typeName: string
  readonly names: CollectedFields
}

export function customFieldRow(
  { holder, typeName, names }: SelectedObject,
  context: OperationContext,
): CustomFieldRow {
  const written: (readonly [string, string])[] = []
  const named: ScalarAttribute[] = []
  for (const [key, [{ name }]] of names) {
    const attribute = holder.attributes.get(name.value)
    if (attribute?.kind !== 'scalar') continue
    if (isNativeJson(attribute) && !fieldMark(context.schema, typeName, name.value))
      written.push([key, name.value])
    else named.push(attribute)
  }
  const known = new Set(written.map(([, name]) => name))
  const seen = needsWholeRow({ context, names, typeName }) ? fieldsForCode(holder) : []
  return { present: written, added: [...new Set([...named, ...seen.filter(({ name }) => !known.has(name))])] }
}

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

/** The path of a value in the answer. */
export type AnswerPath = GraphQLResolveInfo['path']

/** One place of a custom field in a text. */
export interface PlaceFound {
  readonly field: CustomField
  /** The row that project code gets. */
  readonly row: AnsweredRow
  readonly path: AnswerPath
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

interface Search {
  readonly steps: PlaceSteps
  readonly fields: readonly CustomField[]
  /** The path of the text itself. */
  readonly root: AnswerPath
}

/** Finds the places of custom fields in a text, in document order. */
export function findPlaces(text: string, { steps, fields: code, root }: Search): readonly PlaceFound[] {
  const found: PlaceFound[] = []
  walk(JSON.parse(text), steps, root)
  return found

  function walk(value: unknown, steps: PlaceSteps, path: AnswerPath): void {
    if (Array.isArray(value)) {
      for (const [index, one] of value.entries()) walk(one, steps, below(path, index))
    } else if (isObject(value)) walkObject(value, steps, path)
  }

  function walkObject(value: AnsweredRow, steps: PlaceSteps, path: AnswerPath): void {
    let row: AnsweredRow | undefined
    for (const step of steps) {
      const here = value[step.key]
      if (step.kind === 'inner') {
        walk(here, step.steps, below(path, step.key))
        continue
      }
      const field = code[step.at]
      if (!field) throw new TypeError(`the text has no place ${step.at} of the text`)
      row ??= rowOf(value, here, field.row)
      found.push({ field, row, path: below(path, step.key, field.parentType.name) })
    }
  }
}

const below = (prev: AnswerPath, key: string | number, typename?: string): AnswerPath => ({
  prev,
  key,
  typename,
})

const isObject = (value: unknown): value is AnsweredRow => typeof value === 'object' && value !== null

/** The row of an object: its values in the text, and those added to its first place. */
function rowOf(object: AnsweredRow, place: unknown, { present: written }: CustomFieldRow): AnsweredRow {
  const row: Record<string, unknown> = isObject(place) && isObject(place.row) ? place.row : {}
  for (const [key, name] of written) row[name] = object[key]
  return row
}
