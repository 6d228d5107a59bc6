import { quoteIdentifier as name } from '../../sql/identifier.ts'
import type { Statement } from '../../sql/statement.ts'
import type { Stored } from '../desired-state.ts'
import { among, listType, type TableColumns, type Tuples, unnest } from '../sql/write-print.ts'

/** A value that is to stand in a locale; null: where there are none. */
export interface ClaimedValue {
  readonly value: Stored
  readonly locale: string | null
}

export interface ConflictTerms {
  /** What is looked for, in words. */
  readonly called: string
  readonly table: string
  readonly column: string
  readonly types: TableColumns
  /** The column that says which rows are published; null: all are. */
  readonly published: string | null
  readonly locale: string | null
  /** Rows that do not count: those that hold one of these. */
  readonly but: Omit<Tuples, 'table'>
}

/** Which of the values other rows have, by their places from 1. */
export function printUniqueConflicts(claims: readonly ClaimedValue[], terms: ConflictTerms): Statement {
  const { called, table, column, types, published, locale } = terms
  const but = unnest(terms.but, types, 2)
  const type = types.get(column)
  if (type === undefined) throw new TypeError(`no column ${column} of ${table}`)
  const conditions = [
    `t.${name(column)} = w.value`,
    ...(locale === null ? [] : [`t.${name(locale)} IS NOT DISTINCT FROM w.locale`]),
    ...(published === null ? [] : [`t.${name(published)} = 'published'`]),
    `NOT ${among(terms.but.columns, but.text, 't.')}`,
  ]
  return {
    name: `check that ${called} is unique`,
    text:
      `SELECT w.place FROM unnest($1::${listType(type)}, $2::text[]) WITH ORDINALITY AS w (value, locale, place) ` +
      `WHERE EXISTS (SELECT FROM ${name(table)} t WHERE ${conditions.join(' AND ')})`,
    values: [claims.map(({ value }) => value), claims.map(each => each.locale), ...but.values],
  }
}
