import type { Check, Column, ForeignKey, Index } from '../../model/storage.ts'
import { alter, printCheck, printForeignKey, printIndex, printOnlyWhen, qualified } from '../../sql/ddl.ts'
import { quoteIdentifier as ident } from '../../sql/identifier.ts'
import {
  printVersionBody,
  printVersionTriggers,
  VERSION_TRIGGER,
  versionFunctionOf,
  versionTriggerNames,
} from '../../sql/version-ddl.ts'
import type { ActualCheck, ActualForeignKey, ActualIndex, ActualTrigger } from './catalogue.ts'
import { describeColumn, fillEmpty, lacksValues, tooLarge } from './columns.ts'
import {
  refusal,
  type SchemaFinding,
  type SchemaPrecondition,
  type Step,
  tableStep,
  withLock,
} from './finding.ts'
import { digestOfBody, literalsOf, sameList } from './literals.ts'
import { matchByName } from './match-tables.ts'
import { isBackfilled, mayLose, projection, renamed, type TablePair } from './pair-tables.ts'
import { countRows, findDangling, findDuplicates, findOtherValues, isLinkIndex } from './row-counts.ts'

export function* compareIndexes(pair: TablePair): Generator<SchemaFinding> {
  const { schema, desired, actual } = pair
  const matched = matchByName(desired.indexes, actual.indexes, own(pair), (index, one) =>
    sameIndex(pair, index, one),
  )
  for (const { desired: index, actual: former } of matched.renamed) {
    const rename = `ALTER INDEX ${qualified(schema, former.name)} RENAME TO ${ident(index.name)}`
    const words = `rename index "${former.name}" to "${index.name}"`
    yield { ...tableStep(actual.name, 'rename', words, rename), locks: [], window: 'expand' }
  }
  for (const index of matched.surplus) {
    yield tableStep(
      actual.name,
      'loosen',
      `drop index "${index.name}" of "${desired.name}"`,
      `DROP INDEX ${qualified(schema, index.name)}`,
    )
  }
  for (const index of matched.foreign) {
    const what = `index "${index.name}" of table "${actual.name}" was not made by Plinth`
    yield refusal('foreign-index', desired.name, `${what}: rename it`)
  }
  for (const index of matched.missing) yield* addIndex(pair, index)
  for (const index of desired.indexes)
    if (!matched.missing.includes(index) && (mayMerge(pair, index) || isFilled(pair, index)))
      yield duplicates(pair, index)
}

/** Drops invalid indexes, which a failed CREATE INDEX CONCURRENTLY leaves behind. */
function own({ desired, actual, owned }: TablePair): ReadonlySet<string> {
  const names = desired.indexes.map(index => index.name)
  const invalid = actual.indexes.filter(index => !index.valid && names.includes(index.name))
  return new Set([...owned.indexes, ...invalid.map(index => index.name)])
}

function sameIndex(pair: TablePair, index: Index, actual: ActualIndex): boolean {
  const { unique, where, method } = index
  const [one] = where === null ? [null] : renamed(pair, mentioned(pair, actual.where ?? ''))
  const literals = where !== null && 'equals' in where ? [where.equals] : []
  return (
    actual.valid &&
    actual.unique === unique &&
    !actual.nullsEqual &&
    actual.method === (method ?? 'btree') &&
    sameKeys(pair, index, actual) &&
    (where === null) === (actual.where === null) &&
    one === (where?.column ?? null) &&
    sameList(literals, literalsOf(actual.where ?? '')) &&
    (where !== null && 'notNull' in where) === / IS NOT NULL/.test(actual.where ?? '')
  )
}

/** A trigram index has the column, if it is text, and an expression with it. */
function sameKeys(pair: TablePair, { columns, trigrams }: Index, actual: ActualIndex): boolean {
  const named = renamed(pair, actual.columns)
  if (!trigrams) return sameList(columns, named)
  const { column, isText } = trigrams
  return (
    sameList(isText ? [column, null] : [null], named) &&
    sameList([column], renamed(pair, mentioned(pair, actual.expressions ?? '')))
  )
}

/** The columns that an expression of PostgreSQL's printing names. Types of casts, functions and schemas are no columns. */
function mentioned({ actual }: TablePair, expression: string): readonly string[] {
  const words = expression.matchAll(
    /'(?:[^']|'')*'|::\w+|(?:"((?:[^"]|"")*)"|([\p{L}_][\p{L}\p{N}_$]*))([.(])?/gu,
  )
  const columns = new Set(actual.columns.map(column => column.name))
  return [...words]
    .flatMap(([, quoted, plain, next]) =>
      next === undefined ? [quoted?.replaceAll('""', '"') ?? plain ?? ''] : [],
    )
    .filter(word => columns.has(word))
}

function* addIndex(pair: TablePair, index: Index): Generator<SchemaFinding> {
  const { schema, desired, actual } = pair
  const create = printIndex(schema, desired.name, index, pair.trigrams)
  const summary = `add ${index.unique ? 'unique ' : ''}index "${index.name}" to "${desired.name}"`
  const make = create.replace('INDEX', 'INDEX CONCURRENTLY')
  const place = qualified(schema, index.name)
  const undo = `DROP INDEX CONCURRENTLY IF EXISTS ${place}`
  const window = index.unique ? 'contract' : 'expand'
  const step: Step = {
    ...tableStep(actual.name, 'tighten', summary, create),
    ...withLock('writers', actual.name),
    concurrentIndex: { index: place, make, undo },
    window,
  }
  yield step
  const custom = make.replace(qualified(schema, desired.name), qualified(schema, actual.name))
  yield tooLarge(pair, step, `index "${index.name}" cannot be made at start`, custom)
  if (index.unique) yield duplicates(pair, index)
}

/**
 * Values that no index keeps apart are checked where they become unique, or others than they were. Records of versions that
 * did not know which attributes are unique refuse nothing.
 */
export function* compareImpossibleIndexes(pair: TablePair): Generator<SchemaFinding> {
  for (const index of pair.desired.impossibleIndexes ?? [])
    if (becomesUnique(pair, index) || mayMerge(pair, index) || isFilled(pair, index))
      yield duplicates(pair, index)
}

function becomesUnique({ desired, owned, columns }: TablePair, index: Index): boolean {
  const [name] = index.columns
  const column = desired.columns.find(one => one.name === name)
  const former = columns.get(name ?? '')
  if (former === undefined) return (column?.backfill ?? column?.default) !== undefined
  const value = owned.shape?.attributes.find(one => one.kind === 'value' && one.column === former.name)
  return value?.kind === 'value' && value.unique === false
}

/** Different values of one type may be the same one of another. */
const mayMerge = ({ desired, columns }: TablePair, index: Index): boolean =>
  index.unique &&
  desired.columns.some(
    column => index.columns.includes(column.name) && mayLose(column, columns.get(column.name)),
  )

/** The migration gives its columns other values, such as the locale of components or a backfill. */
const isFilled = (pair: TablePair, { unique, columns }: Index): boolean =>
  unique &&
  pair.desired.columns.some(
    column =>
      columns.includes(column.name) &&
      (pair.reshape?.fillings.has(column.name) || isBackfilled(pair, column)),
  )

/**
 * Components without a locale share one scope, although NULLs are distinct in the index. During a reshape NULL may also mean
 * that the future locale is not known yet.
 */
const scopeOf = ({ desired, reshape }: TablePair): 'as-index' | 'shared' =>
  desired.shape?.holder === 'component' && reshape === undefined ? 'shared' : 'as-index'

function duplicates(pair: TablePair, index: Index): SchemaPrecondition {
  const { desired } = pair
  // Every table of components has the column of the locale, also where nothing is localized.
  const named = desired.shape?.holder === 'component' ? index.columns.slice(0, 1) : index.columns
  const names = named.map(column => {
    const { attribute } = desired.columns.find(one => one.name === column) ?? {}
    return `\`${attribute?.name ?? column}\``
  })
  const of = `of ${desired.serves}`
  const what = isLinkIndex(index)
    ? `${names[0]} ${of} lets a document be linked once, but {rows} share a link with another: {values}`
    : `${names.join(' with ')} ${of} must be unique, but {rows} share a value with another: {values}`
  const countQuery = findDuplicates(projection(pair), index, scopeOf(pair))
  return {
    kind: 'precondition',
    code: 'not-unique',
    table: desired.name,
    countQuery,
    message: `${what}: change these first`,
  }
}

/**
 * The triggers of the table's version. The names of those that record changed columns contain a digest of the columns, so
 * triggers for other columns are other ones. A function that was replaced by hand is created again. `isImplied`: other steps change the table's columns.
 */
export function* compareTriggers(pair: TablePair, isImplied: boolean): Generator<SchemaFinding> {
  const { schema, desired, actual } = pair
  const own = actual.triggers.filter(({ name }) => name.startsWith(VERSION_TRIGGER))
  const names = new Set(versionTriggerNames(desired))
  const table = qualified(schema, desired.name)
  const expands = { ...withLock('everybody', actual.name), window: 'expand' } as const
  const disabled = own.filter(({ name, enabled }) => names.has(name) && !enabled)
  const body = printVersionBody(schema, desired)
  const digest = body === null ? null : digestOfBody(body)
  const isOwn = ({ name, bodyDigest }: ActualTrigger) =>
    names.has(name) && (digest === null || bodyDigest === digest)
  if (own.length === names.size && own.every(isOwn)) {
    if (disabled.length === 0) return
    const enable = disabled.map(({ name }) => alter(schema, desired.name, `ENABLE TRIGGER ${ident(name)}`))
    const words = `let writes to "${desired.name}" move its version again`
    return yield { ...tableStep(actual.name, 'tighten', words, ...enable), ...expands }
  }
  const drop = own.map(({ name }) => `DROP TRIGGER ${ident(name)} ON ${table}`)
  const functions = new Set(own.map(({ name }) => versionFunctionOf(name)).filter(name => name !== null))
  const dropAll = [
    ...drop,
    ...[...functions].map(name => `DROP FUNCTION IF EXISTS ${qualified(schema, name)}()`),
  ]
  if (!desired.versioned) {
    const words = `let writes to "${desired.name}" move no version`
    return yield tableStep(actual.name, 'loosen', words, ...dropAll)
  }
  const words = `let writes to "${desired.name}" record what they change`
  const step = tableStep(actual.name, 'tighten', words, ...dropAll, ...printVersionTriggers(schema, desired))
  yield { ...step, ...expands, ...(isImplied && { isImplied }) }
}

/** The table as the model names it, for names in the database; null: a table that is not there yet. */
export interface Neighbours {
  /** The model's name of a table in the database. */
  wantedName(actual: string): string
  /** The rows of one of the model's tables as they will be; null where it is yet to be made. */
  rowsOf(desired: string): string | null
}

export function* compareChecks(pair: TablePair): Generator<SchemaFinding> {
  const { desired, actual, owned } = pair
  const matched = matchByName(desired.checks, actual.checks, owned.constraints, (check, one) =>
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
  const what = describeColumn(pair, column)
  if ('oneOf' in check.rule) {
    const countQuery = findOtherValues(projection(pair), check, check.rule.oneOf)
    const advice =
      'put the values back, name them as `renamedFrom` of their successors, or change these rows first'
    const message = `${what} no longer allows values that are in {rows}: {values}: ${advice}`
    yield { kind: 'precondition', code: 'value-in-use', table: desired.name, countQuery, message }
  } else if (column.backfill !== undefined) {
    yield fillEmpty(pair, column, printOnlyWhen(check))
  } else {
    yield needsOne(pair, check, column)
  }
}

const needsOne = (pair: TablePair, check: Check, column: Column): SchemaPrecondition => ({
  kind: 'precondition',
  code: 'needs-value',
  table: pair.desired.name,
  countQuery: countRows(projection(pair), `${ident(column.name)} IS NULL AND ${printOnlyWhen(check)}`),
  message: lacksValues(pair, column),
})

export function* compareForeignKeys(pair: TablePair, neighbours: Neighbours): Generator<SchemaFinding> {
  const { desired, actual, owned } = pair
  const same = (key: ForeignKey, one: ActualForeignKey) => sameForeignKey(pair, neighbours, key, one)
  const matched = matchByName(desired.foreignKeys, actual.foreignKeys, owned.constraints, same)
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
  const countQuery = findDangling(projection(pair), neighbours.rowsOf(key.references.table), key)
  const what = `table "${desired.name}" (${desired.serves}) has links in {rows} that lead to no row of "${key.references.table}"`
  yield {
    kind: 'precondition',
    code: 'dangling-link',
    table: desired.name,
    countQuery,
    message: `${what}: remove those first`,
  }
}

interface Changes {
  readonly renamed: readonly {
    readonly desired: { readonly name: string }
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
  for (const { desired: constraint, actual } of renamed) {
    const action = `RENAME CONSTRAINT ${ident(actual.name)} TO ${ident(constraint.name)}`
    const summary = `rename constraint "${actual.name}" to "${constraint.name}"`
    const rename = alter(schema, desired.name, action)
    yield { ...tableStep(table.name, 'rename', summary, rename), window: 'expand' }
  }
  for (const { name: constraint, references } of surplus) {
    const drop = alter(schema, desired.name, `DROP CONSTRAINT ${ident(constraint)}`)
    const summary = `drop constraint "${constraint}" of "${desired.name}"`
    const tables = references === undefined ? [table.name] : [table.name, references.table]
    yield { ...tableStep(table.name, 'loosen', summary, drop), ...withLock('everybody', ...tables) }
  }
  for (const { name: constraint } of foreign) {
    const what = `constraint "${constraint}" of table "${table.name}" was not made by Plinth`
    yield refusal('foreign-constraint', desired.name, `${what}: rename it`)
  }
}
