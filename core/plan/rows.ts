import { INTEGER } from '../base/integers.ts'
import { isLink } from '../model/model.ts'
import type { LinkPopulate, Page, Query, Sort, SortStep } from '../query/query.ts'
import { allOf, column, parameter, select, sqlConstant } from '../sql/build.ts'
import type { Expression, NamedColumn, Order, RowWindow, Select } from '../sql/nodes.ts'
import { planScalar } from './comparison.ts'
import { planFilter, planScope } from './filter.ts'
import { type Join, joinComponent, joinLink } from './join.ts'
import type { PlanContext, Row } from './row.ts'

export type RowsRequest = Pick<LinkPopulate, 'filter' | 'sort' | 'page'>

export const filterConditions = (
  { filter }: RowsRequest,
  join: Join,
  context: PlanContext,
): readonly Expression[] => (filter ? [planFilter(filter, join.row, context)] : [])

export function selectRows(
  join: Join,
  rows: RowsRequest,
  visible: readonly Expression[],
  columns: readonly NamedColumn[],
  context: PlanContext,
): Select {
  return select({
    columns,
    from: join.from,
    where: allOf([...join.where, ...visible, ...filterConditions(rows, join, context)]),
    order: rows.sort.length > 0 ? planOrder(rows.sort, join.row, context) : join.order,
    ...planLimits(rows.page, context),
  })
}

/** An offset that fits the integer parameter: no list is longer. */
export const clampOffset = ({ start }: Page): number => Math.min(start, INTEGER.most)

/** The page size as SQL. */
export const planPageSize = (page: Page, context: PlanContext): Expression =>
  page === context.fixedSizePage && page.start === 0
    ? sqlConstant(page.limit)
    : parameter(page.limit, 'integer', context.parameterPlace(page))

/** LIMIT and OFFSET of a page. */
export function planLimits(page: Page | null, context: PlanContext): Pick<Select, 'limit' | 'offset'> {
  if (!page) return { limit: null, offset: null }
  const place = context.parameterPlace(page)
  return {
    limit: planPageSize(page, context),
    offset:
      page.start === 0 ? null : parameter(clampOffset(page), 'integer', place === null ? null : place + 1),
  }
}

/** The page of a list. Near the first row, the planner sees only an upper bound of its end, so that one plan serves many pages. */
export function pageWindow(page: Page, context: PlanContext): Omit<RowWindow, 'where' | 'order'> {
  const { limit, offset } = planLimits(page, context)
  if (isFar(page)) return { limit, offset, deferredJoin: true }
  if (page !== context.fixedSizePage || !limit || !offset) return { limit, offset }
  return { limit: opaque(limit), offset: opaque(offset), prefixLimit: sqlConstant(reachOf(page)) }
}

const opaque = (expression: Expression): Expression => ({
  kind: 'subquery',
  select: select({ columns: [{ as: 'rows', expression }], from: [] }),
})

/** Only an inverse to-one relation can find several rows, and only it has an order to choose one by. */
export const limitedToOne = (rows: Select): Select =>
  rows.order.length > 0 ? { ...rows, limit: sqlConstant(1) } : rows

export const rowJson = (row: Select): Expression => ({ kind: 'row-json', select: row })

export const rowsJson = (rows: Select): Expression => ({ kind: 'rows-json', rows })

/**
 * The page of a list that one index serves whatever its values: an unfiltered list near its first row or after a cursor.
 * If the text contains its approximate size, PostgreSQL keeps a generic plan for it, which saves a third of its time.
 * Other statements are planned per execution, which they need because some values are rare and others are not.
 */
export function sizedPage(query: Query): Page | null {
  const { take, type, status, filter, search, textSearch, publication, sort } = query
  if (textSearch || take.kind === 'one' || type.localized || status === 'latest') return null
  if (take.page.start > 0 && reachOf(take.page) > (sort.length > 0 ? SORTED_REACH : REACH)) return null
  return filter === null && search === null && publication === null ? take.page : null
}

/** Largest page that gets a fixed size: a sort of more rows may not fit into memory. */
const REACH = 1024
const SORTED_REACH = 256

/** Offset from which a deferred join is cheaper: ids first, then the rows of the page. */
const FAR = 1000

export const isFar = ({ start }: Page): boolean => start >= FAR

/** The size in the text of a fixed-size page: rows of a first page, otherwise the prefix that contains the page. */
export const sizeWord = (page: Page): string => (page.start > 0 ? `<${reachOf(page)}` : `=${page.limit}`)

/** The prefix of a list that contains the page, as a power of four: few distinct texts for all pages near the first row. */
const reachOf = ({ start, limit }: Page): number => 4 ** Math.max(3, Math.ceil(Math.log2(start + limit) / 2))

/** The sorts in order, then the id: pages neither repeat nor miss a row. */
export function planOrder(sorts: readonly Sort[], row: Row, context: PlanContext): readonly Order[] {
  const orders = sorts.map(sort => ({ expression: sortKey(sort, row, context), direction: sort.direction }))
  return [...orders, { expression: column(row.alias, 'id'), direction: 'asc' }]
}

export function sortKey(sort: Sort, row: Row, context: PlanContext): Expression {
  const [step, ...rest] = sort.path
  if (!step) return planScalar(row, sort.attribute, context)
  return { kind: 'subquery', select: planFirstKey(step, { ...sort, path: rest }, row, context) }
}

/** `ORDER BY 1`: by the key itself. */
const FIRST_COLUMN = sqlConstant(1)

/** In a list of related rows the first value in the sort direction counts, so no document is returned twice. */
function planFirstKey(step: SortStep, sort: Sort, row: Row, context: PlanContext) {
  const join = joinStep(step, row, context)
  const visible = planScope(step.scope, join.row, context)
  return select({
    columns: [{ as: 'key', expression: sortKey(sort, join.row, context) }],
    from: join.from,
    where: allOf([...join.where, visible]),
    order: [{ expression: FIRST_COLUMN, direction: sort.direction }],
    limit: sqlConstant(1),
  })
}

const joinStep = ({ attribute, scope }: SortStep, row: Row, context: PlanContext): Join =>
  isLink(attribute)
    ? joinLink(row, attribute, scope?.status ?? null, context)
    : joinComponent(row, attribute, context)
