import type { Column } from '../../model/storage.ts'
import { qualified, quoteConstant } from '../../sql/ddl.ts'
import { quoteIdentifier as name } from '../../sql/identifier.ts'
import { type Finding, step } from './finding.ts'
import { type Pair, projection } from './pair-tables.ts'
import { findStrays } from './row-counts.ts'

/**
 * Rows of a table that stays which belong to what left the project: versions in a locale, components of an attribute
 * that is gone or no longer takes them. Asked where what is allowed has changed since the last migration.
 */
export function* compareStrays(pair: Pair): Generator<Finding> {
  for (const column of pair.desired.columns) {
    const actual = pair.columns.get(column.name)
    if (column.only === undefined || actual === undefined) continue
    if (pair.made.kinds.get(actual.name) !== kindOf(column)) yield* strays(pair, column, column.only)
  }
}

/** What `plinth_tables` keeps of a column's values: an attribute's type, or the values that mean something. */
export function kindOf({ attribute, only }: Column): string | null {
  if (only !== undefined) return JSON.stringify(only)
  return attribute?.kind === 'scalar' ? attribute.type : null
}

function* strays(pair: Pair, column: Column, only: readonly string[]): Generator<Finding> {
  const { schema, desired } = pair
  const own = name(column.name)
  const others =
    only.length === 0 ? `${own} IS NOT NULL` : `${own} NOT IN (${only.map(quoteConstant).join(', ')})`
  const question = findStrays(projection(pair), own, others)
  const remove = `DELETE FROM ${qualified(schema, desired.name)} WHERE ${others}`
  const words = `remove rows of "${desired.name}" whose ${column.name} is no longer in the project`
  const done = { ...step('drop', `${words} (${desired.serves})`, remove), onlyIf: question }
  yield done
  const what = `table "${desired.name}" (${desired.serves}) has {rows} whose ${column.name} is no longer in the project`
  const advice =
    'put it back, name it as `renamedFrom` of its successor, or give them up with `plinth migrate --allow-destructive`, or with'
  yield {
    kind: 'proviso',
    code: 'vanished-rows',
    table: desired.name,
    question,
    message: `${what}: {values}: ${advice}: ${remove}`,
    price: { weight: 'destructive', note: 'loses {rows}: {values}', steps: [done] },
  }
}
