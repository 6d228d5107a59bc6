import type { ExpectedLists } from './blueprint.ts'
import { distinct, index, PUBLISHED } from './constraints.ts'
import type { Layout } from './layout.ts'
import type { ContentType } from './model.ts'
import type { Index } from './storage.ts'
import { coordinates, declaredIndex } from './type-indexes.ts'

interface ListTerms {
  readonly type: ContentType
  readonly layout: Layout
  readonly expected: ExpectedLists
  /** What the type has anyway. */
  readonly indexes: readonly Index[]
}

/** Indexes that nobody declares: for lists under conditions, and by stamps. None that another one serves for, too. */
export function listIndexes({ type, layout, expected, indexes }: ListTerms): readonly Index[] {
  const conditions = (expected.get(type) ?? []).map(names => declaredIndex(type, names, layout))
  const wanted = distinct([...conditions, ...stampIndexes(type, layout)])
  const longestFirst = wanted.toSorted((one, other) => other.columns.length - one.columns.length)
  return longestFirst.filter(
    (each, at) => ![...indexes, ...longestFirst.slice(0, at)].some(other => servesFor(other, each)),
  )
}

/**
 * The newest first, by either stamp. Not by `updatedAt`: it moves with every change, which then had to be written to
 * each index of the row.
 */
function stampIndexes(type: ContentType, layout: Layout): readonly Index[] {
  if (type.builtIn || type.kind === 'single') return []
  const table = layout.table(type)
  const created = declaredIndex(type, ['createdAt'], layout)
  const isDeclared = type.indexes.some(([first]) => first === 'publishedAt')
  if (table.status === null || isDeclared) return [created]
  const locale = coordinates(table).filter(name => name !== table.status)
  return [created, index(table.name, [...locale, 'published_at'], PUBLISHED)]
}

/** Columns that are compared one by one are found in any order. */
export const servesFor = (one: Index, other: Index): boolean =>
  one.name === other.name ||
  (one.where === null &&
    other.where === null &&
    one.columns.length >= other.columns.length &&
    one.columns.slice(0, other.columns.length).every(column => other.columns.includes(column)))
