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
import { planIso, sqlTypeOf } from './comparison.ts'
import type { IdBound, PlanContext, Row } from './row.ts'
import { planPageSize, sortKey } from './rows.ts'

/** One sort key of keyset pagination: the key of a row, and its value in the cursor. */
interface CursorKey {
  readonly sort: Sort
  readonly key: Expression
  /** null: the key of the cursor's row is NULL. */
  readonly cursorValue: Expression | null
  /** The key is known to be never NULL, so an index range finds the position. */
  readonly isNeverNull: boolean
}

/** The rows after the cursor, in the order of planOrder. */
export interface AfterCursor {
  readonly next: Expression
  /** Rows after the cursor whose key is NULL, if an index finds them in a separate scan but not together with `next`. */
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

/** A tuple comparison, which one index scan serves. null: some sort descends or some key may be NULL. */
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

/** True if rows with NULL keys are scanned separately: only with an index, because two scans would read the table twice. */
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
 * The cursor's bound on the id, for a list that is sorted by id. It also bounds columns that equal the id. PostgreSQL
 * does not infer that and would read all links from the first one on for a page in the middle.
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
  let input = 0
  return sorts.map((sort, index) => {
    const value = after.keys[index] ?? null
    const was =
      value === null ? null : cursorParameter(value, sort.attribute, at === null ? null : at + ++input)
    return { sort, key: sortKey(sort, row, context), cursorValue: was, isNeverNull: hasNoNulls(sort, row) }
  })
}

const cursorParameter = (value: Value, attribute: ScalarAttribute, place: number | null): Expression =>
  parameter(value, sqlTypeOf(attribute), place)

/** Published rows and rows of types without drafts have all required values; all rows have timestamps. */
function hasNoNulls({ path, attribute }: Sort, { status, root }: Row): boolean {
  if (path.length > 0) return false
  if (attribute.system) return attribute.name !== 'publishedAt' || status === 'published'
  return attribute.required && (status === 'published' || !root.draftAndPublish)
}

const isTied = ({ key, cursorValue: was }: CursorKey): Expression =>
  was === null ? isNull(key) : equal(key, was)

/** PostgreSQL sorts NULL last in ascending order and first in descending order. */
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

/** A redundant condition in a form that an index range serves. */
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

/** The page and the next row, if there is one. */
export const pageAndNextRow = (page: Page, context: PlanContext): Pick<RowWindow, 'limit' | 'offset'> => ({
  limit: binary(planPageSize(page, context), '+', sqlConstant(1)),
  offset: null,
})

/** The last row of the page and the next row. */
export const lastAndNextRow = (page: Page, context: PlanContext): Pick<RowWindow, 'limit' | 'offset'> => ({
  limit: sqlConstant(2),
  offset: binary(planPageSize(page, context), '+', sqlConstant(-1)),
})

/** The sort keys and the id of the rows: `{ k0, k1, …, id }`. */
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

/** A form that keeps full precision when the client sends it back. */
function exactText(key: Expression, { type }: ScalarAttribute): Expression {
  if (type === 'datetime' || type === 'timestamp') return planIso(key)
  return type === 'biginteger' || type === 'decimal' ? cast(key, 'text') : key
}
