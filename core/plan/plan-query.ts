import type { Storage } from '../model/storage.ts'
import type { LocaleChoice, Query, RestrictedQuery, Status, TotalChoice } from '../query/query.ts'
import {
  allOf,
  anyOf,
  binary,
  call,
  cast,
  column,
  equal,
  not,
  parameter,
  select,
  sqlConstant,
  TRUE,
} from '../sql/build.ts'
import { numberedAlias } from '../sql/identifier.ts'
import type { AnswerStatement, Expression, Order, RowWindow, Select, SqlSource } from '../sql/nodes.ts'
import { planFilter, planLatest, planSearch, planVisible } from './filter.ts'
import { hasVersion, isVersionOf, lacksVersion, type VersionCondition } from './has-version.ts'
import { lastAndNextRow, pageAndNextRow, planAfter, planCursor, planIdBound } from './keyset.ts'
import { type AnswerShape, type PlanContext, type Row, typeRow } from './row.ts'
import { pageWindow, planLimits, planOrder, rowJson, sizedPage } from './rows.ts'
import { isRanked, isReadOnce, planMatches } from './search-matches.ts'
import { documentColumns, valueColumns } from './selection.ts'
import { planMatch, planRanking } from './text-search.ts'

/** Options of a plan. */
export interface PlanOptions {
  readonly storage: Storage
  readonly defaultLocale: string
  readonly shape: AnswerShape
  /** Limit of the answer in bytes; absent: none. */
  readonly maxBytes?: number
  /** Assigns places to values that are bound later (fingerprint.ts). By default all values are fixed. */
  readonly placeOf?: PlanContext['parameterPlace']
}

/** Plans a restricted query as one statement, whatever it populates. */
export const planQuery = (query: RestrictedQuery, options: PlanOptions): AnswerStatement => ({
  ...planAnswer(query, options),
  maxBytes: options.maxBytes ?? null,
})

function planAnswer(query: RestrictedQuery, options: PlanOptions): Omit<AnswerStatement, 'maxBytes'> {
  const context = contextFor(query, options)
  const row = typeRow(query.type, context.alias(), query.status, options.storage)
  const table: SqlSource = { table: options.storage.table(query.type).name, alias: row.alias, on: null }
  const where = allOf([...versionConditions(query, row, context), ...conditions(query, row, context)])
  const found = query.textSearch && planRanking(query, query.textSearch, row, context)
  const marked = typeof context.shape === 'object' ? [] : (found?.highlight ?? [])
  // The source selects the rows, so populates are computed only for returned rows.
  const rowsOf = (source: SqlSource): Select =>
    select({ columns: [...documentColumns(query.selection, row, context), ...marked], from: [source] })
  if (query.take.kind === 'one') {
    const window =
      isOnly(query.take) || matchesLocales(query)
        ? { ...ALL, where, order: byId(row), limit: sqlConstant(1) }
        : { ...ALL, where }
    return { ...WHOLE_LIST, form: 'one', rows: rowsOf({ ...table, window }) }
  }
  const { page, after } = query.take
  const order = planOrder(query.sort, row, context)
  if (!after && found && isReadOnce(query)) {
    const rank = query.textSearch?.byRank ? found.rank : null
    const { matches, window, source } = planMatches({ row, table, where, page, order, rank }, context)
    const rows = rowsOf({ ...table, window })
    return { ...WHOLE_LIST, form: 'many', matches, rows, total: planTotal(query.take.total, source, TRUE) }
  }
  const total = planTotal(query.take.total, table, where)
  if (!after) {
    const window = { where, order, ...pageWindow(page, context) }
    return { ...WHOLE_LIST, form: 'many', rows: rowsOf({ ...table, window }), total }
  }
  const part = (window: Pick<RowWindow, 'limit' | 'offset'>): SqlSource => ({
    ...table,
    reads: 'page',
    window: { where: null, order: [], ...window },
  })
  const window = { ...planPage(query, row, where, context), order, ...pageAndNextRow(page, context) }
  return {
    ...WHOLE_LIST,
    form: 'many',
    page: { ...table, window },
    rows: rowsOf(part(planLimits(page, context))),
    total,
    cursor: planCursor(query.sort, row, part(lastAndNextRow(page, context)), context),
  }
}

const WHOLE_LIST = { kind: 'answer', matches: null, page: null, total: null, cursor: null } as const

/** The rows of the list after the cursor. */
function planPage(
  query: Query,
  row: Row,
  list: Expression,
  context: PlanContext,
): Pick<RowWindow, 'where' | 'nullKeyRows'> {
  const bound = planIdBound(query, row, context)
  const bounded = { ...row, ...(bound && { bound }) }
  const terms = bound
    ? [...versionConditions(query, bounded, context), ...conditions(query, bounded, context)]
    : [list]
  const { next, nullKeyRows } = planAfter(query, row, context)
  return {
    where: allOf([...terms, next]),
    ...(nullKeyRows && { nullKeyRows: allOf([...terms, nullKeyRows]) }),
  }
}

type TakeOne = Extract<Query['take'], { readonly kind: 'one' }>

const isOnly = ({ documentId, recordId }: TakeOne): boolean => documentId === null && recordId === undefined

/** A filter on the locale replaces the default locale, so that several versions of one document may match. */
const matchesLocales = ({ type, locale, take }: Query): boolean =>
  type.localized && locale.kind === 'all' && !(take.kind === 'one' && take.recordId !== undefined)

const ALL = { order: [], limit: null, offset: null } as const

const TOTAL = { as: 'total', expression: call('count') }

/** An estimated total counts no more than this, and is exact up to it. */
export const ESTIMATE_LIMIT = 10_000

/**
 * The estimate counts what the caller may read, one document more than the limit at most: PostgreSQL's statistics would
 * reveal how many others there are.
 */
function planTotal(choice: TotalChoice, table: SqlSource, where: Expression): Select | null {
  if (choice === false) return null
  if (choice === true) return select({ columns: [TOTAL], from: [table], where })
  const window = { where, order: [], limit: sqlConstant(ESTIMATE_LIMIT + 1), offset: null }
  return select({ columns: [TOTAL], from: [{ ...table, window }] })
}

const byId = (row: Row): readonly Order[] => [{ expression: column(row.alias, 'id'), direction: 'asc' }]

function contextFor(query: Query, options: PlanOptions): PlanContext {
  let aliases = 0
  const locale = query.locale.kind === 'these' ? query.locale.codes[0] : undefined
  return {
    storage: options.storage,
    defaultLocale: options.defaultLocale,
    locale: locale ?? options.defaultLocale,
    shape: options.shape,
    alias: () => numberedAlias(++aliases),
    fixedSizePage: sizedPage(query),
    parameterPlace: options.placeOf ?? nowhere,
  }
}

const nowhere = (): null => null

/**
 * Plans lists by relevance of several types as one list of at most `limit` matches: content-type, documentId, locale, rank and
 * the selected fields. Each part is bounded before the parts are merged.
 */
export function planAcross(queries: readonly RestrictedQuery[], limit: number, options: PlanOptions): Select {
  const parts = queries.map((query, index) => {
    const context = contextFor(query, options)
    const row = typeRow(query.type, context.alias(), query.status, options.storage)
    const search = query.textSearch
    if (!search) throw new TypeError(`a query of ${query.type.uid} has no search`)
    const { rank } = planRanking(query, search, row, context)
    const order: readonly Order[] = [{ expression: rank, direction: 'desc' }, ...byId(row)]
    const table = options.storage.table(query.type).name
    const match = typeRow(query.type, context.alias(), query.status, options.storage)
    const conditionsOn = [...versionConditions(query, match, context), ...conditions(query, match, context)]
    const where = isRanked(row, { table, alias: match.alias, on: null }, allOf(conditionsOn))
    const window = { ...ALL, where, order, limit: sqlConstant(limit) }
    const documentId = column(row.alias, options.storage.table(query.type).documentId)
    const columns = [
      { as: 'contentType', expression: sqlConstant(query.type.key) },
      { as: 'documentId', expression: documentId },
      { as: 'locale', expression: row.locale ?? cast(sqlConstant(null), 'text') },
      { as: 'rank', expression: rank },
      {
        as: 'fields',
        expression: rowJson(select({ columns: valueColumns(query.selection.fields, row, context) })),
      },
    ]
    const keys = [binary(sqlConstant(0), '-', rank), sqlConstant(index), column(row.alias, 'id')]
    return {
      row: select({ columns, from: [{ table, alias: row.alias, on: null, window }] }),
      position: { kind: 'tuple', terms: keys },
    } as const
  })
  const found: Expression = { kind: 'rows-json', rows: { kind: 'union', parts, limit: sqlConstant(limit) } }
  return select({ columns: [{ as: 'found', expression: cast(found, 'text') }] })
}

/** The conditions on the requested status and locales. */
function versionConditions(
  { type, take, ...query }: Query,
  row: Row,
  context: PlanContext,
): readonly Expression[] {
  const { status } = context.storage.table(type)
  const terms: Expression[] = take.kind === 'one' ? [...documentConditions(take, row, context)] : []
  const same = query.textSearch && take.kind === 'many' ? withoutIndex : equal
  if (row.status === 'latest') terms.push(planLatest(row, query.visibleVersions, context))
  else if (status !== null) terms.push(same(column(row.alias, status), sqlConstant(row.status)))
  const named = take.kind === 'one' && take.recordId !== undefined
  if (row.locale && !named) terms.push(...localeConditions(query.locale, row.locale, same))
  return terms
}

function documentConditions(take: TakeOne, row: Row, context: PlanContext): readonly Expression[] {
  const { documentId, recordId } = take
  if (recordId !== undefined)
    return [isVersionOf(row, parameter(recordId, 'bigint', context.parameterPlace(take)), context)]
  if (documentId === null) return []
  const name = context.storage.table(row.root).documentId
  return [equal(column(row.alias, name), parameter(documentId, 'text', context.parameterPlace(take)))]
}

/** The vectors of a search contain status and locale. Other indexes of these would only be read in addition. */
const withoutIndex: typeof equal = (left, right) => not(binary(left, 'IS DISTINCT FROM', right))

function localeConditions(
  choice: LocaleChoice,
  locale: Expression,
  same: typeof equal,
): readonly Expression[] {
  if (choice.kind === 'all') return []
  const [code, ...others] = choice.codes
  if (code !== undefined && others.length === 0) return [same(locale, parameter(code, 'text'))]
  return [
    {
      kind: 'list-test',
      negated: false,
      left: locale,
      list: parameter(choice.codes, 'text'),
    },
  ]
}

/** `exact`: without corrections of typing errors in a search. */
function conditions(query: Query, row: Row, context: PlanContext, exact = false): readonly Expression[] {
  const filter = query.filter ? [planFilter(query.filter, row, context)] : []
  const search = query.search ? [planSearch(query.search, row, context)] : []
  const anyExact = exact ? null : () => findsExactly(query, context)
  const found = query.textSearch ? [planMatch(query, query.textSearch, row, { context, anyExact })] : []
  const publication = planPublication(query, row, context)
  return [...filter, ...search, ...found, publication]
}

/** True if the query finds a document without corrections. It depends on documents that the caller may see only. */
function findsExactly(query: Query, context: PlanContext): Expression {
  const row = typeRow(query.type, context.alias(), query.status, context.storage)
  const from = [{ table: context.storage.table(query.type).name, alias: row.alias, on: null }]
  const where = allOf([...versionConditions(query, row, context), ...conditions(query, row, context, true)])
  return { kind: 'exists', negated: false, select: select({ from, where }) }
}

/** reference/rest.md#10-drafts: filters documents by the relation of their visible versions. */
function planPublication(
  { publication, visibleVersions }: Pick<Query, 'publication' | 'visibleVersions'>,
  row: Row,
  context: PlanContext,
): Expression {
  const seen = (status: Status, { when, ...options }: VersionCondition = {}) => ({
    ...{ status, ...options },
    when: (found: Row) =>
      allOf([planVisible(found, status, visibleVersions, context), when?.(found) ?? TRUE]),
  })
  const version = (status: Status, options?: VersionCondition) =>
    hasVersion(row, seen(status, options), context)
  const lacks = (status: Status, options?: VersionCondition) =>
    lacksVersion(row, seen(status, options), context)
  switch (publication) {
    case null:
      return TRUE
    case 'never-published':
      return lacks('published')
    case 'has-published-version':
      return version('published')
    case 'never-published-document':
      return lacks('published', { anyLocale: true })
    case 'has-published-version-document':
      return version('published', { anyLocale: true })
    case 'modified':
      return allOf([version('draft'), version('published'), changedSince(row, version)])
    case 'unmodified':
      return allOf([version('draft'), version('published'), not(changedSince(row, version))])
    case 'published-without-draft':
      return allOf([version('published'), lacks('draft')])
    case 'published-with-draft':
      return allOf([version('published'), version('draft')])
  }
}

/** True if the timestamps of the other version differ: publishing makes them equal (reference/rest.md#1-envelope-and-status-codes, `updatedAt`). */
const changedSince = (
  row: Row,
  version: (status: Status, options: VersionCondition) => Expression,
): Expression =>
  anyOf([version('draft', { when: stampsDiffer(row) }), version('published', { when: stampsDiffer(row) })])

const stampsDiffer =
  (row: Row) =>
  (version: Row): Expression =>
    anyOf(
      stampsOf(row).map(stamp =>
        binary(column(version.alias, stamp), 'IS DISTINCT FROM', column(row.alias, stamp)),
      ),
    )

const stampsOf = ({ root }: Row): readonly string[] =>
  root.localized ? ['updated_at', 'shared_updated_at'] : ['updated_at']
