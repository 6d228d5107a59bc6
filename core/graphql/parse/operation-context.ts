import { createHash } from 'node:crypto'
import { type FieldNode, getArgumentValues, isInterfaceType, isObjectType } from 'graphql'
import type { Caller } from '../../access/caller.ts'
import type { Model } from '../../model/model.ts'
import type { VersionChoice } from '../../query/query.ts'
import type { GraphqlFormat } from '../formats/format.ts'
import type { CollectOptions } from './collect-fields.ts'
import type { PageLimits } from './parse-arguments.ts'

/** Context for parsing an operation. */
export interface OperationContext extends CollectOptions {
  readonly format: GraphqlFormat
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

/** The response keys of the wrappers around a row, outermost first; empty if none has an alias, and in components. */
export type RowPlace = readonly string[]

/** `wrappers`: the response key and the name of each field. */
export const rowPlace = (wrappers: readonly (readonly [key: string, name: string])[]): RowPlace =>
  wrappers.every(([key, name]) => key === name) ? UNALIASED : wrappers.map(([key]) => key)

export const UNALIASED: RowPlace = []

/**
 * The key of a populate in its row: the attribute's name if nothing has an alias, else a hash that no attribute can
 * have as its name, so that a field requested twice with different arguments is read twice. The length is bounded: it
 * becomes a column name.
 */
export function answerKey(place: RowPlace, key: string, attribute: string): string {
  if (place.length === 0 && key === attribute) return key
  const hash = createHash('sha256')
    .update(JSON.stringify([...place, key]))
    .digest('hex')
  return `:${hash.slice(0, 32)}`
}
