import type { LinkPopulate, Page, Query } from '../query/query.ts'
import { allOf, parameter, select, sqlConstant } from '../sql/build.ts'
import type { Expression, NamedColumn, RowWindow, Select } from '../sql/nodes.ts'
import { planFilter } from './filter.ts'
import type { Join } from './join.ts'
import { planOrder } from './order.ts'
import type { PlanContext } from './row.ts'

export type RowsRequest = Pick<LinkPopulate, 'filter' | 'sort' | 'page'>

export const filterConditions = (
  { filter }: RowsRequest,
  hop: Join,
  context: PlanContext,
): readonly Expression[] => (filter ? [planFilter(filter, hop.row, context)] : [])

export function selectRows(
  hop: Join,
  rows: RowsRequest,
  visible: readonly Expression[],
  columns: readonly NamedColumn[],
  context: PlanContext,
): Select {
  return select({
    columns,
    from: hop.from,
    where: allOf([...hop.where, ...visible, ...filterConditions(rows, hop, context)]),
    order: rows.sort.length > 0 ? planOrder(rows.sort, hop.row, context) : hop.order,
    ...planLimits(rows.page, context),
  })
}

/** PostgreSQL counts rows in 64 bits, parameters go as 32; no list is longer. */
const LAST_OFFSET = 2_147_483_647

export const clampOffset = ({ start }: Page): number => Math.min(start, LAST_OFFSET)

/** How many rows it has. */
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

/** The page of a list. One near the first row asks for its place in a way that tells a plan no more than its reach. */
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

/** Only an inverse can find several for a to-one relation, and only it has an order to choose by. */
export const limitedToOne = (rows: Select): Select =>
  rows.order.length > 0 ? { ...rows, limit: sqlConstant(1) } : rows

export const rowJson = (row: Select): Expression => ({ kind: 'row-json', select: row })

export const rowsJson = (rows: Select): Expression => ({ kind: 'rows-json', rows })

/**
 * The page of a list that the same index serves whatever its values: one of everything, near the first row or behind a
 * cursor. Where the text tells how many rows that is about, PostgreSQL keeps one plan for it, which takes a third of its
 * time; for all others it plans each time anew, as it has to where some values are rare and others are not.
 */
export function sizedPage(query: Query): Page | null {
  const { take, type, status, filter, search, publication, sort } = query
  if (take.kind === 'one' || type.localized || status === 'latest') return null
  if (take.page.start > 0 && reachOf(take.page) > (sort.length > 0 ? SORTED_REACH : REACH)) return null
  return filter === null && search === null && publication === null ? take.page : null
}

/** Where rows may have to be sorted, more of them than a page needs would not fit into the memory of a sort. */
const REACH = 1024
const SORTED_REACH = 256

/** Rows before a page from which on it is cheaper to look for its own twice. */
const FAR = 1000

export const isFar = ({ start }: Page): boolean => start >= FAR

/** What a sized page's text tells: how many rows a first one has, and of others among how many first ones they are. */
export const sizeWord = (page: Page): string => (page.start > 0 ? `<${reachOf(page)}` : `=${page.limit}`)

/** Rows within which a page ends: a power of four, so that all pages near the first make few texts. */
const reachOf = ({ start, limit }: Page): number => 4 ** Math.max(3, Math.ceil(Math.log2(start + limit) / 2))
