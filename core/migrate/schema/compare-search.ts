import type { RefillTrigger, SearchTrigger } from '../../model/storage.ts'
import { qualified, quoteConstant } from '../../sql/ddl.ts'
import { quoteIdentifier as ident } from '../../sql/identifier.ts'
import {
  printSearchTrigger,
  printTriggerBody,
  SEARCH_TRIGGER,
  searchTriggerNames,
  triggerFunction,
  watchedColumns,
} from '../../sql/search-ddl.ts'
import { type SchemaFinding, type Step, step, tableStep } from './finding.ts'
import { digestOfBody } from './literals.ts'
import { mayLose, type TablePair } from './pair-tables.ts'
import { hasOtherType } from './read-catalogue.ts'
import { countRows, countTooMany } from './row-counts.ts'

/**
 * Compares the triggers of the full-text search (docs/search.md). Their names contain a digest of their definition, so a
 * changed one is another one. The columns and indexes of the vectors are compared with the table's others.
 */
export function* compareSearch(pair: TablePair): Generator<SchemaFinding> {
  const { schema, desired, actual } = pair
  const triggers = desired.searchTriggers ?? []
  const kept = triggers.filter(trigger => !watchesNewType(pair, trigger))
  const names = new Set(kept.flatMap(searchTriggerNames))
  const former = actual.triggers.filter(one => one.name.startsWith(SEARCH_TRIGGER) && !names.has(one.name))
  if (former.length > 0) {
    const statements = [
      ...former.map(one => `DROP TRIGGER ${ident(one.name)} ON ${qualified(schema, desired.name)}`),
      ...new Set(
        former.map(one => `DROP FUNCTION IF EXISTS ${qualified(schema, triggerFunction(one.name))}()`),
      ),
    ]
    const words = `drop the former search triggers of "${desired.name}"`
    yield { ...tableStep(actual.name, 'loosen', words, ...statements), window: 'contract' }
  }
  for (const trigger of triggers) {
    const isNew = !isThere(pair, trigger)
    if (isNew || !kept.includes(trigger)) yield makeTrigger(pair, trigger)
    const isOutdated = isNew || losesText(pair, trigger)
    if (trigger.kind === 'fill') yield* fillVectors(pair, trigger, isOutdated)
    else if (isOutdated && !isNew) yield refillOwners(pair, trigger)
  }
}

/** PostgreSQL does not change the type of a column that a trigger names: such a trigger is dropped before and created after. */
function watchesNewType({ columns, desired }: TablePair, trigger: SearchTrigger): boolean {
  if (trigger.kind !== 'fill') return false
  const watched = watchedColumns(trigger)
  return desired.columns.some(column => {
    const actual = columns.get(column.name)
    return watched.includes(column.name) && actual !== undefined && hasOtherType(column, actual)
  })
}

/** A change of type shortens a searched text. It calls no trigger. */
function losesText({ columns, desired }: TablePair, trigger: SearchTrigger): boolean {
  const searched = trigger.kind === 'fill' ? watchedColumns(trigger) : trigger.columns
  return desired.columns.some(
    column => searched.includes(column.name) && mayLose(column, columns.get(column.name)),
  )
}

/** Its fill trigger fills the vectors of all rows again. */
const refillOwners = ({ schema }: TablePair, { table, vector }: RefillTrigger): Step =>
  step(
    'fill',
    `fill the search vectors of "${table}" again`,
    `UPDATE ${qualified(schema, table)} SET ${ident(vector)} = NULL`,
  )

function isThere({ schema, actual }: TablePair, trigger: SearchTrigger): boolean {
  const digest = digestOfBody(printTriggerBody(schema, trigger))
  return searchTriggerNames(trigger).every(own =>
    actual.triggers.some(one => one.name === own && one.enabled && one.bodyDigest === digest),
  )
}

function makeTrigger({ schema, desired, actual }: TablePair, trigger: SearchTrigger): Step {
  const words =
    trigger.kind === 'fill'
      ? `let writes to "${desired.name}" fill its search vectors`
      : `let writes to "${desired.name}" fill the search vectors of "${trigger.table}"`
  const statements = printSearchTrigger(schema, desired.name, trigger)
  return { ...tableStep(actual.name, 'fill', words, ...statements), window: 'expand' }
}

/** Rows per transaction outside of the migration's own. */
const BATCH = 1000

/** Rows that were written before the trigger. Setting a vector makes the trigger fill all of them. */
function* fillVectors(
  { schema, desired, actual, columns, manyRows }: TablePair,
  { vectors }: Extract<SearchTrigger, { kind: 'fill' }>,
  isOutdated: boolean,
): Generator<SchemaFinding> {
  const [first] = vectors
  if (!first) return
  const own = vectors.map(({ column }) => column)
  const isEmpty = own.map(column => `${ident(column)} IS NULL`).join(' OR ')
  // Without the trigger, filled vectors may be outdated.
  const isPartial = !isOutdated && own.every(column => columns.has(column))
  const table = qualified(schema, desired.name)
  const before = qualified(schema, actual.name)
  const set = `UPDATE ${table} SET ${ident(first.column)} = NULL`
  const outdated = isOutdated ? 'true' : isEmpty
  const made: Step = {
    ...tableStep(
      actual.name,
      'fill',
      `fill the search vectors of "${desired.name}"`,
      `${set} WHERE ${outdated}`,
    ),
    onlyIf: countRows(before, isPartial ? isEmpty : 'true'),
    concurrentIndex: { index: null, make: printBatches(table, set, outdated), undo: null },
    window: 'expand',
  }
  yield made
  const rows = isPartial ? `(SELECT FROM ${before} WHERE ${isEmpty}) AS empty` : before
  yield {
    kind: 'precondition',
    code: 'too-large',
    table: desired.name,
    countQuery: countTooMany(rows, manyRows),
    message: `the search vectors of "${desired.name}" cannot be filled at start, because the table holds {rows}: \`plinth migrate\` does it while others write`,
    price: { weight: 'slow', note: '{rows}, in small transactions while others write', steps: [made] },
  }
}

/** Not in a transaction: each batch commits. */
const printBatches = (table: string, set: string, outdated: string): string =>
  `DO ${quoteConstant(`
DECLARE
  done integer := 0;
  next integer;
BEGIN
  LOOP
    SELECT max(id) INTO next FROM (SELECT id FROM ${table} WHERE id > done ORDER BY id LIMIT ${BATCH}) AS batch;
    EXIT WHEN next IS NULL;
    ${set} WHERE id > done AND id <= next AND (${outdated});
    done := next;
    COMMIT;
  END LOOP;
END`)}`
