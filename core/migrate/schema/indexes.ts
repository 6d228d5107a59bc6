import type { Index } from '../../model/storage.ts'
import { alter, printIndex, printVersionTrigger, qualified, VERSION_TRIGGER } from '../../sql/ddl.ts'
import { quoteIdentifier as name } from '../../sql/identifier.ts'
import type { ActualIndex } from './catalogue.ts'
import { tooLarge } from './columns.ts'
import { type Precondition, refusal, type SchemaFinding, type Step, tableStep, withLock } from './finding.ts'
import { literalsOf, sameList } from './literals.ts'
import { matchByName } from './match-tables.ts'
import { mayLose, projection, renamed, type TablePair } from './pair-tables.ts'
import { findDuplicates } from './row-counts.ts'

export function* compareIndexes(pair: TablePair): Generator<SchemaFinding> {
  const { schema, desired, actual } = pair
  const matched = matchByName(desired.indexes, actual.indexes, own(pair), (index, one) =>
    sameIndex(pair, index, one),
  )
  for (const { wanted, actual: former } of matched.renamed) {
    const rename = `ALTER INDEX ${qualified(schema, former.name)} RENAME TO ${name(wanted.name)}`
    const words = `rename index "${former.name}" to "${wanted.name}"`
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
    if (!matched.missing.includes(index) && mayMerge(pair, index)) yield duplicates(pair, index)
}

/** Drops invalid indexes, which a failed CREATE INDEX CONCURRENTLY leaves behind. */
function own({ desired, actual, made }: TablePair): ReadonlySet<string> {
  const names = desired.indexes.map(index => index.name)
  const invalid = actual.indexes.filter(index => !index.valid && names.includes(index.name))
  return new Set([...made.indexes, ...invalid.map(index => index.name)])
}

function sameIndex(pair: TablePair, { columns, unique, where }: Index, actual: ActualIndex): boolean {
  const [one] = where === null ? [null] : renamed(pair, mentioned(pair, actual.where ?? ''))
  const literals = where !== null && 'equals' in where ? [where.equals] : []
  return (
    actual.valid &&
    actual.unique === unique &&
    sameList(columns, renamed(pair, actual.columns)) &&
    (where === null) === (actual.where === null) &&
    one === (where?.column ?? null) &&
    sameList(literals, literalsOf(actual.where ?? '')) &&
    (where !== null && 'notNull' in where) === / IS NOT NULL/.test(actual.where ?? '')
  )
}

/** The columns that an expression of PostgreSQL's printing names. */
function mentioned({ actual }: TablePair, expression: string): readonly string[] {
  const words = [...expression.matchAll(/'(?:[^']|'')*'|"((?:[^"]|"")*)"|([\p{L}_][\p{L}\p{N}_$]*)/gu)]
  const columns = new Set(actual.columns.map(column => column.name))
  return words
    .map(([, quoted, plain]) => quoted?.replaceAll('""', '"') ?? plain ?? '')
    .filter(word => columns.has(word))
}

function* addIndex(pair: TablePair, index: Index): Generator<SchemaFinding> {
  const { schema, desired, actual } = pair
  const create = printIndex(schema, desired.name, index)
  const summary = `add ${index.unique ? 'unique ' : ''}index "${index.name}" to "${desired.name}"`
  const make = create.replace('INDEX', 'INDEX CONCURRENTLY')
  const place = qualified(schema, index.name)
  const undo = `DROP INDEX CONCURRENTLY IF EXISTS ${place}`
  const window = index.unique ? 'contract' : 'expand'
  const made: Step = {
    ...tableStep(actual.name, 'tighten', summary, create),
    ...withLock('writers', actual.name),
    concurrentIndex: { index: place, make, undo },
    window,
  }
  yield made
  const byHand = make.replace(qualified(schema, desired.name), qualified(schema, actual.name))
  yield tooLarge(pair, made, `index "${index.name}" cannot be made at start`, byHand)
  if (index.unique) yield duplicates(pair, index)
}

/** Different values of one type may be the same one of another. */
const mayMerge = ({ desired, columns }: TablePair, index: Index): boolean =>
  index.unique &&
  desired.columns.some(
    column => index.columns.includes(column.name) && mayLose(column, columns.get(column.name)),
  )

function duplicates(pair: TablePair, index: Index): Precondition {
  const { desired } = pair
  const names = index.columns.map(column => {
    const { attribute } = desired.columns.find(one => one.name === column) ?? {}
    return `\`${attribute?.name ?? column}\``
  })
  const what = `${names.join(' with ')} of ${desired.serves} must be unique, but {rows} share a value with another: {values}`
  const question = findDuplicates(projection(pair), index)
  return {
    kind: 'proviso',
    code: 'not-unique',
    table: desired.name,
    question,
    message: `${what}: change these first`,
  }
}

export function* compareTriggers({ schema, desired, actual }: TablePair): Generator<SchemaFinding> {
  const trigger = actual.triggers.find(one => one.name === VERSION_TRIGGER)
  const table = `"${desired.name}"`
  const expands = { ...withLock('writers', actual.name), window: 'expand' } as const
  if (desired.versioned && trigger === undefined) {
    const create = printVersionTrigger(schema, desired.name)
    const words = `let writes to ${table} move its version`
    yield { ...tableStep(actual.name, 'tighten', words, create), ...expands }
  } else if (desired.versioned && trigger?.enabled === false) {
    const enable = alter(schema, desired.name, `ENABLE TRIGGER ${name(VERSION_TRIGGER)}`)
    const words = `let writes to ${table} move its version again`
    yield { ...tableStep(actual.name, 'tighten', words, enable), ...expands }
  } else if (!desired.versioned && trigger !== undefined) {
    const drop = `DROP TRIGGER ${name(VERSION_TRIGGER)} ON ${qualified(schema, desired.name)}`
    yield tableStep(actual.name, 'loosen', `let writes to ${table} move no version`, drop)
  }
}
