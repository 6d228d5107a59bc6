import type { ContentType, ScalarAttribute } from '../model/model.ts'
import type { Storage } from '../model/storage.ts'
import type { After, Page, Query, Sort, Value } from '../query/query.ts'
import {
  allOf,
  anyOf,
  binary,
  cast,
  column,
  constant,
  equal,
  FALSE,
  isNull,
  parameter,
  select,
  TRUE,
} from '../sql/build.ts'
import type { Expression, RowsJsonNode, Source, Window } from '../sql/nodes.ts'
import { sortKey } from './order.ts'
import type { Bound, PlanContext, Row } from './row.ts'
import { sizeOf } from './rows.ts'
import { isoOf, sqlTypeOf } from './scalar.ts'

/** One place of an order: what rows have there, and what the last row had. */
interface Place {
  readonly sort: Sort
  readonly key: Expression
  /** null: it had none there. */
  readonly was: Expression | null
  /** No row lacks it, as far as that is known: then PostgreSQL finds the place in an index. */
  readonly isFilled: boolean
}

/** Rows behind the last one that was answered: those that the order of planOrder puts after it. */
export interface Behind {
  readonly next: Expression
  /** Those behind that have no value, where an index finds them by themselves, but not together with `next`. */
  readonly rest: Expression | null
}

export function planAfter({ take, type, ...query }: Query, row: Row, context: PlanContext): Behind {
  if (take.kind === 'one' || take.after === undefined || take.after === 'first')
    return { next: TRUE, rest: null }
  const id = parameter(take.after.id, 'integer', context.placeOf(take.after))
  const [first, ...others] = placesOf(query.sort, take.after, row, context)
  if (!first || !isApart(first, type, context.storage))
    return { next: comingAfter(first ? [first, ...others] : [], row, id), rest: null }
  return { next: comingAfter([{ ...first, isFilled: true }, ...others], row, id), rest: isNull(first.key) }
}

function comingAfter(places: readonly Place[], row: Row, id: Expression): Expression {
  const ascending = tuplesOf(places, row, id)
  if (ascending) return ascending
  const ways = places.map((place, index) => allOf([...places.slice(0, index).map(isTied), comesLater(place)]))
  const [first] = places
  return allOf([
    first ? notBefore(first) : TRUE,
    anyOf([...ways, allOf([...places.map(isTied), binary(column(row.alias, 'id'), '>', id)])]),
  ])
}

/** An index over all of it finds the very row where an order only ascends, and nothing is absent; null: it is no such order. */
function tuplesOf(places: readonly Place[], row: Row, id: Expression): Expression | null {
  const were = places.flatMap(({ sort, was, isFilled }) =>
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
function isApart({ sort, key, was, isFilled }: Place, type: ContentType, storage: Storage): boolean {
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
export function boundOf({ take, sort }: Query, row: Row, context: PlanContext): Bound | null {
  if (take.kind === 'one' || take.after === undefined || take.after === 'first') return null
  const [first] = placesOf(sort, take.after, row, context)
  if (!first)
    return { operator: '>', value: parameter(take.after.id, 'integer', context.placeOf(take.after)) }
  const { path, attribute, direction } = first.sort
  const isId = path.length === 0 && attribute.system && attribute.type === 'id'
  return isId && first.was ? { operator: direction === 'asc' ? '>=' : '<=', value: first.was } : null
}

function placesOf(
  sorts: readonly Sort[],
  after: Exclude<After, 'first'>,
  row: Row,
  context: PlanContext,
): readonly Place[] {
  const at = context.placeOf(after)
  let given = 0
  return sorts.map((sort, index) => {
    const value = after.keys[index] ?? null
    const was = value === null ? null : sent(value, sort.attribute, at === null ? null : at + ++given)
    return { sort, key: sortKey(sort, row, context), was, isFilled: isFilled(sort, row) }
  })
}

const sent = (value: Value, attribute: ScalarAttribute, place: number | null): Expression =>
  parameter(value, sqlTypeOf(attribute), place)

/** Published rows and those of types without drafts have what is required; all have their stamps. */
function isFilled({ path, attribute }: Sort, { status, root }: Row): boolean {
  if (path.length > 0) return false
  if (attribute.system) return attribute.name !== 'publishedAt' || status === 'published'
  return attribute.required && (status === 'published' || !root.draftAndPublish)
}

const isTied = ({ key, was }: Place): Expression => (was === null ? isNull(key) : equal(key, was))

/** PostgreSQL puts what is absent last, and first where the order is turned round. */
function comesLater({ sort: { direction }, key, was, isFilled }: Place): Expression {
  if (was === null) return direction === 'asc' ? FALSE : isNull(key, true)
  if (direction === 'desc') return binary(key, '<', was)
  return isFilled ? binary(key, '>', was) : anyOf([binary(key, '>', was), isNull(key)])
}

/** Says again, in a form that an index serves, what follows from all the rest. */
function notBefore({ sort: { direction }, key, was, isFilled }: Place): Expression {
  if (was === null) return TRUE
  if (direction === 'desc') return binary(key, '<=', was)
  return isFilled ? binary(key, '>=', was) : TRUE
}

/** A page and the row behind it, if there is one. */
export const withNext = (page: Page, context: PlanContext): Pick<Window, 'limit' | 'offset'> => ({
  limit: binary(sizeOf(page, context), '+', constant(1)),
  offset: null,
})

/** The last row of a page and the one behind it. */
export const lastOf = (page: Page, context: PlanContext): Pick<Window, 'limit' | 'offset'> => ({
  limit: constant(2),
  offset: binary(sizeOf(page, context), '+', constant(-1)),
})

/** What rows have at each place of the order, and their id: `{ k0, k1, …, id }`. */
export function planCursor(
  sorts: readonly Sort[],
  row: Row,
  source: Source,
  context: PlanContext,
): RowsJsonNode {
  const keys = sorts.map((sort, index) => ({
    as: `k${index}`,
    expression: shown(sortKey(sort, row, context), sort.attribute),
  }))
  const columns = [...keys, { as: 'id', expression: column(row.alias, 'id') }]
  return { kind: 'rows-json', rows: select({ columns, from: [source] }) }
}

/** As it can be given again, to the last digit. */
function shown(key: Expression, { type }: ScalarAttribute): Expression {
  if (type === 'datetime' || type === 'timestamp') return isoOf(key)
  return type === 'biginteger' || type === 'decimal' ? cast(key, 'text') : key
}
