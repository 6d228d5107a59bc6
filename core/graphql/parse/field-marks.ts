import { type GraphQLField, type GraphQLSchema, isObjectType } from 'graphql'
import { allowsAll } from '../../access/permission-scopes.ts'
import type { Attribute, Holder, ScalarAttribute } from '../../model/model.ts'
import { graphqlTypeName } from '../../model/names.ts'
import type { RouteAuth } from '../../plugins/route-guard.ts'
import type { LinkPopulate, Selection } from '../../query/query.ts'
import type { CollectedFields, CollectOptions } from './collect-fields.ts'
import type { OperationContext } from './operation-context.ts'

/** Customization of a field that affects how its selection is parsed. */
export interface FieldMark {
  /** Project code gets the row, so all of its values are selected. */
  readonly needsRow: boolean
  /** The field's access rule from resolversConfig, in place of its own permission. */
  readonly auth: RouteAuth
}

/** The key of the mark in a field's extensions. */
const MARK = 'plinth'

export function markField(field: GraphQLField<unknown, unknown>, mark: FieldMark): void {
  field.extensions = { ...field.extensions, [MARK]: mark }
}

/** undefined: a generated field without customization, whose value is in its row. */
export function fieldMark(schema: GraphQLSchema, typeName: string, fieldName: string): FieldMark | undefined {
  const type = schema.getType(typeName)
  if (!isObjectType(type)) return undefined
  return type.getFields()[fieldName]?.extensions[MARK] as FieldMark | undefined
}

/** True if none of these fields is customized. */
export const areGenerated = (
  typeName: string,
  fields: CollectedFields,
  { schema }: CollectOptions,
): boolean =>
  [...fields.values()].every(([{ name }]) => fieldMark(schema, typeName, name.value) === undefined)

interface RowFields {
  readonly context: OperationContext
  readonly names: CollectedFields
  readonly typeName: string
}

/** True if project code gets the row of any of these fields. */
export const needsWholeRow = ({ context, names, typeName }: RowFields): boolean =>
  [...names.values()].some(([{ name }]) => fieldMark(context.schema, typeName, name.value)?.needsRow === true)

/** Adds all values of a row to its selection if project code gets the row. */
export function withWholeRow(selection: Selection, holder: Holder, seen: RowFields): Selection {
  if (!needsWholeRow(seen)) return selection
  const named = new Set(selection.fields)
  const internal = fieldsForCode(holder).filter(each => !named.has(each))
  return { ...selection, fields: [...selection.fields, ...internal], internalFields: new Set(internal) }
}

/** The attributes of a row that project code gets. */
export const fieldsForCode = ({ attributes }: Holder): readonly ScalarAttribute[] =>
  [...attributes.values()].filter(isForCode)

/** Passwords and internal attributes are hidden from project code, too. */
const isForCode = (attribute: Attribute): attribute is ScalarAttribute =>
  attribute.kind === 'scalar' &&
  attribute.type !== 'password' &&
  !(attribute.private && !attribute.writable && !attribute.system)

/** True if resolversConfig opens a link to callers without `find` on its target. */
export function openedLink(
  holder: Holder,
  fieldName: string,
  { schema, caller }: OperationContext,
): Pick<LinkPopulate, 'bypassFind'> {
  const auth = fieldMark(schema, graphqlTypeName(holder), fieldName)?.auth
  if (auth?.kind === 'open') return { bypassFind: 'wholly' }
  return auth?.kind === 'scope' && caller && allowsAll(caller.grants, auth.scopes)
    ? { bypassFind: 'kept' }
    : {}
}
