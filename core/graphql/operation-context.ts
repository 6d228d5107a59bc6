import {
  type FieldNode,
  type FragmentDefinitionNode,
  Kind,
  type SelectionSetNode,
  valueFromASTUntyped,
} from 'graphql'
import { ok, type Result } from '../base/result.ts'
import type { Fault } from '../faults/fault.ts'
import type { Model } from '../model/model.ts'
import type { GraphqlSettings } from '../project/settings.ts'

export interface OperationTerms {
  readonly model: Model
  readonly limits: Pick<GraphqlSettings['config'], 'amountLimit' | 'defaultLimit'>
  readonly variables: Readonly<Record<string, unknown>>
}

/** What parsing an operation carries along. */
export interface OperationContext extends OperationTerms {
  readonly fragments: ReadonlyMap<string, FragmentDefinitionNode>
}

/** The fields of a selection, those of fragments among them. */
export function fieldsOf(set: SelectionSetNode | undefined, context: OperationContext): readonly FieldNode[] {
  return (set?.selections ?? []).flatMap(node => {
    if (node.kind === Kind.FIELD) return [node]
    const inner = node.kind === Kind.INLINE_FRAGMENT ? node : context.fragments.get(node.name.value)
    return fieldsOf(inner?.selectionSet, context)
  })
}

/** The fields below fields of one name: the attributes of `data { attributes { … } }`. */
export function fieldsBelow(
  fields: readonly FieldNode[],
  path: readonly string[],
  context: OperationContext,
): readonly FieldNode[] {
  const [name, ...rest] = path
  if (name === undefined) return fields
  const inner = fields.filter(field => field.name.value === name)
  return fieldsBelow(
    inner.flatMap(field => fieldsOf(field.selectionSet, context)),
    rest,
    context,
  )
}

export const keyOf = (field: FieldNode): string => (field.alias ?? field.name).value

export const argumentsOf = (field: FieldNode, context: OperationContext): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    (field.arguments ?? []).map(({ name, value }) => [
      name.value,
      valueFromASTUntyped(value, context.variables),
    ]),
  )

/** All values, or the first fault. */
export function collect<Item, Value>(
  items: readonly Item[],
  parse: (item: Item) => Result<Value, Fault>,
): Result<readonly Value[], Fault> {
  const values: Value[] = []
  for (const item of items) {
    const parsed = parse(item)
    if (!parsed.ok) return parsed
    values.push(parsed.value)
  }
  return ok(values)
}
