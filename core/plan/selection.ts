import type { ComponentPopulate, LinkPopulate, Populate, Selection, ZonePopulate } from '../query/query.ts'
import { allOf, call, column, select, sqlConstant } from '../sql/build.ts'
import type { Expression, NamedColumn } from '../sql/nodes.ts'
import { planScope } from './filter.ts'
import { type Join, joinComponent, joinLink, joinOwned } from './join.ts'
import { idColumns, planLayout, valueColumns } from './plan-layout.ts'
import type { PlanContext, Row } from './row.ts'
import { filterConditions, limitedToOne, rowJson, rowsJson, selectRows } from './rows.ts'

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

/** The columns of a component. Components are flat in every shape. */
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
  return wrapInData(attribute.many ? rowsJson(rows) : rowJson(limitedToOne(rows)), context)
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
  const parts = populate.components.map(({ component, selection, filter = null }) => {
    const join = joinOwned(row, populate.attribute, component, context)
    const tag = { as: '__component', expression: sqlConstant(component.uid) }
    const columns = [tag, ...componentColumns(selection, join.row, context)]
    const position = join.order[0]?.expression ?? column(join.row.alias, 'id')
    const wanted = filterConditions({ filter, sort: [], page: null }, join, context)
    return { row: select({ columns, from: join.from, where: allOf([...join.where, ...wanted]) }), position }
  })
  return parts.length === 0 ? EMPTY_LIST : { kind: 'rows-json', rows: { kind: 'union', parts } }
}

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
