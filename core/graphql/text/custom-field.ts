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
import type { Holder, ScalarAttribute } from '../../model/model.ts'
import type { LaidOut } from '../../plan/layout.ts'
import type { Fields } from '../parse/collect-fields.ts'
import { markOf } from '../parse/field-marks.ts'
import type { OperationContext } from '../parse/operation-context.ts'
import { isSeen, valuesForCode } from '../parse/whole-row.ts'
import { isPlain } from '../sdl/plain-value.ts'

type Nodes = readonly [FieldNode, ...FieldNode[]]

/** A field that code of the project answers, in a text that PostgreSQL writes. */
export interface CodeField {
  readonly nodes: Nodes
  readonly parentType: GraphQLObjectType
  readonly field: GraphQLField<unknown, unknown>
  readonly type: GraphQLLeafType
  readonly row: CodeRow
  /** What becomes null where the value is null and must not be: so many objects and lists up from the field's own. */
  readonly above: number | null
}

/** The row of one object: what code sees, and what is asked of the row by name. All of its fields share it. */
export interface CodeRow {
  /** Values that stand in the text anyway: the key, and the attribute's name. */
  readonly written: readonly (readonly [string, string])[]
  /** The others, which the first place of the object has beside it. */
  readonly beside: readonly ScalarAttribute[]
}

interface AskedObject {
  readonly holder: Holder
  readonly typeName: string
  readonly names: Fields
}

export function codeRow({ holder, typeName, names }: AskedObject, context: OperationContext): CodeRow {
  const written: (readonly [string, string])[] = []
  const named: ScalarAttribute[] = []
  for (const [key, [{ name }]] of names) {
    const attribute = holder.attributes.get(name.value)
    if (attribute?.kind !== 'scalar') continue
    if (isPlain(attribute) && !markOf(context.schema, typeName, name.value)) written.push([key, name.value])
    else named.push(attribute)
  }
  const known = new Set(written.map(([, name]) => name))
  const seen = isSeen({ context, names, typeName }) ? valuesForCode(holder) : []
  return { written, beside: [...new Set([...named, ...seen.filter(({ name }) => !known.has(name))])] }
}

/** What is asked of code, and of which object. */
interface AskedCode {
  readonly as: string
  readonly nodes: Nodes
  readonly typeName: string
  readonly row: CodeRow
}

interface CodePlace {
  readonly context: OperationContext
  readonly code: CodeField[]
  readonly above: number
}

/** A place for the value of one field, or null where its type leads on to more fields, or is a list. */
export function layOutCode(
  { as, nodes, typeName, row }: AskedCode,
  { context, code, above }: CodePlace,
): LaidOut | null {
  const parentType = context.schema.getType(typeName)
  const field = isObjectType(parentType) ? parentType.getFields()[nodes[0].name.value] : undefined
  const type = field && getNullableType(field.type)
  if (!isObjectType(parentType) || !field || !isLeafType(type)) return null
  const isFirst = code.every(({ row: other }) => other !== row)
  const at = code.length
  code.push({ nodes, parentType, field, type, row, above: isNonNullType(field.type) ? above : null })
  return { as, kind: 'code', at, row: isFirst ? row.beside : null }
}
