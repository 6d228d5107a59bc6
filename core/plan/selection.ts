import type { ScalarAttribute } from '../model/model.ts'
import type {
  ComponentPopulate,
  LinkPopulate,
  MorphPart,
  MorphPopulate,
  Populate,
  Selection,
  ZonePopulate,
} from '../query/query.ts'
import { allOf, call, cast, column, select, sqlConstant } from '../sql/build.ts'
import type { Expression, NamedColumn, Union } from '../sql/nodes.ts'
import { planOutput } from './comparison.ts'
import { planScope } from './filter.ts'
import { type Join, joinComponent, joinLink, joinOwned, joinSource } from './join.ts'
import { CODE_SLOT, type LayoutField, type LinkLayoutField } from './layout.ts'
import type { PlanContext, Row } from './row.ts'
import { filterConditions, limitedToOne, planLimits, rowJson, rowsJson, selectRows } from './rows.ts'

/** The columns of a document: always id and documentId, then the selection (reference/rest.md#4-fields, reference/rest.md#16-response-format-v4-and-query-parsing). */
export function documentColumns(
  selection: Selection,
  row: Row,
  context: PlanContext,
): readonly NamedColumn[] {
  if (typeof context.shape === 'object') return planLayout(context.shape.fields, { selection, row }, context)
  const names = idColumns(row, context)
  const rest = selectedColumns(selection, row, context)
  if (context.shape === 'flat') return [...names, ...rest]
  return [...names, { as: 'attributes', expression: rowJson(select({ columns: rest })) }]
}

/** The columns of a component, or of another row that is flat in every shape. */
const componentColumns = (selection: Selection, row: Row, context: PlanContext): readonly NamedColumn[] => [
  ...idColumns(row, context),
  ...selectedColumns(selection, row, context),
]

function selectedColumns(selection: Selection, row: Row, context: PlanContext): readonly NamedColumn[] {
  const fields = valueColumns(selection.fields, row, context)
  const populated = selection.populate.map(populate => ({
    as: populate.as,
    expression: planPopulate(populate, row, context),
  }))
  return [...fields, ...populated]
}

function planPopulate(populate: Populate, row: Row, context: PlanContext): Expression {
  switch (populate.kind) {
    case 'link':
      return planLink(populate, row, context)
    case 'component':
      return planComponent(populate, row, context)
    case 'zone':
      return planZone(populate, row, context)
    case 'morph':
      return planMorph(populate, row, context)
  }
}

function planLink(populate: LinkPopulate, row: Row, context: PlanContext): Expression {
  const { attribute, scope } = populate
  const join = joinLink(row, attribute, scope?.status ?? populate.status ?? null, context)
  const visible = [planScope(scope, join.row, context)]
  if (populate.count)
    return countJson(join, [...visible, ...filterConditions(populate, join, context)], context)
  const rows = selectRows(
    join,
    populate,
    visible,
    documentColumns(populate.selection, join.row, context),
    context,
  )
  if (!attribute.many) return wrapInData(rowJson(limitedToOne(rows)), context)
  const list = rowsJson(rows)
  return wrapInData(
    attribute.kind === 'media' && context.shape === 'strapi4' ? nullIfEmpty(list) : list,
    context,
  )
}

function planComponent(populate: ComponentPopulate, row: Row, context: PlanContext): Expression {
  const join = joinComponent(row, populate.attribute, context)
  if (populate.count) return countJson(join, filterConditions(populate, join, context), context)
  const rows = selectRows(
    join,
    populate,
    [],
    componentColumns(populate.selection, join.row, context),
    context,
  )
  return populate.attribute.repeatable ? rowsJson(rows) : rowJson(limitedToOne(rows))
}

/** Components of several kinds in one common order (reference/rest.md#8-populate). */
function planZone(populate: ZonePopulate, row: Row, context: PlanContext): Expression {
  return zoneRows(populate, row, context, ({ holder, selection }, entry) => [
    { as: '__component', expression: sqlConstant(holder.uid) },
    ...componentColumns(selection, entry, context),
  ])
}

type ZonePart = ZonePopulate['parts'][number]

/** The entries of a zone; `columnsOf`: the columns of an entry of one component. */
function zoneRows(
  populate: ZonePopulate,
  row: Row,
  context: PlanContext,
  columnsOf: (part: ZonePart, entry: Row) => readonly NamedColumn[],
): Expression {
  const parts = populate.parts.map(part => {
    const { holder, filter = null } = part
    const join = joinOwned(row, populate.attribute, holder, context)
    const columns = columnsOf(part, join.row)
    const position = join.order[0]?.expression ?? column(join.row.alias, 'id')
    const wanted = filterConditions({ filter, sort: [], page: null }, join, context)
    return { row: select({ columns, from: join.from, where: allOf([...join.where, ...wanted]) }), position }
  })
  return parts.length === 0 ? EMPTY_LIST : { kind: 'rows-json', rows: { kind: 'union', parts } }
}

/**
 * The documents and components that a file is used in, with their type as `__type`: in the order of the model, then of
 * their creation. They are flat in every shape (reference/rest.md#15-upload).
 */
function planMorph(populate: MorphPopulate, row: Row, context: PlanContext): Expression {
  const parts = populate.parts.flatMap((part, index) =>
    planMorphPart(part, { row, index }, { ...context, shape: 'flat' }),
  )
  if (parts.length === 0) return populate.count ? wrapCount(sqlConstant(0), context) : EMPTY_LIST
  const { limit } = planLimits(populate.page, context)
  const rows: Expression = { kind: 'rows-json', rows: { kind: 'union', parts, limit } }
  return populate.count ? wrapCount(call('json_array_length', rows), context) : rows
}

function planMorphPart(
  { holder, source, scope = null, selection, ...part }: MorphPart,
  { row, index }: { readonly row: Row; readonly index: number },
  context: PlanContext,
): Union['parts'] {
  if (!source) return []
  const join = joinSource(row, source, scope?.status ?? null, context)
  const tag = { as: '__type', expression: sqlConstant(holder.uid) }
  const columns = [tag, ...componentColumns(selection, join.row, context)]
  const wanted = filterConditions({ filter: part.filter ?? null, sort: [], page: null }, join, context)
  const where = allOf([...join.where, planScope(scope, join.document, context), ...wanted])
  const keys = [sqlConstant(index), ...join.order.map(({ expression }) => expression)]
  return [{ row: select({ columns, from: join.from, where }), position: { kind: 'tuple', terms: keys } }]
}

/** Strapi 4 answers null for a list of files without any. */
const nullIfEmpty = (list: Expression): Expression => ({
  kind: 'cast',
  term: call('nullif', { kind: 'cast', term: list, type: 'text' }, sqlConstant('[]')),
  type: 'json',
})

const EMPTY_LIST: Expression = { kind: 'cast', term: sqlConstant('[]'), type: 'json' }

const COUNT: NamedColumn = { as: 'count', expression: call('count') }

function countJson(join: Join, terms: readonly Expression[], context: PlanContext): Expression {
  const counted = select({ columns: [COUNT], from: join.from, where: allOf([...join.where, ...terms]) })
  return wrapCount({ kind: 'subquery', select: counted }, context)
}

/** `{"count":3}`; in v4 `{"data":{"attributes":{"count":3}}}`. */
function wrapCount(number: Expression, context: PlanContext): Expression {
  const flat = rowJson(select({ columns: [{ as: 'count', expression: number }] }))
  return context.shape === 'flat' ? flat : object('data', object('attributes', flat))
}

const wrapInData = (json: Expression, context: PlanContext): Expression =>
  context.shape === 'flat' ? json : object('data', json)

const object = (key: string, json: Expression): Expression =>
  rowJson(select({ columns: [{ as: key, expression: json }] }))

/** A row and its selection. */
interface SelectedRow {
  readonly selection: Selection
  readonly row: Row
}

/** The columns of a row in a layout. Throws if the layout shows something that is not selected. */
const planLayout = (
  fields: readonly LayoutField[],
  shown: SelectedRow,
  context: PlanContext,
): readonly NamedColumn[] =>
  fields.map(field => ({ as: field.as, expression: planField(field, shown, context) }))

function planField(field: LayoutField, { selection, row }: SelectedRow, context: PlanContext): Expression {
  switch (field.kind) {
    case 'constant':
      return sqlConstant(field.value)
    case 'documentId':
      return column(row.alias, context.storage.table(row.root).documentId)
    case 'id':
      return cast(column(row.alias, 'id'), 'text')
    case 'scalar':
      if (!selection.fields.includes(field.attribute)) throw notSelected(field)
      return planOutput(row, field.attribute, context)
    case 'object':
      return rowJson(select({ columns: planLayout(field.fields, { selection, row }, context) }))
    case 'rows':
      return planLinkRows(field.fields, populateOf(field, selection, 'link'), row, context)
    case 'link':
      return planLayoutLink(field, { selection, row }, context)
    case 'component':
      return planLayoutComponent(field, { selection, row }, context)
    case 'zone':
      return planLayoutZone(field, { selection, row }, context)
    case 'code':
      return planCodeSlot(field, { selection, row }, context)
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

function planLayoutLink(
  field: Extract<LayoutField, { readonly kind: 'link' }>,
  { selection, row }: SelectedRow,
  context: PlanContext,
): Expression {
  const populate = populateOf(field, selection, 'link')
  const planPart = (part: LinkLayoutField): Expression =>
    part.kind === 'constant' ? sqlConstant(part.value) : planLinkRows(part.fields, populate, row, context)
  const columns = field.fields.map(part => ({ as: part.as, expression: planPart(part) }))
  return rowJson(select({ columns }))
}

/** The rows of a link as a list, or as one object. */
function planLinkRows(
  fields: readonly LayoutField[],
  populate: LinkPopulate,
  row: Row,
  context: PlanContext,
): Expression {
  const { attribute, scope } = populate
  const join = joinLink(row, attribute, scope?.status ?? populate.status ?? null, context)
  const columns = planLayout(fields, { selection: populate.selection, row: join.row }, context)
  const rows = selectRows(join, populate, [planScope(scope, join.row, context)], columns, context)
  return attribute.many ? rowsJson(rows) : rowJson(limitedToOne(rows))
}

function planLayoutComponent(
  field: Extract<LayoutField, { readonly kind: 'component' }>,
  { selection, row }: SelectedRow,
  context: PlanContext,
): Expression {
  const populate = populateOf(field, selection, 'component')
  const join = joinComponent(row, populate.attribute, context)
  const columns = planLayout(field.fields, { selection: populate.selection, row: join.row }, context)
  const rows = selectRows(join, populate, [], columns, context)
  return populate.attribute.repeatable ? rowsJson(rows) : rowJson(limitedToOne(rows))
}

function planLayoutZone(
  field: Extract<LayoutField, { readonly kind: 'zone' }>,
  { selection, row }: SelectedRow,
  context: PlanContext,
): Expression {
  return zoneRows(populateOf(field, selection, 'zone'), row, context, (part, entry) => {
    const laid = field.parts.find(({ component }) => component === part.holder.uid)
    if (!laid) throw notSelected(field)
    return planLayout(laid.fields, { selection: part.selection, row: entry }, context)
  })
}

/** A slot for project code, with the values of the row in the flat format. */
function planCodeSlot(
  field: Extract<LayoutField, { readonly kind: 'code' }>,
  { selection, row }: SelectedRow,
  context: PlanContext,
): Expression {
  const mark = cast(sqlConstant(CODE_SLOT.mark), 'json')
  if (field.row?.some(attribute => !selection.fields.includes(attribute))) throw notSelected(field)
  const seen =
    field.row &&
    rowJson(select({ columns: [...idColumns(row, context), ...valueColumns(field.row, row, context)] }))
  const columns = [
    { as: 'from', expression: mark },
    { as: 'at', expression: sqlConstant(field.at) },
    ...(seen ? [{ as: 'row', expression: seen }] : []),
    { as: 'to', expression: mark },
  ]
  return rowJson(select({ columns }))
}

/** id and documentId, which every document's answer has; the id of a component (reference/rest.md#4-fields). */
function idColumns(row: Row, context: PlanContext): readonly NamedColumn[] {
  const id = { as: 'id', expression: column(row.alias, 'id') }
  if (row.holder.holder === 'component') return [id]
  return [id, { as: 'documentId', expression: column(row.alias, context.storage.table(row.root).documentId) }]
}

/** The values of a row except the ids. */
export const valueColumns = (
  fields: readonly ScalarAttribute[],
  row: Row,
  context: PlanContext,
): readonly NamedColumn[] =>
  fields
    .filter(attribute => !isId(attribute))
    .map(attribute => ({ as: attribute.name, expression: planOutput(row, attribute, context) }))

const isId = (attribute: ScalarAttribute): boolean =>
  attribute.system && (attribute.type === 'id' || attribute.type === 'documentId')
