import type { Storage } from '../model/storage.ts'
import type { LocaleChoice, Query, RestrictedQuery } from '../query/query.ts'
import { numberedAlias } from '../sql/alias.ts'
import { allOf, call, column, constant, equal, parameter, select } from '../sql/build.ts'
import type { Answer, Expression, Order, Select, Source, Window } from '../sql/nodes.ts'
import { planFilter, planLatest } from './filter.ts'
import { isVersionOf } from './has-version.ts'
import { boundOf, lastOf, planAfter, planCursor, withNext } from './keyset.ts'
import { planOrder } from './order.ts'
import { sizedPage } from './plan-hints.ts'
import { planPublication } from './publication.ts'
import { type PlanContext, type Row, type Shape, typeRow } from './row.ts'
import { limits, pageWindow } from './rows.ts'
import { planSearch } from './search.ts'
import { documentColumns } from './selection.ts'

/** What a plan needs to know besides the query. */
export interface PlanTerms {
  readonly storage: Storage
  readonly defaultLocale: string
  readonly shape: Shape
  /** The most bytes that the answer may have; absent: any number. */
  readonly maxBytes?: number
  /** Where values may be put in later (fingerprint.ts); by default nowhere. */
  readonly placeOf?: PlanContext['placeOf']
}

/** One restricted query → one answer, printed by sql/ as one statement whatever it populates. */
export const planQuery = (query: RestrictedQuery, terms: PlanTerms): Answer => ({
  ...planAnswer(query, terms),
  maxBytes: terms.maxBytes ?? null,
})

function planAnswer(query: RestrictedQuery, terms: PlanTerms): Omit<Answer, 'maxBytes'> {
  const context = contextFor(query, terms)
  const row = typeRow(query.type, context.alias(), query.status, terms.storage)
  const table: Source = { table: terms.storage.table(query.type).name, alias: row.alias, on: null }
  const where = allOf([...versionTerms(query, row, context), ...conditions(query, row, context)])
  // The rows are chosen in the source, so that populates are computed for those alone that answer.
  const rowsOf = (source: Source): Select =>
    select({ columns: documentColumns(query.selection, row, context), from: [source] })
  if (query.take.kind === 'one') {
    const window = isOnly(query.take)
      ? { ...ALL, where, order: byId(row), limit: constant(1) }
      : { ...ALL, where }
    return { ...NO_MORE, form: 'one', rows: rowsOf({ ...table, window }) }
  }
  const { page, after } = query.take
  const total = query.take.total ? select({ columns: [TOTAL], from: [table], where }) : null
  const order = planOrder(query.sort, row, context)
  if (!after) {
    const window = { where, order, ...pageWindow(page, context) }
    return { ...NO_MORE, form: 'many', rows: rowsOf({ ...table, window }), total }
  }
  const part = (window: Pick<Window, 'limit' | 'offset'>): Source => ({
    ...table,
    isPage: true,
    window: { where: null, order: [], ...window },
  })
  const window = { ...planPage(query, row, where, context), order, ...withNext(page, context) }
  return {
    kind: 'answer',
    form: 'many',
    page: { ...table, window },
    rows: rowsOf(part(limits(page, context))),
    total,
    cursor: planCursor(query.sort, row, part(lastOf(page, context)), context),
  }
}

const NO_MORE = { kind: 'answer', page: null, total: null, cursor: null } as const

/** Of the list's rows those behind the cursor. */
function planPage(
  query: Query,
  row: Row,
  list: Expression,
  context: PlanContext,
): Pick<Window, 'where' | 'rest'> {
  const bound = boundOf(query, row, context)
  const bounded = { ...row, ...(bound && { bound }) }
  const terms = bound
    ? [...versionTerms(query, bounded, context), ...conditions(query, bounded, context)]
    : [list]
  const { next, rest } = planAfter(query, row, context)
  return { where: allOf([...terms, next]), ...(rest && { rest: allOf([...terms, rest]) }) }
}

type TakeOne = Extract<Query['take'], { readonly kind: 'one' }>

const isOnly = ({ documentId, recordId }: TakeOne): boolean => documentId === null && recordId === undefined

const ALL = { order: [], limit: null, offset: null } as const

const TOTAL = { as: 'total', expression: call('count') }

const byId = (row: Row): readonly Order[] => [{ expression: column(row.alias, 'id'), direction: 'asc' }]

function contextFor(query: Query, terms: PlanTerms): PlanContext {
  let aliases = 0
  const locale = query.locale.kind === 'these' ? query.locale.codes[0] : undefined
  return {
    storage: terms.storage,
    defaultLocale: terms.defaultLocale,
    locale: locale ?? terms.defaultLocale,
    shape: terms.shape,
    alias: () => numberedAlias(++aliases),
    sized: sizedPage(query),
    placeOf: terms.placeOf ?? nowhere,
  }
}

const nowhere = (): null => null

/** Which versions of documents answer: those of the status and the locales asked for. */
function versionTerms(
  { type, take, ...query }: Query,
  row: Row,
  context: PlanContext,
): readonly Expression[] {
  const { status } = context.storage.table(type)
  const terms: Expression[] = take.kind === 'one' ? [...documentTerms(take, row, context)] : []
  if (row.status === 'latest') terms.push(planLatest(row, query.sights, context))
  else if (status !== null) terms.push(equal(column(row.alias, status), constant(row.status)))
  const named = take.kind === 'one' && take.recordId !== undefined
  if (row.locale && !named) terms.push(...localeTerms(query.locale, row.locale))
  return terms
}

function documentTerms(take: TakeOne, row: Row, context: PlanContext): readonly Expression[] {
  const { documentId, recordId } = take
  if (recordId !== undefined)
    return [isVersionOf(row, parameter(recordId, 'bigint', context.placeOf(take)), context)]
  if (documentId === null) return []
  const name = context.storage.table(row.root).documentId
  return [equal(column(row.alias, name), parameter(documentId, 'text', context.placeOf(take)))]
}

function localeTerms(choice: LocaleChoice, locale: Expression): readonly Expression[] {
  if (choice.kind === 'all') return []
  const [code, ...others] = choice.codes
  if (code !== undefined && others.length === 0) return [equal(locale, parameter(code, 'text'))]
  return [
    {
      kind: 'list-test',
      negated: false,
      left: locale,
      list: parameter(choice.codes, 'text'),
    },
  ]
}

function conditions(query: Query, row: Row, context: PlanContext): readonly Expression[] {
  const filter = query.filter ? [planFilter(query.filter, row, context)] : []
  const search = query.search ? [planSearch(query.search, row, context)] : []
  const publication = planPublication(query, row, context)
  return [...filter, ...search, publication]
}
