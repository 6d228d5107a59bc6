import { type FieldNode, getArgumentValues, isInterfaceType, isObjectType } from 'graphql'
import type { Caller } from '../../access/caller.ts'
import type { Model } from '../../model/model.ts'
import type { Reading } from '../../query/query.ts'
import type { CollectTerms } from './collect-fields.ts'
import type { PageLimits } from './parse-page.ts'

/** What parsing an operation carries along. */
export interface OperationContext extends CollectTerms {
  readonly model: Model
  readonly limits: PageLimits
  /** Who asks: resolversConfig may open links to him. Absent: it opens none. */
  readonly caller?: Caller
  /** Which versions the rows are that are selected from; absent: published ones. */
  readonly status?: Reading
}

export type Arguments = Readonly<Record<string, unknown>>

/** The arguments of a field of a type, defaults among them. */
export function argumentsOf(node: FieldNode, typeName: string, context: OperationContext): Arguments {
  const type = context.schema.getType(typeName)
  if (!isObjectType(type) && !isInterfaceType(type)) return {}
  const definition = type.getFields()[node.name.value]
  return definition ? getArgumentValues(definition, node, context.variables) : {}
}
