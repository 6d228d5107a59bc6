import type { Check, ForeignKey, Index } from '../model/storage.ts'
import { quoteIdentifier as name } from '../sql/identifier.ts'
import type { Question } from './schema-finding.ts'
import { constant, printOnlyWhen, printWhere } from './schema-print.ts'

/** What a start changes without being asked may touch this many rows; more would hold up writers for too long. */
const ROWS_AT_START = 1_000_000

const SHOWN = 5
const NO_VALUES = `'[]' AS "values"`

export const countRows = (from: string, where = 'true'): Question =>
  `SELECT count(*)::integer AS "rows", ${NO_VALUES} FROM ${from} WHERE ${where}`

/** Finds rows only where there are more than may be changed at a start. */
export const countTooMany = (table: string): Question =>
  `SELECT count(*)::integer AS "rows", ${NO_VALUES} FROM (SELECT 1 FROM ${table} OFFSET ${ROWS_AT_START} LIMIT 1) AS beyond`

export function findDuplicates(from: string, { columns, where }: Index): Question {
  const shown = columns
    .map(column => `coalesce(left(${name(column)}::text, 60), 'null')`)
    .join(` || ' / ' || `)
  const rows = columns.map(column => `${name(column)} IS NOT NULL`)
  if (where !== null) rows.push(printWhere(where))
  const groups =
    `SELECT ${shown} AS value, count(*)::integer AS n FROM ${from} WHERE ${rows.join(' AND ')} ` +
    `GROUP BY ${columns.map(name).join(', ')} HAVING count(*) > 1`
  return sample(groups)
}

export function findOtherValues(from: string, check: Check, values: readonly string[]): Question {
  const column = name(check.column)
  const outside = `${printOnlyWhen(check)} AND ${column} NOT IN (${values.map(constant).join(', ')})`
  return sample(
    `SELECT ${column}::text AS value, count(*)::integer AS n FROM ${from} WHERE ${outside} GROUP BY ${column}`,
  )
}

/** The commonest groups, as `value (n)`. */
function sample(groups: string): Question {
  const values = `(array_agg(value || ' (' || n || ')' ORDER BY n DESC, value COLLATE "C"))[1:${SHOWN}]`
  return `SELECT coalesce(sum(n), 0)::integer AS "rows", coalesce(to_json(${values})::text, '[]') AS "values" FROM (${groups}) AS found`
}

export function findDangling(from: string, to: string | null, key: ForeignKey): Question {
  const set = key.columns.map(column => `future.${name(column)} IS NOT NULL`).join(' AND ')
  if (to === null) return countRows(from, set)
  const equal = key.references.columns.map((column, index) => {
    const own = key.columns[index]
    return own === undefined ? 'false' : `target.${name(column)} = future.${name(own)}`
  })
  return countRows(from, `${set} AND NOT EXISTS (SELECT 1 FROM ${to} AS target WHERE ${equal.join(' AND ')})`)
}
