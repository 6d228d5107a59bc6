import { groupBy } from '../../base/plain-data.ts'
import { fitsIndex } from '../../model/columns.ts'
import type { ContentType, ScalarAttribute } from '../../model/model.ts'
import { quoteIdentifier as ident } from '../../sql/identifier.ts'
import type { Statement } from '../../sql/statement.ts'
import type { DesiredDocument, Stored } from '../desired-state.ts'
import type { WriteOptions } from '../rows/write-options.ts'
import { filter, inOrder } from '../sql/look-ups.ts'
import { columnsOf, listType, type TableColumns, type Tuples, unnest } from '../sql/write-print.ts'

/** A value that another document has already, of an attribute that must be unique. */
export interface UniqueConflict {
  readonly document: DesiredDocument
  readonly locale: string | null
  readonly attribute: ScalarAttribute
  readonly value: string
}

/**
 * reference/documents.md#5-uniqueness: unique among the published versions of a locale, or among all rows of a type without drafts. One
 * statement for each unique attribute that is written; the indexes only catch who writes at the same moment.
 */
export async function findUniqueConflicts(
  documents: readonly DesiredDocument[],
  options: WriteOptions,
): Promise<readonly UniqueConflict[]> {
  const asked: Promise<readonly UniqueConflict[]>[] = []
  for (const [type, group] of groupBy(documents, each => each.type)) {
    for (const attribute of type.attributes.values()) {
      if (attribute.kind !== 'scalar' || !attribute.unique) continue
      const wanted = group.flatMap(document => uniqueValues(document, attribute))
      if (wanted.length > 0) asked.push(findOf({ type, attribute }, wanted, group, options))
    }
  }
  return (await Promise.all(asked)).flat()
}

/** The unique values of a document: those of published versions, or of types without drafts. */
function uniqueValues(document: DesiredDocument, attribute: ScalarAttribute): readonly Claim[] {
  return document.versions.flatMap(({ statuses, locale, values }) => {
    const value = values.get(attribute.name)
    if (!statuses.includes('published') || value?.kind !== 'scalar' || value.value === null) return []
    return [{ document, locale, attribute, value: value.value }]
  })
}

/** Rows that get another value, and may leave theirs to others. */
const releasedRows = ({ type, documentId, versions }: DesiredDocument, { name }: ScalarAttribute) =>
  versions
    .filter(({ statuses, values }) => statuses.includes('published') && values.has(name))
    .map(({ locale }) => (type.localized ? [documentId, locale] : [documentId]))

type Claim = Omit<UniqueConflict, 'value'> & { readonly value: Stored }

async function findOf(
  { type, attribute }: { readonly type: ContentType; readonly attribute: ScalarAttribute },
  claims: readonly Claim[],
  written: readonly DesiredDocument[],
  { transaction, storage }: WriteOptions,
): Promise<readonly UniqueConflict[]> {
  const table = storage.table(type)
  const statement = printUniqueConflicts(claims, {
    called: `${attribute.name} of ${type.key}`,
    column: storage.column(type, attribute.name),
    isIndexed: fitsIndex(attribute),
    table: table.name,
    types: columnsOf(storage, table.name),
    published: table.status,
    locale: table.locale,
    but: {
      columns: [table.documentId, ...(table.locale === null ? [] : [table.locale])],
      rows: written.flatMap(document => releasedRows(document, attribute)),
    },
  })
  const { rows } = await transaction.run(statement)
  const taken = new Set(rows.map(([place]) => Number(place) - 1))
  return claims.flatMap((claim, place) =>
    taken.has(place) ? [{ ...claim, value: String(claim.value) }] : [],
  )
}

/** A value to write, and its locale; null on types without locales. */
export interface ClaimedValue {
  readonly value: Stored
  readonly locale: string | null
}

interface ConflictOptions {
  /** Description of the looked-up values, for the name of the statement. */
  readonly called: string
  readonly table: string
  readonly column: string
  /** An index begins with the column. */
  readonly isIndexed: boolean
  readonly types: TableColumns
  /** The column that says which rows are published; null: all are. */
  readonly published: string | null
  readonly locale: string | null
  /** Rows that do not count: those that hold one of these. */
  readonly but: Omit<Tuples, 'table'>
}

/** Which of the values other rows have, by their places from 1. */
export function printUniqueConflicts(claims: readonly ClaimedValue[], options: ConflictOptions): Statement {
  const { called, column, table, types, published } = options
  const but = unnest(options.but, types, 2)
  const type = types.get(column)
  if (type === undefined) throw new TypeError(`no column ${column} of ${table}`)
  const written = options.but.columns.map(each => `t.${ident(each)}`).join(', ')
  const counts = [
    ...(published === null ? [] : [`t.${ident(published)} = 'published'`]),
    // A list is searched for each row, a subquery that PostgreSQL hashes is not.
    `(${written}) NOT IN (SELECT * FROM ${but.text})`,
  ]
  const list = listType(type)
  const isTaken = options.isIndexed ? printLookUp(counts, options) : printScan(counts, { ...options, list })
  return {
    name: `check that ${called} is unique`,
    text:
      `SELECT w.place FROM unnest($1::${list}, $2::text[]) WITH ORDINALITY AS w (value, locale, place) ` +
      `WHERE ${isTaken}`,
    values: [claims.map(({ value }) => value), claims.map(each => each.locale), ...but.values],
  }
}

// Plans are made before the table has statistics (sql/look-ups.ts). An EXISTS may become a join, which reads all of the table for each value.

/** Looks up each value. The order makes no other index look as good as that of the values. */
function printLookUp(counts: readonly string[], { table, column, locale }: ConflictOptions): string {
  const own = `t.${ident(column)}`
  const conditions = [
    ...inOrder([[own, 'w.value']]),
    ...(locale === null ? [] : [`t.${ident(locale)} IS NOT DISTINCT FROM w.locale`]),
    ...counts,
  ]
  return `(SELECT true FROM ${ident(table)} t WHERE ${conditions.join(' AND ')} ORDER BY ${own} LIMIT 1)`
}

/** Reads the table once: PostgreSQL hashes the values, and then the rows that have one of them. */
function printScan(
  counts: readonly string[],
  { table, column, locale, list }: ConflictOptions & { readonly list: string },
): string {
  const own = `t.${ident(column)}`
  const [place, given] =
    locale === null ? ['', ''] : [`, coalesce(t.${ident(locale)}, '')`, ", coalesce(w.locale, '')"]
  const conditions = [filter(`${own} IN (SELECT * FROM unnest($1::${list}))`), ...counts]
  const rows = `SELECT ${own}${place} FROM ${ident(table)} t WHERE ${conditions.join(' AND ')}`
  return filter(`(w.value${given}) IN (${rows})`)
}
