import type { Check, ForeignKey, Index } from '../../model/storage.ts'
import { printOnlyWhen, printWhere, quoteConstant } from '../../sql/ddl.ts'
import { quoteIdentifier as ident } from '../../sql/identifier.ts'
import type { RowCountQuery } from './finding.ts'

const SHOWN = 5
const LONGEST_SHOWN = 60
const NO_VALUES = `'[]' AS "values"`

export const countRows = (from: string, where = 'true'): RowCountQuery =>
  `SELECT count(*)::integer AS "rows", ${NO_VALUES} FROM ${from} WHERE ${where}`

/** Counts rows only where there are more than so many. */
export const countTooMany = (table: string, limit: number): RowCountQuery => {
  const beyond = `EXISTS (SELECT 1 FROM ${table} OFFSET ${limit} LIMIT 1)`
  return `SELECT CASE WHEN ${beyond} THEN (SELECT count(*) FROM ${table}) ELSE 0 END AS "rows", ${NO_VALUES}`
}

/** Values of which a condition, which may be null, does not hold. */
export const countLostValues = (table: string, value: string, keeps: string): RowCountQuery =>
  sample(
    `SELECT left(${value}::text, ${LONGEST_SHOWN}) AS value, count(*)::integer AS n FROM ${table}
    WHERE ${value} IS NOT NULL AND (${keeps}) IS NOT TRUE GROUP BY 1`,
  )

/** The index of a relation whose targets are linked once. Other unique indexes are of rows of one status, or of all. */
export const isLinkIndex = ({ unique, where }: Index): boolean =>
  unique && where !== null && 'notNull' in where

/** Names the values, or the documents with the same link: the number of a document says nothing. */
export function findDuplicates(
  from: string,
  index: Index,
  scope: 'as-index' | 'shared' = 'as-index',
): RowCountQuery {
  const { columns, where } = index
  // A locale that components do not have is left out.
  const shown = isLinkIndex(index)
    ? `left(string_agg(DISTINCT document_id, ', '), ${LONGEST_SHOWN})`
    : `concat_ws(' / ', ${columns.map(column => `left(${ident(column)}::text, ${LONGEST_SHOWN})`).join(', ')})`
  const present = scope === 'shared' ? columns.slice(0, 1) : columns
  const rows = present.map(column => `${ident(column)} IS NOT NULL`)
  if (where !== null) rows.push(printWhere(where))
  const groups =
    `SELECT ${shown} AS value, count(*)::integer AS n FROM ${from} WHERE ${rows.join(' AND ')} ` +
    `GROUP BY ${columns.map(ident).join(', ')} HAVING count(*) > 1`
  return sample(groups)
}

/** Names some of the documents if there are at least two. */
export function findSeveralDocuments(from: string): RowCountQuery {
  const some = `SELECT DISTINCT document_id FROM ${from} LIMIT ${SHOWN + 1}`
  const values = `to_json((array_agg(document_id ORDER BY document_id))[1:${SHOWN}])`
  return `SELECT CASE WHEN count(*) > 1 THEN count(*) ELSE 0 END::integer AS "rows", coalesce(${values}::text, '[]') AS "values" FROM (${some}) AS found`
}

export function findOtherValues(from: string, check: Check, values: readonly string[]): RowCountQuery {
  const column = ident(check.column)
  const outside = `${printOnlyWhen(check)} AND ${column} NOT IN (${values.map(quoteConstant).join(', ')})`
  return sample(
    `SELECT ${column}::text AS value, count(*)::integer AS n FROM ${from} WHERE ${outside} GROUP BY ${column}`,
  )
}

/** The commonest groups, as `value (n)`. */
export function sample(groups: string): RowCountQuery {
  const values = `(array_agg(value || ' (' || n || ')' ORDER BY n DESC, value COLLATE "C"))[1:${SHOWN}]`
  return `SELECT coalesce(sum(n), 0)::integer AS "rows", coalesce(to_json(${values})::text, '[]') AS "values" FROM (${groups}) AS found`
}

/** Rows of values that mean nothing any more. */
export const countRemovedRows = (from: string, value: string, others: string): RowCountQuery =>
  sample(`SELECT ${value} AS value, count(*)::integer AS n FROM ${from} WHERE ${others} GROUP BY 1`)

export function findDangling(from: string, to: string | null, key: ForeignKey): RowCountQuery {
  const set = key.columns.map(column => `future.${ident(column)} IS NOT NULL`).join(' AND ')
  if (to === null) return countRows(from, set)
  const equal = key.references.columns.map((column, index) => {
    const own = key.columns[index]
    return own === undefined ? 'false' : `target.${ident(column)} = future.${ident(own)}`
  })
  return countRows(from, `${set} AND NOT EXISTS (SELECT 1 FROM ${to} AS target WHERE ${equal.join(' AND ')})`)
}
