import type { Check, Column, ForeignKey } from '../../model/storage.ts'
import { alter, printCheck, printForeignKey, printOnlyWhen } from '../../sql/ddl.ts'
import { quoteIdentifier as name } from '../../sql/identifier.ts'
import type { ActualCheck, ActualForeignKey } from './catalogue.ts'
import { called, fillEmpty, lacksValues } from './columns.ts'
import { type Precondition, refusal, type SchemaFinding, tableStep, withLock } from './finding.ts'
import { literalsOf, sameList } from './literals.ts'
import { matchByName } from './match-tables.ts'
import { mayLose, projection, renamed, type TablePair } from './pair-tables.ts'
import { countRows, findDangling, findOtherValues } from './row-counts.ts'

/** The table as the model names it, for names in the database; null: a table that is not there yet. */
export interface Neighbours {
  /** The model's name of a table in the database. */
  wantedName(actual: string): string
  /** The rows of one of the model's tables as they will be; null where it is yet to be made. */
  rowsOf(wanted: string): string | null
}

export function* compareChecks(pair: TablePair): Generator<SchemaFinding> {
  const { desired, actual, made } = pair
  const matched = matchByName(desired.checks, actual.checks, made.constraints, (check, one) =>
    sameCheck(pair, check, one),
  )
  yield* renameAndDrop(pair, matched)
  for (const check of matched.missing) yield* addCheck(pair, check)
  for (const check of desired.checks) if (!matched.missing.includes(check)) yield* keepCheck(pair, check)
}

/** A change of type may leave nothing of a value that has to be there. */
function* keepCheck(pair: TablePair, check: Check): Generator<SchemaFinding> {
  const column = pair.desired.columns.find(one => one.name === check.column)
  if (column === undefined || column.backfill !== undefined || 'oneOf' in check.rule) return
  if (mayLose(column, pair.columns.get(column.name))) yield needsOne(pair, check, column)
}

function sameCheck(pair: TablePair, check: Check, actual: ActualCheck): boolean {
  const columns = [...new Set([check.column, ...(check.onlyWhen ? [check.onlyWhen.column] : [])])].sort()
  const values = 'oneOf' in check.rule ? check.rule.oneOf : []
  const literals = [...(check.onlyWhen ? [check.onlyWhen.equals] : []), ...values]
  return (
    actual.valid &&
    sameList(columns, [...renamed(pair, actual.columns)].sort()) &&
    sameList(literals, literalsOf(actual.definition)) &&
    'notNull' in check.rule === / IS NOT NULL/.test(actual.definition)
  )
}

function* addCheck(pair: TablePair, check: Check): Generator<SchemaFinding> {
  const { schema, desired, actual } = pair
  yield tableStep(
    actual.name,
    'tighten',
    `add check "${check.name}" to "${desired.name}"`,
    alter(schema, desired.name, `ADD ${printCheck(check)}`),
  )
  const column = desired.columns.find(one => one.name === check.column)
  if (column === undefined) return
  const what = called(pair, column)
  if ('oneOf' in check.rule) {
    const question = findOtherValues(projection(pair), check, check.rule.oneOf)
    const advice =
      'put the values back, name them as `renamedFrom` of their successors, or change these rows first'
    const message = `${what} no longer allows values that are in {rows}: {values}: ${advice}`
    yield { kind: 'proviso', code: 'value-in-use', table: desired.name, question, message }
  } else if (column.backfill !== undefined) {
    yield fillEmpty(pair, column, printOnlyWhen(check))
  } else {
    yield needsOne(pair, check, column)
  }
}

const needsOne = (pair: TablePair, check: Check, column: Column): Precondition => ({
  kind: 'proviso',
  code: 'needs-value',
  table: pair.desired.name,
  question: countRows(projection(pair), `${name(column.name)} IS NULL AND ${printOnlyWhen(check)}`),
  message: lacksValues(pair, column),
})

export function* compareForeignKeys(pair: TablePair, neighbours: Neighbours): Generator<SchemaFinding> {
  const { desired, actual, made } = pair
  const same = (key: ForeignKey, one: ActualForeignKey) => sameForeignKey(pair, neighbours, key, one)
  const matched = matchByName(desired.foreignKeys, actual.foreignKeys, made.constraints, same)
  yield* renameAndDrop(pair, matched)
  for (const key of matched.missing) yield* addForeignKey(pair, neighbours, key)
}

function sameForeignKey(
  pair: TablePair,
  neighbours: Neighbours,
  key: ForeignKey,
  actual: ActualForeignKey,
): boolean {
  return (
    actual.valid &&
    sameList(key.columns, renamed(pair, actual.columns)) &&
    key.references.table === neighbours.wantedName(actual.references.table) &&
    sameList(key.references.columns, actual.references.columns) &&
    actual.onDelete === (key.onDelete === 'cascade' ? 'c' : 'n')
  )
}

function* addForeignKey(pair: TablePair, neighbours: Neighbours, key: ForeignKey): Generator<SchemaFinding> {
  const { schema, desired, actual } = pair
  const add = alter(schema, desired.name, `ADD ${printForeignKey(schema, key)}`)
  yield {
    ...tableStep(actual.name, 'tighten', `add foreign key "${key.name}" to "${desired.name}"`, add),
    ...withLock('writers', actual.name, key.references.table),
  }
  const question = findDangling(projection(pair), neighbours.rowsOf(key.references.table), key)
  const what = `table "${desired.name}" (${desired.serves}) has links in {rows} that lead to no row of "${key.references.table}"`
  yield {
    kind: 'proviso',
    code: 'dangling-link',
    table: desired.name,
    question,
    message: `${what}: remove those first`,
  }
}

interface Changes {
  readonly renamed: readonly {
    readonly wanted: { readonly name: string }
    readonly actual: { readonly name: string }
  }[]
  readonly surplus: readonly {
    readonly name: string
    /** Set for a foreign key, which also belongs to the other table. */
    readonly references?: { readonly table: string }
  }[]
  readonly foreign: readonly { readonly name: string }[]
}

function* renameAndDrop(
  { schema, desired, actual: table }: TablePair,
  { renamed, surplus, foreign }: Changes,
): Generator<SchemaFinding> {
  for (const { wanted, actual } of renamed) {
    const action = `RENAME CONSTRAINT ${name(actual.name)} TO ${name(wanted.name)}`
    const summary = `rename constraint "${actual.name}" to "${wanted.name}"`
    const rename = alter(schema, desired.name, action)
    yield { ...tableStep(table.name, 'rename', summary, rename), window: 'expand' }
  }
  for (const { name: constraint, references } of surplus) {
    const drop = alter(schema, desired.name, `DROP CONSTRAINT ${name(constraint)}`)
    const summary = `drop constraint "${constraint}" of "${desired.name}"`
    const tables = references === undefined ? [table.name] : [table.name, references.table]
    yield { ...tableStep(table.name, 'loosen', summary, drop), ...withLock('everybody', ...tables) }
  }
  for (const { name: constraint } of foreign) {
    const what = `constraint "${constraint}" of table "${table.name}" was not made by Plinth`
    yield refusal('foreign-constraint', desired.name, `${what}: rename it`)
  }
}
