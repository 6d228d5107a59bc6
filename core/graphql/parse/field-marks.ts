import { type GraphQLField, type GraphQLSchema, isObjectType } from 'graphql'
import { allowsAll } from '../../access/open-grants.ts'
import type { Attribute, Holder, LinkAttribute, ScalarAttribute } from '../../model/model.ts'
import { graphqlTypeName } from '../../model/names.ts'
import type { Door } from '../../plugins/route-auth.ts'
import type { LinkPopulate, Selection } from '../../query/query.ts'
import type { CollectedFields, CollectTerms } from './collect-fields.ts'
import type { OperationContext } from './operation-context.ts'

/** What parsing a selection needs to know of a field that is more than generated. */
export interface FieldMark {
  /** Code of the project sees the row: it gets all that the row has. */
  readonly needsRow: boolean
  /** Who comes in, where it is not left to the field's own permission. */
  readonly auth: Door
}

/** Schemas carry the marks themselves: whoever reads a selection has the schema at hand. */
const MARK = 'plinth'

export function markField(field: GraphQLField<unknown, unknown>, mark: FieldMark): void {
  field.extensions = { ...field.extensions, [MARK]: mark }
}

/** undefined: a generated field, or one that nothing is said of; its answer is what its row has. */
export function fieldMark(schema: GraphQLSchema, typeName: string, fieldName: string): FieldMark | undefined {
  const type = schema.getType(typeName)
  if (!isObjectType(type)) return undefined
  return type.getFields()[fieldName]?.extensions[MARK] as FieldMark | undefined
}

/** Whether the project has no say in any of these fields of a type. */
export const areGenerated = (typeName: string, fields: CollectedFields, { schema }: CollectTerms): boolean =>
  [...fields.values()].every(([{ name }]) => fieldMark(schema, typeName, name.value) === undefined)

interface RowFields {
  readonly context: OperationContext
  readonly names: CollectedFields
  readonly typeName: string
}

/** Whether code of the project sees the rows of which these fields are asked. */
export const needsWholeRow = ({ context, names, typeName }: RowFields): boolean =>
  [...names.values()].some(([{ name }]) => fieldMark(context.schema, typeName, name.value)?.needsRow === true)

/** What is selected of a row, with all that it has where code of the project gets to see it. */
export function withWholeRow(selection: Selection, holder: Holder, seen: RowFields): Selection {
  if (!needsWholeRow(seen)) return selection
  const named = new Set(selection.fields)
  const beside = fieldsForCode(holder).filter(each => !named.has(each))
  return { ...selection, fields: [...selection.fields, ...beside], internalFields: new Set(beside) }
}

/** What code sees of a row. */
export const fieldsForCode = ({ attributes }: Holder): readonly ScalarAttribute[] =>
  [...attributes.values()].filter(isForCode)

/** Passwords and what the server alone reads and writes are nobody's to see. */
const isForCode = (attribute: Attribute): attribute is ScalarAttribute =>
  attribute.kind === 'scalar' &&
  attribute.type !== 'password' &&
  !(attribute.private && !attribute.writable && !attribute.system)

/** Whether resolversConfig lets the caller over a link without `find` on its target. */
export function openedLink(
  holder: Holder,
  { name }: LinkAttribute,
  { schema, caller }: OperationContext,
): Pick<LinkPopulate, 'bypassFind'> {
  const door = fieldMark(schema, graphqlTypeName(holder), name)?.auth
  if (door?.kind === 'open') return { bypassFind: 'wholly' }
  return door?.kind === 'scope' && caller && allowsAll(caller.grants, door.scopes)
    ? { bypassFind: 'kept' }
    : {}
}
