import type { LinkPopulate, Page } from '../query/query.ts'
import { allOf, constant, parameter, select } from '../sql/build.ts'
import type { Expression, NamedColumn, Select } from '../sql/nodes.ts'
import { planFilter } from './filter.ts'
import type { Hop } from './hop.ts'
import { planOrder } from './order.ts'
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

/** Rows before a page from which on it is cheaper to look for its own twice. */
const FAR = 1000

export const isFar = ({ start }: Page): boolean => start >= FAR

/** How many rows it has. */
export const sizeOf = (page: Page, context: PlanContext): Expression =>
  page === context.sized ? constant(page.limit) : parameter(page.limit, 'integer', context.placeOf(page))

/** LIMIT and OFFSET of a page. */
export function limits(page: Page | null, context: PlanContext): Pick<Select, 'limit' | 'offset'> {
  if (!page) return { limit: null, offset: null }
  const place = context.placeOf(page)
  return {
    limit: sizeOf(page, context),
    offset: page.start === 0 ? null : parameter(page.start, 'integer', place === null ? null : place + 1),
  }
}

/** Only an inverse can find several for a to-one relation, and only it has an order to choose by. */
export const limitedToOne = (rows: Select): Select =>
  rows.order.length > 0 ? { ...rows, limit: constant(1) } : rows

export const rowJson = (row: Select): Expression => ({ kind: 'row-json', select: row })

export const rowsJson = (rows: Select): Expression => ({ kind: 'rows-json', rows })
