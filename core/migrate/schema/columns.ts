import type { Column } from '../../model/storage.ts'
import { alter, printColumn, qualified, quoteConstant } from '../../sql/ddl.ts'
import { quoteIdentifier as ident } from '../../sql/identifier.ts'
import { castOf, isTextType } from './casts.ts'
import type { ActualColumn } from './catalogue.ts'
import {
  describeDropped,
  describeSuccessor,
  lossNote,
  refusal,
  renameAdvice,
  type SchemaFinding,
  type SchemaPrecondition,
  type Step,
  step,
  tableStep,
  withLock,
} from './finding.ts'
import { sameDefault } from './literals.ts'
import {
  converted,
  mayLose,
  projection,
  type TablePair,
  unfilledProjection,
  withNewValues,
} from './pair-tables.ts'
import { columnKindOf } from './parse-owned-parts.ts'
import { CATALOGUE_TYPES, hasOtherType } from './read-catalogue.ts'
import { countLostValues, countRemovedRows, countRows, countTooMany } from './row-counts.ts'

/** Compares the columns of a table with the model. */
export function* compareColumns(pair: TablePair): Generator<SchemaFinding> {
  for (const column of pair.desired.columns) {
    const actual = pair.columns.get(column.name)
    if (actual === undefined) yield* addColumn(pair, column)
    else if (pair.owned.columns.has(actual.name)) yield* changeColumn(pair, column, actual)
    else yield refuseForeignColumn(pair, column)
  }
  yield* compareOtherColumns(pair)
}

/** For messages: the attribute where there is one, and what it belongs to. */
export const describeColumn = ({ desired }: TablePair, { attribute, name: column }: Column): string =>
  `${attribute === undefined ? `column "${column}"` : `\`${attribute.name}\``} of ${desired.serves}`

const alterColumn = ({ schema, desired }: TablePair, column: Column, action: string): string =>
  alter(schema, desired.name, `ALTER COLUMN ${ident(column.name)} ${action}`)

function refuseForeignColumn({ desired }: TablePair, { name: column }: Column) {
  const what = `column "${column}" of table "${desired.name}" (${desired.serves}) was not made by Plinth`
  return refusal('foreign-column', desired.name, `${what}: rename that column, or the attribute`)
}

/** A column that another maker added, and that would prevent every new row. */
function refuseNeededValue({ schema, desired, actual }: TablePair, { name: column }: ActualColumn) {
  const what = `column "${column}" of table "${actual.name}" (${desired.serves}) was not made by Plinth, and is NOT NULL without a default, so that no row could be added`
  const loosen = alter(schema, actual.name, `ALTER COLUMN ${ident(column)} DROP NOT NULL`)
  return refusal('foreign-column', desired.name, `${what}: give it a default, or run: ${loosen}`)
}

function* addColumn(pair: TablePair, column: Column): Generator<SchemaFinding> {
  const { schema, desired } = pair
  if (pair.reshape?.fillings.has(column.name)) return yield* addFilled(pair, column)
  const filling = column.backfill ?? column.default
  const add = alter(schema, desired.name, `ADD COLUMN ${printColumn(column, filling)}`)
  const dropped = describeDropped(pair.owned.columns.has(column.name), 'values')
  const summary = `add column "${column.name}" to "${desired.name}" (${describeColumn(pair, column)})${dropped}`
  const standard = filling === column.default ? [] : [alterColumn(pair, column, defaultAction(column))]
  const expands = [printExpandingColumn(pair, column, filling)]
  yield { ...tableStep(pair.actual.name, 'change', summary, add, ...standard), expands }
  if (!column.nullable && filling === undefined && column.generated === null) yield needsValue(pair, column)
}

/** Rows that know nothing of the column are still written: they get what the rows there get. */
const printExpandingColumn = (pair: TablePair, column: Column, filling: Column['default']): string => {
  const nullable = column.nullable || (filling === undefined && column.generated === null)
  return alter(pair.schema, pair.desired.name, `ADD COLUMN ${printColumn({ ...column, nullable }, filling)}`)
}

/** Empty until the rows are shifted, which fills it. */
function* addFilled(pair: TablePair, column: Column): Generator<SchemaFinding> {
  const { schema, desired, actual } = pair
  const add = alter(
    schema,
    desired.name,
    `ADD COLUMN ${printColumn({ ...column, nullable: true }, undefined)}`,
  )
  const summary = `add column "${column.name}" to "${desired.name}" (${desired.serves})`
  yield tableStep(actual.name, 'change', summary, add)
  if (column.nullable) return
  const require = alterColumn(pair, column, 'SET NOT NULL')
  yield tableStep(actual.name, 'tighten', `require column "${column.name}" of "${desired.name}"`, require)
}

function needsValue(pair: TablePair, column: Column): SchemaPrecondition {
  return {
    kind: 'precondition',
    code: 'needs-value',
    table: pair.desired.name,
    countQuery: countRows(projection(pair), `${ident(column.name)} IS NULL`),
    message: lacksValues(pair, column),
  }
}

/** Columns without an attribute come and go with drafts, locales and the sides of a relation. */
export function lacksValues(pair: TablePair, column: Column): string {
  const advice = column.attribute
    ? 'give the attribute a `backfill`'
    : 'what a row is (drafts, locales, owners) can only change where there are none'
  return `${describeColumn(pair, column)} is required, but {rows} would have no value: ${advice}`
}

function* changeColumn(pair: TablePair, column: Column, actual: ActualColumn): Generator<SchemaFinding> {
  if (column.name !== actual.name) yield renameColumn(pair, column, actual)
  if ((column.generated === 'identity') !== actual.identity) yield refuseChangedIdentity(pair, column)
  yield* renameValues(pair, column, actual)
  if (hasOtherType(column, actual)) yield* changeType(pair, column, actual)
  else if (!actual.identity && !sameDefault(column.type, column.default, actual.default))
    yield changeDefault(pair, column)
  if (column.nullable && !actual.nullable) yield dropNotNull(pair, column)
  if (!column.nullable && actual.nullable) yield* requireValue(pair, column)
}

function renameColumn(
  { schema, desired, actual: table }: TablePair,
  column: Column,
  actual: ActualColumn,
): Step {
  const summary = `rename column "${actual.name}" of "${desired.name}" to "${column.name}"`
  return tableStep(
    table.name,
    'rename',
    summary,
    alter(schema, desired.name, `RENAME COLUMN ${ident(actual.name)} TO ${ident(column.name)}`),
  )
}

function refuseChangedIdentity({ desired }: TablePair, column: Column) {
  const what = `column "${column.name}" of table "${desired.name}" is no longer numbered as Plinth made it`
  return refusal('key-change', desired.name, `${what}: undo what was changed by hand`)
}

const defaultAction = ({ default: value }: Column): string =>
  value === undefined ? 'DROP DEFAULT' : `SET DEFAULT ${quoteConstant(value)}`

const changeDefault = (pair: TablePair, column: Column): Step => ({
  ...tableStep(
    pair.actual.name,
    'change',
    `change the default of ${describeColumn(pair, column)}`,
    alterColumn(pair, column, defaultAction(column)),
  ),
  window: 'contract',
})

const dropNotNull = (pair: TablePair, column: Column): Step =>
  tableStep(
    pair.actual.name,
    'loosen',
    `let ${describeColumn(pair, column)} be empty`,
    alterColumn(pair, column, 'DROP NOT NULL'),
  )

function* requireValue(pair: TablePair, column: Column): Generator<SchemaFinding> {
  if (column.backfill === undefined) yield needsValue(pair, column)
  else yield fillEmpty(pair, column, 'true')
  const require = alterColumn(pair, column, 'SET NOT NULL')
  yield tableStep(pair.actual.name, 'tighten', `require ${describeColumn(pair, column)}`, require)
}

/** Gives the rows that hold nothing the attribute's backfill; `rows` is SQL in the model's names. */
export function fillEmpty(pair: TablePair, column: Column, rows: string): Step {
  const { schema, desired } = pair
  const value = column.backfill === undefined ? 'NULL' : quoteConstant(column.backfill)
  const empty = `${ident(column.name)} IS NULL AND (${rows})`
  const update = `UPDATE ${qualified(schema, desired.name)} SET ${ident(column.name)} = ${value} WHERE ${empty}`
  return {
    ...tableStep(pair.actual.name, 'fill', `fill ${describeColumn(pair, column)} where it is empty`, update),
    onlyIf: countRows(unfilledProjection(pair), empty),
  }
}

function* renameValues(pair: TablePair, column: Column, actual: ActualColumn): Generator<SchemaFinding> {
  const former = [...(column.renamedValues?.keys() ?? [])].map(quoteConstant).join(', ')
  if (former === '') return
  const { schema, desired } = pair
  const columnName = ident(column.name)
  const set = `${columnName} = ${withNewValues(column, columnName)}`
  const update = `UPDATE ${qualified(schema, desired.name)} SET ${set} WHERE ${columnName} IN (${former})`
  yield {
    ...tableStep(pair.actual.name, 'values', `rename values of ${describeColumn(pair, column)}`, update),
    onlyIf: countRows(qualified(schema, pair.actual.name), `${ident(actual.name)} IN (${former})`),
  }
}

function* changeType(pair: TablePair, column: Column, actual: ActualColumn): Generator<SchemaFinding> {
  const actions = [
    'DROP DEFAULT',
    printNewType(column, actual, column.name),
    ...(column.default === undefined ? [] : [defaultAction(column)]),
  ]
  const statements = actions.map(action => alterColumn(pair, column, action))
  const words = describeTypeChange(pair, column, actual)
  const change: Step = { ...tableStep(pair.actual.name, 'change', words, ...statements), window: 'stop' }
  yield change
  if (holdsJsonAsText(pair, column, actual)) yield refuseJsonAsText(pair, column, actual)
  if (mayLose(column, actual)) yield* checkLostValues(pair, column, actual, change)
  if (castOf(actual.type, column)?.rewrites === false) return
  const statement = `ALTER COLUMN ${ident(actual.name)} ${printNewType(column, actual, actual.name)}`
  const what = `${describeImpossibleChange(pair, column, actual)} at start`
  yield tooLarge(pair, change, what, alter(pair.schema, pair.actual.name, statement))
}

/** True if a column of JSON was given the type of a text by hand: its texts are JSON, and not values of a text attribute. */
const holdsJsonAsText = ({ owned }: TablePair, { type }: Column, actual: ActualColumn): boolean =>
  type === 'jsonb' && isTextType(actual.type) && JSON_KINDS.has(owned.kinds.get(actual.name) ?? '')

const JSON_KINDS: ReadonlySet<string> = new Set(['json', 'array', 'blocks'])

/** No SQL of PostgreSQL 14 says whether a text is JSON without an error. */
function refuseJsonAsText(pair: TablePair, column: Column, actual: ActualColumn): SchemaPrecondition {
  const { schema, desired, actual: table } = pair
  const own = ident(actual.name)
  const readBack = `ALTER COLUMN ${own} TYPE jsonb USING ${own}::jsonb`
  const what = `column "${actual.name}" of table "${table.name}" (${describeColumn(pair, column)}) was changed by hand from jsonb to ${actual.type} and has values in {rows}`
  return {
    kind: 'precondition',
    code: 'type-change',
    table: desired.name,
    countQuery: countRows(qualified(schema, table.name), `${own} IS NOT NULL`),
    message: `${what}: give it its type back with: ${alter(schema, table.name, readBack)}`,
  }
}

/** A type without a collation has the one of the database. */
const printNewType = (column: Column, actual: ActualColumn, columnName: string): string => {
  const value = ident(columnName)
  const isSame = actual.type === CATALOGUE_TYPES[column.type]
  return `TYPE ${column.type} USING ${isSame ? `${value}::${column.type}` : converted(column, actual, value)}`
}

const describeTypeChange = (pair: TablePair, column: Column, { type, custom }: ActualColumn): string =>
  `change ${describeColumn(pair, column)} from ${custom ?? type} to ${column.type}`

const describeImpossibleChange = (pair: TablePair, column: Column, { type }: ActualColumn): string =>
  `${describeColumn(pair, column)} cannot change from ${type} to ${column.type}`

/** Values that a change of type would lose, and required attributes that it would leave empty. */
function* checkLostValues(
  pair: TablePair,
  column: Column,
  actual: ActualColumn,
  done: Step,
): Generator<SchemaPrecondition> {
  const { schema, desired } = pair
  const value = ident(actual.name)
  const keeps = castOf(actual.type, column)?.keeps?.(value) ?? 'false'
  const which = pair.owned.kinds.get(actual.name) === 'password' ? '' : ': {values}'
  const advice =
    'change those first, give the attribute its former type, or a new name, or give the values up with `plinth migrate --allow-destructive`'
  yield {
    kind: 'precondition',
    code: 'type-change',
    table: desired.name,
    countQuery: countLostValues(qualified(schema, pair.actual.name), value, keeps),
    message: `${describeImpossibleChange(pair, column, actual)} without loss: values in {rows} do not fit${which}: ${advice}`,
    price: { weight: 'destructive', note: `loses values in {rows}${which}`, steps: [done] },
  }
  if (!column.nullable && !actual.nullable && column.backfill === undefined) yield needsValue(pair, column)
}

const LOCKING = 'locked meanwhile'
const WHILE_OTHERS_WRITE = 'made while others write'

/** Refuses work on so many rows that a start should not do it unasked. */
export const tooLarge = (
  { schema, desired, actual, manyRows }: TablePair,
  done: Step,
  what: string,
  statement: string,
): SchemaPrecondition => ({
  kind: 'precondition',
  code: 'too-large',
  table: desired.name,
  countQuery: countTooMany(qualified(schema, actual.name), manyRows),
  message: `${what}, because the table holds {rows} and would be locked meanwhile: \`plinth migrate\` does it, or run when it suits you: ${statement}`,
  price: {
    weight: 'slow',
    note: `{rows}, ${done.concurrentIndex === null ? LOCKING : WHILE_OTHERS_WRITE}`,
    steps: [done],
  },
})

/** Columns that the model does not have: of attributes that were removed, and of other makers. */
function* compareOtherColumns(pair: TablePair): Generator<SchemaFinding> {
  const kept = new Set([...pair.columns.values()].map(column => column.name))
  for (const column of pair.actual.columns) {
    if (kept.has(column.name)) continue
    if (pair.owned.columns.has(column.name)) yield* removeColumn(pair, column)
    else if (column.needsValue) yield refuseNeededValue(pair, column)
  }
}

function* removeColumn(pair: TablePair, column: ActualColumn): Generator<SchemaFinding> {
  const { schema, desired, actual } = pair
  const drop = dropColumn(pair, column)
  if (pair.reshape?.moved.has(column.name) || column.type === CATALOGUE_TYPES.tsvector) yield drop
  else {
    yield { kind: 'left', table: desired.name, column: column.name, drop: [drop] }
    yield requireNoValues(pair, column, drop)
  }
  if (column.nullable || column.identity || actual.primaryKey.includes(column.name)) return
  const release = alter(schema, desired.name, `ALTER COLUMN ${ident(column.name)} DROP NOT NULL`)
  const words = `let the abandoned column "${column.name}" of "${desired.name}" be empty`
  yield tableStep(actual.name, 'loosen', words, release)
}

/** Its foreign key goes with it, which is a part of the other table as well. */
function dropColumn({ schema, desired, actual }: TablePair, { name: column }: ActualColumn): Step {
  const keys = actual.foreignKeys.filter(({ columns }) => columns.includes(column))
  const summary = `drop column "${column}" of "${desired.name}" (${desired.serves})`
  const drop = alter(schema, desired.name, `DROP COLUMN ${ident(column)}`)
  return {
    ...tableStep(actual.name, 'drop', summary, drop),
    ...withLock('everybody', actual.name, ...keys.map(({ references }) => references.table)),
  }
}

function requireNoValues(pair: TablePair, { name: column }: ActualColumn, dropped: Step): SchemaPrecondition {
  const { schema, desired, actual } = pair
  const isTaken = ({ name, renamedFrom }: Column) =>
    renamedFrom === column && pair.columns.get(name)?.name === name
  const what = `column "${column}" of table "${actual.name}" (${desired.serves}) is no longer in the project and has values in {rows}`
  const dropOf = (name: string) => alter(schema, actual.name, `DROP COLUMN ${ident(name)}`)
  const { lost, advice } = describeSuccessor('column', desired.columns.find(isTaken)?.name, dropOf)
  const rename = lost === '' ? renameAdvice(column, successorsOf(pair, column)) : ''
  return {
    kind: 'precondition',
    code: 'vanished-column',
    table: desired.name,
    countQuery: countRows(qualified(schema, actual.name), `${ident(column)} IS NOT NULL`),
    message: `${what}${lost}: put the attribute back, ${advice}${rename}, or give its values up with \`plinth migrate --allow-destructive\`, or with: ${dropOf(column)}`,
    price: { weight: 'destructive', note: lossNote('values in {rows}', lost, rename), steps: [dropped] },
  }
}

/** New attributes of the type that a removed one had. */
const successorsOf = ({ desired, columns, owned }: TablePair, removed: string): readonly string[] =>
  desired.columns.flatMap(column =>
    column.attribute && !columns.has(column.name) && columnKindOf(column) === owned.kinds.get(removed)
      ? [column.attribute.name]
      : [],
  )

/**
 * Rows of a table that stays which belong to what left the project: versions in a locale, components of an attribute
 * that is gone or no longer takes them. Asked where what is allowed has changed since the last migration.
 */
export function* compareRemovedRows(pair: TablePair): Generator<SchemaFinding> {
  for (const column of pair.desired.columns) {
    const actual = pair.columns.get(column.name)
    if (column.only === undefined || actual === undefined) continue
    if (pair.owned.kinds.get(actual.name) !== columnKindOf(column))
      yield* checkRemovedRows(pair, column, column.only)
  }
}

function* checkRemovedRows(
  pair: TablePair,
  column: Column,
  only: readonly string[],
): Generator<SchemaFinding> {
  const { schema, desired } = pair
  const columnName = ident(column.name)
  const others =
    only.length === 0
      ? `${columnName} IS NOT NULL`
      : `${columnName} NOT IN (${only.map(quoteConstant).join(', ')})`
  const countQuery = countRemovedRows(projection(pair), columnName, others)
  const remove = `DELETE FROM ${qualified(schema, desired.name)} WHERE ${others}`
  const words = `remove rows of "${desired.name}" whose ${column.name} is no longer in the project`
  const done = { ...step('drop', `${words} (${desired.serves})`, remove), onlyIf: countQuery }
  yield done
  const what = `table "${desired.name}" (${desired.serves}) has {rows} whose ${column.name} is no longer in the project`
  const advice =
    'put it back, name it as `renamedFrom` of its successor, or give them up with `plinth migrate --allow-destructive`, or with'
  yield {
    kind: 'precondition',
    code: 'vanished-rows',
    table: desired.name,
    countQuery,
    message: `${what}: {values}: ${advice}: ${remove}`,
    price: { weight: 'destructive', note: 'loses {rows}: {values}', steps: [done] },
  }
}
