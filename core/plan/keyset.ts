import type { ContentType, ScalarAttribute } from '../model/model.ts'
import type { Storage } from '../model/storage.ts'
import type { Page, PageCursor, Query, Sort, Value } from '../query/query.ts'
import {
  allOf,
  anyOf,
  binary,
  cast,
  column,
  equal,
  FALSE,
  isNull,
  parameter,
  select,
  sqlConstant,
  TRUE,
} from '../sql/build.ts'
import type { Expression, RowsJsonNode, RowWindow, SqlSource } from '../sql/nodes.ts'
import { sortKey } from './order.ts'
import type { IdBound, PlanContext, Row } from './row.ts'
import { planPageSize } from './rows.ts'
import { planIso, sqlTypeOf } from './scalar.ts'

/** One place of an order: what rows have there, and what the last row had. */
interface CursorKey {
  readonly sort: Sort
  readonly key: Expression
  /** null: it had none there. */
  readonly cursorValue: Expression | null
  /** No row lacks it, as far as that is known: then PostgreSQL finds the place in an index. */
  readonly isNeverNull: boolean
}

/** Rows behind the last one that was answered: those that the order of planOrder puts after it. */
export interface AfterCursor {
  readonly next: Expression
  /** Those behind that have no value, where an index finds them by themselves, but not together with `next`. */
  readonly nullKeyRows: Expression | null
}

export function planAfter({ take, type, ...query }: Query, row: Row, context: PlanContext): AfterCursor {
  if (take.kind === 'one' || take.after === undefined || take.after === 'first')
    return { next: TRUE, nullKeyRows: null }
  const id = parameter(take.after.id, 'integer', context.parameterPlace(take.after))
  const [first, ...others] = cursorKeys(query.sort, take.after, row, context)
  if (!first || !needsNullScan(first, type, context.storage))
    return { next: planRowsAfter(first ? [first, ...others] : [], row, id), nullKeyRows: null }
  return {
    next: planRowsAfter([{ ...first, isNeverNull: true }, ...others], row, id),
    nullKeyRows: isNull(first.key),
  }
}

function planRowsAfter(places: readonly CursorKey[], row: Row, id: Expression): Expression {
  const ascending = planTupleComparison(places, row, id)
  if (ascending) return ascending
  const ways = places.map((place, index) => allOf([...places.slice(0, index).map(isTied), comesLater(place)]))
  const [first] = places
  return allOf([
    first ? planRangeHint(first) : TRUE,
    anyOf([...ways, allOf([...places.map(isTied), binary(column(row.alias, 'id'), '>', id)])]),
  ])
}

/** An index over all of it finds the very row where an order only ascends, and nothing is absent; null: it is no such order. */
function planTupleComparison(places: readonly CursorKey[], row: Row, id: Expression): Expression | null {
  const were = places.flatMap(({ sort, cursorValue: was, isNeverNull: isFilled }) =>
    was !== null && isFilled && sort.direction === 'asc' ? [was] : [],
  )
  if (were.length < places.length) return null
  const here: Expression = {
    kind: 'tuple',
    terms: [...places.map(({ key }) => key), column(row.alias, 'id')],
  }
  return binary(here, '>', { kind: 'tuple', terms: [...were, id] })
}

/** Where there is no index, two searches would read the table twice. */
function needsNullScan(
  { sort, key, cursorValue: was, isNeverNull: isFilled }: CursorKey,
  type: ContentType,
  storage: Storage,
): boolean {
  if (isFilled || was === null || sort.direction === 'desc' || key.kind !== 'column') return false
  const { name, status, locale } = storage.table(type)
  const indexes = storage.tables.find(table => table.name === name)?.indexes ?? []
  return indexes.some(({ columns, where }) => {
    const [first] = columns.filter(each => each !== status && each !== locale)
    return where === null && first === key.name
  })
}

/**
 * Where a list goes by id, its rows' links begin behind the cursor, too. PostgreSQL does not conclude that: it would
 * read all links from the first on to find those of a page in the middle.
 */
export function planIdBound({ take, sort }: Query, row: Row, context: PlanContext): IdBound | null {
  if (take.kind === 'one' || take.after === undefined || take.after === 'first') return null
  const [first] = cursorKeys(sort, take.after, row, context)
  if (!first)
    return { operator: '>', value: parameter(take.after.id, 'integer', context.parameterPlace(take.after)) }
  const { path, attribute, direction } = first.sort
  const isId = path.length === 0 && attribute.system && attribute.type === 'id'
  return isId && first.cursorValue
    ? { operator: direction === 'asc' ? '>=' : '<=', value: first.cursorValue }
    : null
}

function cursorKeys(
  sorts: readonly Sort[],
  after: Exclude<PageCursor, 'first'>,
  row: Row,
  context: PlanContext,
): readonly CursorKey[] {
  const at = context.parameterPlace(after)
  let given = 0
  return sorts.map((sort, index) => {
    const value = after.keys[index] ?? null
    const was =
      value === null ? null : cursorParameter(value, sort.attribute, at === null ? null : at + ++given)
    return { sort, key: sortKey(sort, row, context), cursorValue: was, isNeverNull: hasNoNulls(sort, row) }
  })
}

const cursorParameter = (value: Value, attribute: ScalarAttribute, place: number | null): Expression =>
  parameter(value, sqlTypeOf(attribute), place)

/** Published rows and those of types without drafts have what is required; all have their stamps. */
function hasNoNulls({ path, attribute }: Sort, { status, root }: Row): boolean {
  if (path.length > 0) return false
  if (attribute.system) return attribute.name !== 'publishedAt' || status === 'published'
  return attribute.required && (status === 'published' || !root.draftAndPublish)
}

const isTied = ({ key, cursorValue: was }: CursorKey): Expression =>
  was === null ? isNull(key) : equal(key, was)

/** PostgreSQL puts what is absent last, and first where the order is turned round. */
function comesLater({
  sort: { direction },
  key,
  cursorValue: was,
  isNeverNull: isFilled,
}: CursorKey): Expression {
  if (was === null) return direction === 'asc' ? FALSE : isNull(key, true)
  if (direction === 'desc') return binary(key, '<', was)
  return isFilled ? binary(key, '>', was) : anyOf([binary(key, '>', was), isNull(key)])
}

/** Says again, in a form that an index serves, what follows from all the rest. */
function planRangeHint({
  sort: { direction },
  key,
  cursorValue: was,
  isNeverNull: isFilled,
}: CursorKey): Expression {
  if (was === null) return TRUE
  if (direction === 'desc') return binary(key, '<=', was)
  return isFilled ? binary(key, '>=', was) : TRUE
}

/** A page and the row behind it, if there is one. */
export const pageAndNextRow = (page: Page, context: PlanContext): Pick<RowWindow, 'limit' | 'offset'> => ({
  limit: binary(planPageSize(page, context), '+', sqlConstant(1)),
  offset: null,
})

/** The last row of a page and the one behind it. */
export const lastAndNextRow = (page: Page, context: PlanContext): Pick<RowWindow, 'limit' | 'offset'> => ({
  limit: sqlConstant(2),
  offset: binary(planPageSize(page, context), '+', sqlConstant(-1)),
})

/** What rows have at each place of the order, and their id: `{ k0, k1, …, id }`. */
export function planCursor(
  sorts: readonly Sort[],
  row: Row,
  source: SqlSource,
  context: PlanContext,
): RowsJsonNode {
  const keys = sorts.map((sort, index) => ({
    as: `k${index}`,
    expression: exactText(sortKey(sort, row, context), sort.attribute),
  }))
  const columns = [...keys, { as: 'id', expression: column(row.alias, 'id') }]
  return { kind: 'rows-json', rows: select({ columns, from: [source] }) }
}

/** As it can be given again, to the last digit. */
function exactText(key: Expression, { type }: ScalarAttribute): Expression {
  if (type === 'datetime' || type === 'timestamp') return planIso(key)
  return type === 'biginteger' || type === 'decimal' ? cast(key, 'text') : key
}
