import { createHash } from 'node:crypto'
import { type FieldNode, getArgumentValues, isInterfaceType, isObjectType } from 'graphql'
import type { Caller } from '../../access/caller.ts'
import type { Model } from '../../model/model.ts'
import type { VersionChoice } from '../../query/query.ts'
import type { CollectTerms } from './collect-fields.ts'
import type { PageLimits } from './parse-arguments.ts'

/** Context for parsing an operation. */
export interface OperationContext extends CollectTerms {
  readonly model: Model
  readonly limits: PageLimits
  /** The caller. resolversConfig may open links for it; absent: it opens none. */
  readonly caller?: Caller
  /** The status of the parent rows; absent: published. */
  readonly status?: VersionChoice
}

export type Arguments = Readonly<Record<string, unknown>>

/** The coerced arguments of a field, with defaults. */
export function fieldArguments(node: FieldNode, typeName: string, context: OperationContext): Arguments {
  const type = context.schema.getType(typeName)
  if (!isObjectType(type) && !isInterfaceType(type)) return {}
  const definition = type.getFields()[node.name.value]
  return definition ? getArgumentValues(definition, node, context.variables) : {}
}

/** The response keys of `data`, `attributes` (both null in components) and of the field itself. */
interface FieldPlace {
  readonly data: string | null
  readonly attributes: string | null
  readonly key: string
}

/**
 * The key of a populate in its row: the attribute's name if nothing has an alias, else a hash that no attribute can
 * have as its name, so that a field requested twice with different arguments is read twice. The length is bounded: it
 * becomes a column name.
 */
export function answerKey({ data, attributes, key }: FieldPlace, attribute: string): string {
  const plain = (data ?? 'data') === 'data' && (attributes ?? 'attributes') === 'attributes'
  if (plain && key === attribute) return key
  const place = createHash('sha256')
    .update(JSON.stringify([data, attributes, key]))
    .digest('hex')
  return `:${place.slice(0, 32)}`
}
