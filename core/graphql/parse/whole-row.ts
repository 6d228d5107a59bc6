import type { Attribute, Holder, ScalarAttribute } from '../../model/model.ts'
import type { Selection } from '../../query/query.ts'
import type { Fields } from './collect-fields.ts'
import { markOf } from './field-marks.ts'
import type { OperationContext } from './operation-context.ts'

interface Seen {
  readonly context: OperationContext
  readonly names: Fields
  readonly typeName: string
}

/** Whether code of the project sees the rows of which these fields are asked. */
export const isSeen = ({ context, names, typeName }: Seen): boolean =>
  [...names.values()].some(([{ name }]) => markOf(context.schema, typeName, name.value)?.seesRow === true)

/** What is selected of a row, with all that it has where code of the project gets to see it. */
export function withWholeRow(selection: Selection, holder: Holder, seen: Seen): Selection {
  if (!isSeen(seen)) return selection
  const named = new Set(selection.fields)
  const beside = valuesForCode(holder).filter(each => !named.has(each))
  return { ...selection, fields: [...selection.fields, ...beside], beside: new Set(beside) }
}

/** What code sees of a row. */
export const valuesForCode = ({ attributes }: Holder): readonly ScalarAttribute[] =>
  [...attributes.values()].filter(isForCode)

/** Passwords and what the server alone reads and writes are nobody's to see. */
const isForCode = (attribute: Attribute): attribute is ScalarAttribute =>
  attribute.kind === 'scalar' &&
  attribute.type !== 'password' &&
  !(attribute.private && !attribute.writable && !attribute.system)
