import { createHash } from 'node:crypto'
import { type FieldNode, getArgumentValues, isInterfaceType, isObjectType } from 'graphql'
import type { Caller } from '../../access/caller.ts'
import type { Model } from '../../model/model.ts'
import type { VersionChoice } from '../../query/query.ts'
import type { CollectTerms } from './collect-fields.ts'
import type { PageLimits } from './parse-arguments.ts'

/** What parsing an operation carries along. */
export interface OperationContext extends CollectTerms {
  readonly model: Model
  readonly limits: PageLimits
  /** Who asks: resolversConfig may open links to him. Absent: it opens none. */
  readonly caller?: Caller
  /** Which versions the rows are that are selected from; absent: published ones. */
  readonly status?: VersionChoice
}

export type Arguments = Readonly<Record<string, unknown>>

/** The arguments of a field of a type, defaults among them. */
export function fieldArguments(node: FieldNode, typeName: string, context: OperationContext): Arguments {
  const type = context.schema.getType(typeName)
  if (!isObjectType(type) && !isInterfaceType(type)) return {}
  const definition = type.getFields()[node.name.value]
  return definition ? getArgumentValues(definition, node, context.variables) : {}
}

/** Where a field lies below its row: the keys of `data` and `attributes`, both null in components, and its own. */
interface FieldPlace {
  readonly data: string | null
  readonly attributes: string | null
  readonly key: string
}

/**
 * Under which key a populate lies in its row: the attribute's name where nothing has an alias, else one that no
 * attribute can have. A field that is asked for twice with different arguments answers twice. Of bounded length:
 * it becomes the name of a column.
 */
export function answerKey({ data, attributes, key }: FieldPlace, attribute: string): string {
  const plain = (data ?? 'data') === 'data' && (attributes ?? 'attributes') === 'attributes'
  if (plain && key === attribute) return key
  const place = createHash('sha256')
    .update(JSON.stringify([data, attributes, key]))
    .digest('hex')
  return `:${place.slice(0, 32)}`
}
