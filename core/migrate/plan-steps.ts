import { SERVES_WORDS } from '../model/search-words.ts'
import type { Column, SchemaShape, Table } from '../model/storage.ts'
import { alter, printIndex, printRenameKey, printTable, qualified } from '../sql/ddl.ts'
import { quoteIdentifier as ident } from '../sql/identifier.ts'
import { printSearchTrigger, SEARCH_TRIGGER, triggerFunction } from '../sql/search-ddl.ts'
import { printVersionTriggers, VERSION_TRIGGER, versionFunctionOf } from '../sql/version-ddl.ts'
import { planReshape, type ReshapePlan } from './plan-reshape.ts'
import type { ActualColumn, ActualTable, Catalogue } from './schema/catalogue.ts'
import { compareColumns, compareRemovedRows, describeColumn } from './schema/columns.ts'
import { compareSearch } from './schema/compare-search.ts'
import {
  compareChecks,
  compareForeignKeys,
  compareImpossibleIndexes,
  compareIndexes,
  compareTriggers,
  type Neighbours,
} from './schema/compare-table-objects.ts'
import {
  describeDropped,
  describeSuccessor,
  endPrevious,
  type Leftover,
  lossNote,
  refusal,
  renameAdvice,
  type SchemaFinding,
  type SchemaPrecondition,
  type SchemaRefusal,
  type Step,
  sortByPhase,
  step,
  tableStep,
  withLock,
} from './schema/finding.ts'
import { sameList } from './schema/literals.ts'
import { matchTables, refuseTakenNames, refuseTakenTables } from './schema/match-tables.ts'
import { projection, renamed, type TablePair, toPair } from './schema/pair-tables.ts'
import { refuseMissingRecord } from './schema/parse-owned-parts.ts'
import { refuseStaleLinks } from './schema/refuse-stale-links.ts'
import { countLostValues, countRows, findSeveralDocuments } from './schema/row-counts.ts'
import { printVersionsCopy } from './table-versions.ts'

/** How the database is changed to match the model. */
export interface SchemaPlan {
  /** In the order of execution. */
  readonly steps: readonly Step[]
  /** Checked before the first step. A violated one refuses the whole plan. */
  readonly preconditions: readonly SchemaPrecondition[]
  /** Refusals that are known without a query. */
  readonly refusals: readonly SchemaRefusal[]
  /** Tables and columns that the model no longer needs, and that stay in the database. */
  readonly left: readonly Leftover[]
  /** New table names by old ones. */
  readonly renamedTables: ReadonlyMap<string, string>
}

/** Compares the model's tables with the database's. Runs no statement. */
export function planSchema(desired: readonly Table[], catalogue: Catalogue): SchemaPlan {
  if (catalogue.damaged.length > 0) return refuseDamaged(catalogue)
  const found = matchTables(desired, catalogue)
  const matches = desired.map(table => ({ table, actual: found.get(table) }))
  const reshape = planReshape(
    matches.flatMap(({ table, actual }) => toPairs(catalogue, table, actual)),
    catalogue,
  )
  const { pairs } = reshape
  const neighbours = toNeighbours(pairs)
  const created = matches.filter(({ actual }) => actual === undefined).map(({ table }) => table)
  const findings = [
    ...installTrigrams(desired, catalogue),
    ...created.flatMap(table => [...createTable(catalogue, table)]),
    ...pairs.flatMap(pair => [...comparePair(pair, neighbours)]),
    ...reshape.findings,
    ...matches.flatMap(({ table, actual }) => [...refuseForeignTable(catalogue, table, actual)]),
    ...refuseTakenTables(desired, catalogue),
    ...refuseTakenNames(pairs, catalogue),
    ...refuseStaleLinks(created, pairs, catalogue),
    ...findRemovedTables(catalogue, desired, { ...reshape, created }),
  ]
  return toSchemaPlan(findings, pairs)
}

/** Without what the damaged rows record, a comparison would propose wrong changes. */
const refuseDamaged = ({ damaged }: Catalogue): SchemaPlan => ({
  steps: [],
  preconditions: [],
  refusals: damaged,
  left: [],
  renamedTables: new Map(),
})

function toSchemaPlan(findings: readonly SchemaFinding[], pairs: readonly TablePair[]): SchemaPlan {
  const steps = findings.filter(finding => finding.kind === 'step')
  const moved = pairs.filter(pair => pair.desired.name !== pair.actual.name)
  return {
    steps: sortByPhase(steps),
    preconditions: findings.filter(finding => finding.kind === 'precondition'),
    refusals: findings.filter(finding => finding.kind === 'refusal'),
    left: findings.filter(finding => finding.kind === 'left'),
    renamedTables: new Map(moved.map(({ actual, desired }) => [actual.name, desired.name])),
  }
}

function toPairs(catalogue: Catalogue, table: Table, actual: ActualTable | undefined): readonly TablePair[] {
  const made = actual && catalogue.owned.get(actual.name)
  return actual && made ? [toPair(catalogue, table, actual, made)] : []
}

/** What foreign keys need to know of the tables that they reference. */
function toNeighbours(pairs: readonly TablePair[]): Neighbours {
  const byActual = new Map(pairs.map(pair => [pair.actual.name, pair.desired.name]))
  const byWanted = new Map(pairs.map(pair => [pair.desired.name, pair]))
  return {
    wantedName: actual => byActual.get(actual) ?? actual,
    rowsOf: desiredNames => {
      const pair = byWanted.get(desiredNames)
      return pair === undefined ? null : projection(pair).replace(/ AS future$/, '')
    },
  }
}

/** Installs pg_trgm if an index needs it. It is never dropped: other programs may use it. */
function* installTrigrams(
  desired: readonly Table[],
  { schema, trigrams }: Catalogue,
): Generator<SchemaFinding> {
  const table = desired.find(({ indexes }) => indexes.some(index => index.trigrams))
  if (table === undefined || trigrams.schema !== null) return
  const isWords = table.serves.startsWith(SERVES_WORDS)
  const index = isWords ? '`typos` of the search' : 'the index of kind text'
  const what = `${index} of "${table.name}" (${table.serves}) needs the extension pg_trgm`
  const without = isWords ? 'remove `typos`' : 'remove the index'
  const make = `CREATE EXTENSION IF NOT EXISTS pg_trgm WITH SCHEMA ${ident(schema)}`
  if (!trigrams.isAvailable)
    yield refusal(
      'no-extension',
      table.name,
      `${what}, which this server does not have: install it there (Debian: the package postgresql-contrib), or ${without}`,
    )
  else if (!trigrams.mayCreate)
    yield refusal(
      'no-extension',
      table.name,
      `${what}, which this user may not install: run \`${make}\` as the owner of the database, or ${without}`,
    )
  else yield { ...step('create', 'install the extension pg_trgm', make), locks: [] }
}

function* createTable(catalogue: Catalogue, table: Table): Generator<SchemaFinding> {
  const { schema, owned, otherNames, trigrams } = catalogue
  if (otherNames.has(table.name)) return
  yield* refuseTakenIndexes(catalogue, table)
  const statements = [
    printTable(schema, table),
    ...table.indexes.map(index => printIndex(schema, table.name, index, trigrams.schema ?? schema)),
    ...(table.versioned ? printVersionTriggers(schema, table) : []),
    ...(table.searchTriggers ?? []).flatMap(trigger => printSearchTrigger(schema, table.name, trigger)),
  ]
  const referred = table.foreignKeys.map(({ references }) => references.table)
  const dropped = describeDropped(owned.has(table.name), 'rows')
  const summary = `create table "${table.name}" (${table.serves})${dropped}`
  yield { ...tableStep(table.name, 'create', summary, ...statements), ...withLock('writers', ...referred) }
}

/** Finds a table that was renamed by hand: its indexes keep their names. */
function* refuseTakenIndexes(
  { schema, tables, owned }: Catalogue,
  { name, serves, indexes }: Table,
): Generator<SchemaFinding> {
  const names = new Set(indexes.map(index => index.name))
  for (const other of tables.values()) {
    const taken = owned.has(other.name) ? undefined : other.indexes.find(index => names.has(index.name))
    if (taken === undefined) continue
    const what = `table "${name}" (${serves}) needs the index name "${taken.name}", which table "${other.name}" uses`
    const rename = `ALTER TABLE ${qualified(schema, other.name)} RENAME TO ${ident(name)}`
    yield refusal(
      'foreign-index',
      name,
      `${what}: if that is the table under another name, run \`${rename}\`; else rename the index`,
    )
  }
}

function* comparePair(pair: TablePair, neighbours: Neighbours): Generator<SchemaFinding> {
  const columns = [...renameTable(pair), ...compareColumns(pair)]
  yield* columns
  yield* compareKey(pair)
  yield* compareKind(pair)
  yield* compareAttributeTypes(pair)
  yield* compareRemovedRows(pair)
  yield* compareSearch(pair)
  yield* compareIndexes(pair)
  yield* compareImpossibleIndexes(pair)
  yield* compareChecks(pair)
  yield* compareForeignKeys(pair, neighbours)
  yield* compareTriggers(pair, columns.length > 0)
}

function* renameTable({ schema, desired, actual }: TablePair): Generator<SchemaFinding> {
  if (actual.name === desired.name) return
  const rename = alter(schema, actual.name, `RENAME TO ${ident(desired.name)}`)
  const copy = printVersionsCopy(schema, actual.name, desired.name)
  const summary = `rename table "${actual.name}" to "${desired.name}" (${desired.serves})`
  yield tableStep(actual.name, 'rename', summary, rename, printRenameKey(schema, desired.name), copy)
}

function* compareKey(pair: TablePair): Generator<SchemaFinding> {
  const { desired, actual } = pair
  if (sameList(desired.primaryKey, renamed(pair, actual.primaryKey))) return
  const found =
    actual.primaryKey.length === 0 ? 'none' : actual.primaryKey.map(column => `"${column}"`).join(', ')
  const desiredNames = desired.primaryKey.map(column => `"${column}"`).join(', ')
  const what = `table "${actual.name}" (${desired.serves}) needs the primary key ${desiredNames}, but has ${found}`
  yield refusal('key-change', desired.name, `${what}: undo what was changed by hand`)
}

/** A single type shows one document: all others would be out of reach. Previous versions create further ones. */
function* compareKind(pair: TablePair): Generator<SchemaFinding> {
  const { desired, owned } = pair
  if (!desired.shape?.single || owned.shape?.single !== false) return
  yield endPrevious(`make ${desired.serves} a single type`)
  yield {
    kind: 'precondition',
    code: 'several-documents',
    table: desired.name,
    countQuery: findSeveralDocuments(projection(pair)),
    message: `${desired.serves} cannot become a single type, because it has several documents: {values}: delete all but one of them first`,
  }
}

const isMadeByPlinth = ({ name, triggers }: ActualTable): boolean =>
  name.startsWith('plinth_') || triggers.some(trigger => trigger.name.startsWith(VERSION_TRIGGER))

function* refuseForeignTable(
  catalogue: Catalogue,
  table: Table,
  actual: ActualTable | undefined,
): Generator<SchemaFinding> {
  const taken =
    actual === undefined ? catalogue.otherNames.has(table.name) : !catalogue.owned.has(actual.name)
  if (!taken) return
  if (actual && isMadeByPlinth(actual)) return yield refuseMissingRecord(catalogue.schema, table)
  const what = `table "${table.name}" (${table.serves}) is there already and was not made by Plinth`
  const advice =
    'rename that table, give the content-type another `tableName`, or Plinth another `database.schema`'
  yield refusal('foreign-table', table.name, `${what}: ${advice}`)
}

function* findRemovedTables(
  catalogue: Catalogue,
  desired: readonly Table[],
  { pairs, moved, created }: ReshapePlan & { readonly created: readonly Table[] },
): Generator<SchemaFinding> {
  const desiredNames = new Set([...desired.map(table => table.name), ...pairs.map(pair => pair.actual.name)])
  for (const [table, { serves, shape }] of catalogue.owned) {
    const actual = catalogue.tables.get(table)
    if (desiredNames.has(table) || actual === undefined) continue
    const dropOf = (name: string) => `DROP TABLE ${qualified(catalogue.schema, name)}`
    const what = `table "${table}" (${serves}) is no longer in the project and holds {rows}`
    const taken = pairs.find(pair => isSuccessor(pair, table, shape))?.actual.name
    const { lost, advice: successor } = describeSuccessor('table', taken, dropOf)
    const rename = successorsAmong(created, serves)
    const advice = `put it back, ${successor}${rename}, or give its rows up with \`plinth migrate --allow-destructive\`, or with`
    const drop = dropTableSteps(catalogue.schema, actual, serves)
    if (moved.has(table) || serves.startsWith(SERVES_WORDS)) {
      yield* drop
      continue
    }
    yield { kind: 'left', table, column: null, drop }
    yield {
      kind: 'precondition',
      code: 'vanished-table',
      table,
      countQuery: countRows(qualified(catalogue.schema, table)),
      message: `${what}${lost}: ${advice}: ${dropOf(table)}`,
      price: { weight: 'destructive', note: lossNote('{rows}', lost, rename), steps: drop.slice(-1) },
    }
  }
}

/** True if a table is renamed from a removed one, but was found under its own name. */
const isSuccessor = ({ desired }: TablePair, table: string, shape: SchemaShape | null): boolean =>
  desired.renamedFrom === table || (shape !== null && desired.shape?.renamedFrom === shape.uid)

/** The advice to declare a rename, if new tables of the same kind may be successors of a removed one; else empty. */
function successorsAmong(created: readonly Table[], serves: string): string {
  const [, kind, former] = /^(content-type|component) `(.+)`$/.exec(serves) ?? []
  if (kind === undefined || former === undefined) return ''
  const successors = created.flatMap(
    table => (table.shape && new RegExp(`^${kind} \`(.+)\`$`).exec(table.serves)?.[1]) ?? [],
  )
  return renameAdvice(former, successors)
}

/** Drops foreign keys first: dropped tables may reference each other. */
function dropTableSteps(
  schema: string,
  { name: table, foreignKeys, triggers }: ActualTable,
  serves: string,
): readonly Step[] {
  const functions = new Set(triggers.flatMap(({ name }) => ownFunctionOf(name) ?? []))
  const drop = tableStep(
    table,
    'drop',
    `drop table "${table}" (${serves})`,
    `DROP TABLE ${qualified(schema, table)}`,
    ...[...functions].map(name => `DROP FUNCTION IF EXISTS ${qualified(schema, name)}()`),
  )
  if (foreignKeys.length === 0) return [drop]
  const dropKeys = foreignKeys.map(key => alter(schema, table, `DROP CONSTRAINT ${ident(key.name)}`))
  const release = tableStep(table, 'release', `drop the foreign keys of "${table}"`, ...dropKeys)
  const referred = foreignKeys.map(({ references }) => references.table)
  return [{ ...release, ...withLock('everybody', table, ...referred) }, drop]
}

/** The function that only the triggers of one table call; null: another one. */
const ownFunctionOf = (trigger: string): string | null =>
  trigger.startsWith(SEARCH_TRIGGER) ? triggerFunction(trigger) : versionFunctionOf(trigger)

/**
 * Types of attributes that share a column type allow different values: a text may not be an email address. Checks the stored
 * values if the type of an attribute has changed.
 */
function* compareAttributeTypes(pair: TablePair): Generator<SchemaPrecondition> {
  for (const column of pair.desired.columns) {
    const actual = pair.columns.get(column.name)
    const rule = actual && ruleFor(pair, column, actual)
    if (rule) yield valuesPrecondition(pair, column, rule)
  }
}

/** What the new type of an attribute requires of stored values. */
interface Rule {
  /** SQL that is true for the values that the new type allows. */
  readonly holds: (value: string) => string
  /** The fault of all other values, as the end of a sentence. */
  readonly fault: string
  /** True if messages must not contain the values. */
  readonly secret?: true
}

/** undefined: the type did not change, or every value may stay. */
function ruleFor(
  { owned: made }: TablePair,
  { attribute }: Column,
  { name: actual }: ActualColumn,
): Rule | undefined {
  const former = made.kinds.get(actual)
  if (attribute?.kind !== 'scalar' || former === undefined || former === attribute.type) return undefined
  return former === 'password' ? HASHES : RULES[attribute.type]
}

function valuesPrecondition(
  pair: TablePair,
  column: Column,
  { holds, fault, secret }: Rule,
): SchemaPrecondition {
  const value = ident(column.name)
  const which = secret ? fault : `${fault}: {values}`
  return {
    kind: 'precondition',
    code: 'type-change',
    table: pair.desired.name,
    countQuery: countLostValues(projection(pair), value, holds(value)),
    message: `${describeColumn(pair, column)} cannot change its type: values in {rows} ${which}: change those first, or take a new name for the attribute`,
  }
}

const HASHES: Rule = {
  holds: () => 'false',
  fault: 'are hashes of passwords, which are never readable',
  secret: true,
}

/** The same rule as in core/documents/values/parse-scalar.ts. */
const EMAIL =
  '^[^][[:space:]@<>(),;:\\\\"]+@[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?([.][A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?)+$'

const RULES: Readonly<Partial<Record<string, Rule>>> = {
  password: { holds: () => 'false', fault: 'were never hashed, and are no passwords', secret: true },
  email: {
    holds: value => `${value} ~ '${EMAIL}' AND strpos(${value}, '..') = 0 AND length(${value}) <= 254`,
    fault: 'are no email addresses',
  },
  uid: { holds: value => `${value} ~ '^[A-Za-z0-9_.~-]*$'`, fault: 'are no uids' },
  array: { holds: value => `jsonb_typeof(${value}) = 'array'`, fault: 'are no lists' },
  blocks: {
    holds: value => `CASE jsonb_typeof(${value}) WHEN 'array' THEN NOT EXISTS (
      SELECT FROM jsonb_array_elements(${value}) AS block
      WHERE jsonb_typeof(block -> 'type') IS DISTINCT FROM 'string' OR jsonb_typeof(block -> 'children') IS DISTINCT FROM 'array'
    ) END`,
    fault: 'are no blocks',
  },
}
