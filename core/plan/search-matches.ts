import type { Page, Query } from '../query/query.ts'
import { binary, column, select, sqlConstant } from '../sql/build.ts'
import type { Expression, NamedColumn, Order, RowWindow, Select, SqlSource } from '../sql/nodes.ts'
import type { PlanContext, Row } from './row.ts'
import { pageWindow, planLimits } from './rows.ts'

/** So many of the newest matches of a search are ranked. Older ones come behind them (docs/search.md). */
const MAX_RANKED = 1000

/** True if one scan of the matches serves the page and the total. A page that is sorted by an attribute needs no such scan alone. */
export const isReadOnce = ({ textSearch, take }: Query): boolean =>
  textSearch !== undefined && take.kind === 'many' && (textSearch.byRank || take.total !== false)

/**
 * True if all matches are read and only the words can find them by an index. PostgreSQL then keeps one plan for all words;
 * otherwise it plans each execution, because with another index its choice depends on how rare the words are.
 */
export const isFoundByWords = (query: Query): boolean => {
  const { take, filter, search, publication, status } = query
  const isAlone = filter === null && search === null && publication === null && status !== 'latest'
  return isAlone && isReadOnce(query) && take.kind === 'many' && !take.after
}

/** True if the page has matches that are not ranked. */
export const endsBehindRanked = ({ start, limit }: Page): boolean => start + limit > MAX_RANKED

/** Below every rank (text-search.ts). */
const LAST_RANK = sqlConstant(-2)

interface MatchOptions {
  readonly row: Row
  readonly table: SqlSource
  readonly where: Expression
  readonly page: Page
  /** The order of the list; behind the rank, if it has one. */
  readonly order: readonly Order[]
  /** null: the list is sorted by attributes. */
  readonly rank: Expression | null
}

interface MatchPlan {
  readonly matches: Select
  /** Selects the rows of the page. */
  readonly window: RowWindow
  /** The matches, to be counted. */
  readonly source: SqlSource
}

/** Plans a list of a search: its matches once, and the page and the total from them. */
export function planMatches(options: MatchOptions, context: PlanContext): MatchPlan {
  const source: SqlSource = { table: options.table.table, alias: context.alias(), on: null, reads: 'matches' }
  const planned = options.rank
    ? byRank({ ...options, rank: options.rank }, source, context)
    : byOrder(options, source, context)
  const { columns, window } = planned
  const matches = select({
    columns: [idOf(options.row.alias), ...columns],
    from: [options.table],
    where: options.where,
  })
  return { matches, window, source }
}

interface PagePlan {
  /** Further columns of the matches. */
  readonly columns: readonly NamedColumn[]
  readonly window: RowWindow
}

function byRank(
  { row, page, order, rank }: MatchOptions & { readonly rank: Expression },
  source: SqlSource,
  context: PlanContext,
): PagePlan {
  const isLate = endsBehindRanked(page)
  const lastRanked = select({
    ...newest(source, idOf),
    limit: sqlConstant(1),
    offset: sqlConstant(MAX_RANKED - 1),
  })
  const expression: Expression = isLate
    ? {
        kind: 'case',
        when: binary(column(row.alias, 'id'), '<', { kind: 'subquery', select: lastRanked }),
        value: LAST_RANK,
        otherwise: rank,
      }
    : rank
  const candidates = isLate
    ? select({ columns: [placeOf(source.alias)], from: [source] })
    : newest(source, placeOf)
  const window = {
    where: { kind: 'among', left: column(row.alias, PLACE), select: candidates } as const,
    order: [{ expression, direction: 'desc' } as const, ...order],
    ...pageWindow(page, context),
  }
  return { columns: [placeOf(row.alias)], window }
}

/** The matches that are ranked. */
const newest = ({ alias, ...source }: SqlSource, of: (alias: SqlSource['alias']) => NamedColumn): Select =>
  select({
    columns: [of(alias)],
    from: [{ alias, ...source }],
    order: [{ expression: column(alias, 'id'), direction: 'desc' }],
    limit: sqlConstant(MAX_RANKED),
  })

/** The sort keys are columns of the matches, so only the rows of the page are looked up again. */
function byOrder(
  { row, page, order }: MatchOptions,
  { alias, ...source }: SqlSource,
  context: PlanContext,
): PagePlan {
  const columns = order.map(({ expression }, at) => ({ as: `key${at}`, expression }))
  const keys = order.map(({ direction }, at) => ({ expression: column(alias, `key${at}`), direction }))
  const ids = select({
    columns: [idOf(alias)],
    from: [{ alias, ...source }],
    order: keys,
    ...planLimits(page, context),
  })
  const where = { kind: 'among', left: column(row.alias, 'id'), select: ids } as const
  return { columns, window: { where, order, limit: null, offset: null } }
}

/** The place of a row in its table. Within a statement it finds the row again, without the way through an index. */
const PLACE = 'ctid'

const placeOf = (alias: SqlSource['alias']): NamedColumn => ({
  as: PLACE,
  expression: column(alias, PLACE),
})

const idOf = (alias: SqlSource['alias']): NamedColumn => ({ as: 'id', expression: column(alias, 'id') })

/**
 * True for the rows of a search that are ranked, without a list's matches. The sum keeps PostgreSQL from walking the primary
 * key in search of matches, which takes long where matches are old.
 */
export const isRanked = (row: Row, table: SqlSource, where: Expression): Expression => ({
  kind: 'among',
  left: column(row.alias, PLACE),
  select: select({
    columns: [placeOf(table.alias)],
    from: [table],
    where,
    order: [{ expression: binary(column(table.alias, 'id'), '+', sqlConstant(0)), direction: 'desc' }],
    limit: sqlConstant(MAX_RANKED),
  }),
})
