import { constraintName } from './identifiers.ts'
import type { Check, ForeignKey, Index } from './storage.ts'

export const index = (table: string, columns: readonly string[], where: Index['where'] = null): Index => ({
  name: constraintName(table, ...columns, 'index'),
  columns,
  unique: false,
  where,
})

export const unique = (table: string, columns: readonly string[], where: Index['where'] = null): Index => ({
  name: constraintName(table, ...columns, 'unique'),
  columns,
  unique: true,
  where,
})

export const STATUSES = ['draft', 'published'] as const

export const PUBLISHED = { column: 'status', equals: 'published' } as const

export const oneOf = (table: string, column: string, values: readonly string[]): Check => ({
  name: constraintName(table, column, 'check'),
  column,
  rule: { oneOf: values },
  onlyWhen: null,
})

export const requiredWhenPublished = (table: string, column: string): Check => ({
  name: constraintName(table, column, 'required'),
  column,
  rule: { notNull: true },
  onlyWhen: PUBLISHED,
})

/** Rows that cannot outlive the row that owns them. */
export const ownedBy = (
  table: string,
  columns: readonly string[],
  references: ForeignKey['references'],
): ForeignKey => ({
  name: constraintName(table, ...columns, 'foreign'),
  columns,
  references,
  onDelete: 'cascade',
})

/** An index that an author asks for may be there already. */
export function distinct(indexes: readonly Index[]): readonly Index[] {
  return [...new Map(indexes.toReversed().map(each => [each.name, each])).values()].toReversed()
}
