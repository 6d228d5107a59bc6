import type { LinkPopulate, Page } from '../query/query.ts'
import { allOf, constant, parameter, select } from '../sql/build.ts'
import type { Expression, NamedColumn, Select, Window } from '../sql/nodes.ts'
import { planFilter } from './filter.ts'
import type { Hop } from './join.ts'
import { planOrder } from './order.ts'
import { isFar, reachOf } from './plan-hints.ts'
import type { PlanContext } from './row.ts'

export type Rows = Pick<LinkPopulate, 'filter' | 'sort' | 'page'>

export const filterTerms = ({ filter }: Rows, hop: Hop, context: PlanContext): readonly Expression[] =>
  filter ? [planFilter(filter, hop.row, context)] : []

export function rowsOf(
  hop: Hop,
  rows: Rows,
  visible: readonly Expression[],
  columns: readonly NamedColumn[],
  context: PlanContext,
): Select {
  return select({
    columns,
    from: hop.from,
    where: allOf([...hop.where, ...visible, ...filterTerms(rows, hop, context)]),
    order: rows.sort.length > 0 ? planOrder(rows.sort, hop.row, context) : hop.order,
    ...limits(rows.page, context),
  })
}

/** PostgreSQL counts rows in 64 bits, parameters go as 32; no list is longer. */
const LAST_OFFSET = 2_147_483_647

export const offsetOf = ({ start }: Page): number => Math.min(start, LAST_OFFSET)

/** How many rows it has. */
export const sizeOf = (page: Page, context: PlanContext): Expression =>
  page === context.sized && page.start === 0
    ? constant(page.limit)
    : parameter(page.limit, 'integer', context.placeOf(page))

/** LIMIT and OFFSET of a page. */
export function limits(page: Page | null, context: PlanContext): Pick<Select, 'limit' | 'offset'> {
  if (!page) return { limit: null, offset: null }
  const place = context.placeOf(page)
  return {
    limit: sizeOf(page, context),
    offset: page.start === 0 ? null : parameter(offsetOf(page), 'integer', place === null ? null : place + 1),
  }
}

/** The page of a list. One near the first row asks for its place in a way that tells a plan no more than its reach. */
export function pageWindow(page: Page, context: PlanContext): Omit<Window, 'where' | 'order'> {
  const { limit, offset } = limits(page, context)
  if (isFar(page)) return { limit, offset, isFar: true }
  if (page !== context.sized || !limit || !offset) return { limit, offset }
  return { limit: untold(limit), offset: untold(offset), reach: constant(reachOf(page)) }
}

const untold = (expression: Expression): Expression => ({
  kind: 'subquery',
  select: select({ columns: [{ as: 'rows', expression }], from: [] }),
})

/** Only an inverse can find several for a to-one relation, and only it has an order to choose by. */
export const limitedToOne = (rows: Select): Select =>
  rows.order.length > 0 ? { ...rows, limit: constant(1) } : rows

export const rowJson = (row: Select): Expression => ({ kind: 'row-json', select: row })

export const rowsJson = (rows: Select): Expression => ({ kind: 'rows-json', rows })
