import type { ScalarAttribute } from '../model/model.ts'
import { column } from '../sql/build.ts'
import type { NamedColumn } from '../sql/nodes.ts'
import type { PlanContext, Row } from './row.ts'
import { outputOf } from './scalar.ts'

/** id and documentId, which a document's answer has always; of a component its id (contract/rest.md 4). */
export function idColumns(row: Row, context: PlanContext): readonly NamedColumn[] {
  const id = { as: 'id', expression: column(row.alias, 'id') }
  if (row.holder.holder === 'component') return [id]
  return [id, { as: 'documentId', expression: column(row.alias, context.storage.table(row.root).documentId) }]
}

/** The values of a row, but for those ids. */
export const valueColumns = (
  fields: readonly ScalarAttribute[],
  row: Row,
  context: PlanContext,
): readonly NamedColumn[] =>
  fields
    .filter(attribute => !isId(attribute))
    .map(attribute => ({ as: attribute.name, expression: outputOf(row, attribute, context) }))

const isId = (attribute: ScalarAttribute): boolean =>
  attribute.system && (attribute.type === 'id' || attribute.type === 'documentId')
