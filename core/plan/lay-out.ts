import type { Populate, Selection } from '../query/query.ts'
import { cast, column, constant, select } from '../sql/build.ts'
import type { Expression, NamedColumn } from '../sql/nodes.ts'
import { planScope } from './filter.ts'
import { hopComponent, hopLink } from './join.ts'
import { CODE_PLACE, type LaidOut, type LinkPart } from './layout.ts'
import { idColumns, valueColumns } from './own-columns.ts'
import type { PlanContext, Row } from './row.ts'
import { limitedToOne, rowJson, rowsJson, rowsOf } from './rows.ts'
import { outputOf } from './scalar.ts'

/** A row, and what of it may be shown. */
interface Shown {
  readonly selection: Selection
  readonly row: Row
}

/** The columns of a row's answer as they are laid out. Nothing is shown that the selection has not. */
export const layOut = (
  fields: readonly LaidOut[],
  shown: Shown,
  context: PlanContext,
): readonly NamedColumn[] =>
  fields.map(field => ({ as: field.as, expression: planField(field, shown, context) }))

function planField(field: LaidOut, { selection, row }: Shown, context: PlanContext): Expression {
  switch (field.kind) {
    case 'constant':
      return constant(field.value)
    case 'documentId':
      return column(row.alias, context.storage.table(row.root).documentId)
    case 'id':
      return cast(column(row.alias, 'id'), 'text')
    case 'scalar':
      if (!selection.fields.includes(field.attribute)) throw notSelected(field)
      return outputOf(row, field.attribute, context)
    case 'object':
      return rowJson(select({ columns: layOut(field.fields, { selection, row }, context) }))
    case 'link':
      return planLink(field, { selection, row }, context)
    case 'component':
      return planComponent(field, { selection, row }, context)
    case 'code':
      return planCode(field, { selection, row }, context)
  }
}

const notSelected = ({ as }: { readonly as: string }) => new TypeError(`${as} is laid out, but not selected`)

function populateOf<Kind extends Populate['kind']>(
  field: { readonly as: string; readonly of: string },
  { populate }: Selection,
  kind: Kind,
): Extract<Populate, { readonly kind: Kind }> {
  const found = populate.find(({ as }) => as === field.of)
  if (found?.kind !== kind) throw notSelected(field)
  return found as Extract<Populate, { readonly kind: Kind }>
}

function planLink(
  field: Extract<LaidOut, { readonly kind: 'link' }>,
  { selection, row }: Shown,
  context: PlanContext,
): Expression {
  const populate = populateOf(field, selection, 'link')
  const { attribute, scope } = populate
  const planPart = (part: LinkPart): Expression => {
    if (part.kind === 'constant') return constant(part.value)
    const hop = hopLink(row, attribute, scope?.status ?? populate.status ?? null, context)
    const columns = layOut(part.fields, { selection: populate.selection, row: hop.row }, context)
    const rows = rowsOf(hop, populate, [planScope(scope, hop.row, context)], columns, context)
    return attribute.many ? rowsJson(rows) : rowJson(limitedToOne(rows))
  }
  const columns = field.fields.map(part => ({ as: part.as, expression: planPart(part) }))
  return rowJson(select({ columns }))
}

function planComponent(
  field: Extract<LaidOut, { readonly kind: 'component' }>,
  { selection, row }: Shown,
  context: PlanContext,
): Expression {
  const populate = populateOf(field, selection, 'component')
  const hop = hopComponent(row, populate.attribute, context)
  const columns = layOut(field.fields, { selection: populate.selection, row: hop.row }, context)
  const rows = rowsOf(hop, populate, [], columns, context)
  return populate.attribute.repeatable ? rowsJson(rows) : rowJson(limitedToOne(rows))
}

/** Where code fills something in, beside the row as other answers have it. */
function planCode(
  field: Extract<LaidOut, { readonly kind: 'code' }>,
  { selection, row }: Shown,
  context: PlanContext,
): Expression {
  const mark = cast(constant(CODE_PLACE.mark), 'json')
  if (field.row?.some(attribute => !selection.fields.includes(attribute))) throw notSelected(field)
  const seen =
    field.row &&
    rowJson(select({ columns: [...idColumns(row, context), ...valueColumns(field.row, row, context)] }))
  const columns = [
    { as: 'from', expression: mark },
    { as: 'at', expression: constant(field.at) },
    ...(seen ? [{ as: 'row', expression: seen }] : []),
    { as: 'to', expression: mark },
  ]
  return rowJson(select({ columns }))
}
