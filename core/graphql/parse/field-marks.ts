import { type GraphQLField, type GraphQLSchema, isObjectType } from 'graphql'
import type { Door } from '../../plugins/route-auth.ts'
import type { CollectTerms, Fields } from './collect-fields.ts'

/** What parsing a selection needs to know of a field that is more than generated. */
export interface FieldMark {
  /** Code of the project sees the row: it gets all that the row has. */
  readonly seesRow: boolean
  /** Who comes in, where it is not left to the field's own permission. */
  readonly door: Door
}

/** Schemas carry the marks themselves: whoever reads a selection has the schema at hand. */
const MARK = 'plinth'

export function markField(field: GraphQLField<unknown, unknown>, mark: FieldMark): void {
  field.extensions = { ...field.extensions, [MARK]: mark }
}

/** undefined: a generated field, or one that nothing is said of; its answer is what its row has. */
export function markOf(schema: GraphQLSchema, typeName: string, fieldName: string): FieldMark | undefined {
  const type = schema.getType(typeName)
  if (!isObjectType(type)) return undefined
  return type.getFields()[fieldName]?.extensions[MARK] as FieldMark | undefined
}

/** Whether the project has no say in any of these fields of a type. */
export const areGenerated = (typeName: string, fields: Fields, { schema }: CollectTerms): boolean =>
  [...fields.values()].every(([{ name }]) => markOf(schema, typeName, name.value) === undefined)
