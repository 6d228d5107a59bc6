import { groupBy } from '../../base/plain-data.ts'
import type { Storage } from '../../model/storage.ts'
import type { Statement } from '../../sql/statement.ts'
import type { DesiredCell, Slot } from '../desired-state.ts'
import { nextId, sequenceOf, sequencesOf } from '../sql/known-sequences.ts'
import {
  type Allocation,
  type Assertion,
  type Inserted,
  type Insertion,
  printAllocate,
  printAssertion,
  printChanges,
  printShortInsert,
  type ReturningQuery,
  type Update,
} from '../sql/print-changes.ts'
import { columnsOf, printedTable, printReleaseMatch, type Released, type Tuples } from '../sql/write-print.ts'
import {
  type ChangedRow,
  type Changes,
  countChanges,
  GAP,
  isNew,
  type NewId,
  type NewRow,
  type RowId,
  type RowValue,
} from '../sql/write-rows.ts'
import type { WriteOptions, WritePlanOptions } from './write-options.ts'

/** The ids that new rows got. */
export type NewIds = ReadonlyMap<NewId, number>

/** Rows per statement: bounds the size of its parameters. */
const BATCH = 2000

/**
 * Applies changes: one statement for each table and set of columns, one for all new rows. The statements are sent without
 * waiting for results, so that they share a round trip with the next query. The statement of the new rows allocates their
 * ids itself; with `allocatesFirst` a statement before it does, and the ids are returned.
 */
export async function applyChanges(
  changes: Changes,
  options: WriteOptions,
  { allocatesFirst = false, assertion }: ApplyOptions = {},
): Promise<NewIds> {
  const wanted = wantedIds(changes)
  const isAllocated = allocatesFirst || changes.inserts.length > BATCH || changes.updates.some(refersToNew)
  const ids = isAllocated ? await allocate(wanted, options) : new Map<NewId, number>()
  const allocation = isAllocated ? NO_ALLOCATION : await allocationOf(wanted, options)
  if (assertion && allocation.count === 0) options.transaction.send(printAssertion(assertion))
  for (const statement of statementsOf(changes, { ids, allocation, assertion }, options.storage))
    options.transaction.send(statement)
  return ids
}

/** The one statement that inserts new rows and answers `returning`; undefined: the changes need several statements. */
export async function printNew(
  changes: Changes,
  options: WritePlanOptions,
  returning: ReturningQuery<Slot> | undefined,
): Promise<Statement | undefined> {
  const allocation = await allocationOf(wantedIds(changes), options)
  const numbers = { ids: new Map(), allocation, assertion: options.assertion, returning }
  const [statement, ...others] = statementsOf(changes, numbers, options.storage)
  return allocation.count > 0 && others.length === 0 ? statement : undefined
}

/** New rows as parts of a statement that has an allocation of `ids` in `allocated$`. */
export interface PrintedInserts {
  /** Expressions, to be evaluated in this order. */
  readonly ids: readonly string[]
  readonly parts: readonly string[]
}

/** Prints new rows of a stored document. `key` represents its key, which the statement has to append to the ids. */
export function printInserts(
  changes: Changes,
  key: NewId,
  { storage, sequences }: Pick<WritePlanOptions, 'storage'> & Pick<Allocation, 'sequences'>,
  values: unknown[],
): PrintedInserts {
  const ids = [...wantedIds(changes).values()].flat().filter(id => id !== key)
  const places = new Map([...ids, key].map((id, index) => [id, index + 1]))
  const allocation = { ...NO_ALLOCATION, places }
  const inserts = groupInserts(changes.inserts, { ids: new Map(), allocation, assertion: undefined }, storage)
  return {
    ids: ids.map(({ table }) => nextId(sequenceOf(sequences, table))),
    parts: inserts.map(each => printShortInsert(each, columnsOf(storage, each.table), values)),
  }
}

interface ApplyOptions {
  readonly allocatesFirst?: boolean
  /** Fails all changes if it is false. */
  readonly assertion?: Assertion | undefined
}

/** The ids that are known, and those that the statement of the new rows allocates. */
interface RowIds {
  readonly ids: NewIds
  readonly allocation: PlacedAllocation
  readonly assertion: Assertion<Slot> | undefined
  readonly returning?: ReturningQuery<Slot> | undefined
}

const refersToNew = ({ columns }: ChangedRow): boolean => [...columns.values()].some(isNew)

function* statementsOf(changes: Changes, numbers: RowIds, storage: Storage): Generator<Statement> {
  const options = { typesOf: (table: string) => columnsOf(storage, table), ...numbers }
  const removals = groupKeys(changes.removals)
  const updates = groupUpdates(changes.updates, numbers.ids)
  const inserts = groupInserts(changes.inserts, numbers, storage)
  if (changes.releases.length === 0 && areIndependent([...removals, ...updates, ...inserts], changes.links)) {
    if (countChanges(changes) > 0) yield printChanges({ removals, updates, inserts }, options)
    return
  }
  for (const each of removals.flatMap(batchesOf)) yield printChanges({ removals: [each] }, options)
  for (const { tuples, ...released } of groupReleases(changes.releases))
    for (const batch of batchesOf(tuples))
      yield printReleaseMatch(batch, released, options.typesOf(tuples.table))
  for (const each of updates.flatMap(batchesOf)) yield printChanges({ updates: [each] }, options)
  for (const tables of groupIndependent(inserts)) yield printChanges({ inserts: tables }, options)
}

/** True if the changes are independent and can run as one statement: rows of different tables, or links. */
function areIndependent(groups: readonly (Tuples | Insertion)[], links: ReadonlySet<string>): boolean {
  const rows = groups.reduce((sum, group) => sum + group.rows.length, 0)
  const tables = groups.map(({ table }) => table).filter(table => !links.has(table))
  return rows <= BATCH && new Set(tables).size === tables.length
}

/** Groups of inserts. Each group is one statement. */
function groupIndependent(tables: readonly Insertion[]): readonly (readonly Insertion[])[] {
  const count = tables.reduce((sum, { rows }) => sum + rows.length, 0)
  if (count <= BATCH) return tables.length === 0 ? [] : [tables]
  return tables.flatMap(tuples => batchesOf(tuples).map(batch => [batch]))
}

const batchesOf = <Rows extends { readonly rows: readonly (readonly unknown[])[] }>(
  tuples: Rows,
): readonly Rows[] =>
  tuples.rows.length <= BATCH
    ? [tuples]
    : Array.from({ length: Math.ceil(tuples.rows.length / BATCH) }, (_, index) => ({
        ...tuples,
        rows: tuples.rows.slice(index * BATCH, (index + 1) * BATCH),
      }))

export function numberOf(id: RowId, ids: NewIds): number {
  if (typeof id === 'number') return id
  const number = ids.get(id)
  if (number === undefined) throw new TypeError(`a row of ${id.table} got no id`)
  return number
}

function toCell(value: RowValue, ids: NewIds): DesiredCell {
  if (!isNew(value)) return value
  return value.kind === 'place' ? numberOf(value.of, ids) * GAP : numberOf(value, ids)
}

/** By table, in the order of allocation: rows that are written first have lower ids, regardless of links. */
type WantedIds = ReadonlyMap<string, readonly NewId[]>

function wantedIds({ updates, inserts }: Changes): WantedIds {
  const wanted = new Map<string, Set<NewId>>()
  for (const { columns } of [...inserts, ...updates]) {
    for (const value of columns.values()) {
      if (!isNew(value)) continue
      const id = value.kind === 'place' ? value.of : value
      const ids = wanted.get(id.table)
      if (ids) ids.add(id)
      else wanted.set(id.table, new Set([id]))
    }
  }
  return new Map(
    Array.from(wanted, ([table, ids]) => [table, [...ids].sort((a, b) => a.turn - b.turn)] as const),
  )
}

const countsOf = (wanted: WantedIds): ReadonlyMap<string, number> =>
  new Map(Array.from(wanted, ([table, ids]) => [table, ids.length] as const))

async function allocate(wanted: WantedIds, { transaction, schema }: WriteOptions): Promise<NewIds> {
  if (wanted.size === 0) return new Map()
  const { rows } = await transaction.run(printAllocate(schema, countsOf(wanted)))
  const taken = groupBy(rows, ([place]) => Number(place))
  return new Map(
    [...wanted.values()].flatMap((ids, index) => {
      const numbers = (taken.get(index + 1) ?? [])
        .map(([, number]) => Number(number))
        .toSorted((a, b) => a - b)
      if (numbers.length < ids.length) throw new TypeError('a sequence gave too few ids')
      return ids.map((id, at) => [id, numbers[at] ?? 0] as const)
    }),
  )
}

/** The ids that the statement of new rows allocates, and the position of each in its list of ids. */
interface PlacedAllocation extends Allocation {
  readonly places: ReadonlyMap<NewId, number>
}

const NO_ALLOCATION: PlacedAllocation = {
  counts: new Map(),
  count: 0,
  sequences: new Map(),
  places: new Map(),
}

async function allocationOf(wanted: WantedIds, options: WritePlanOptions): Promise<PlacedAllocation> {
  if (wanted.size === 0) return NO_ALLOCATION
  const ids = [...wanted.values()].flat()
  const places = new Map(ids.map((id, index) => [id, index + 1]))
  const sequences = await sequencesOf(options)
  return { counts: countsOf(wanted), count: ids.length, sequences, places }
}

interface Keyed {
  readonly table: string
  readonly key: ReadonlyMap<string, DesiredCell>
}

const signature = (...parts: readonly (string | readonly string[])[]): string => JSON.stringify(parts)

function groupKeys(rows: readonly Keyed[]): readonly Tuples[] {
  const groups = groupBy(rows, ({ table, key }) => signature(table, [...key.keys()]))
  return [...groups.values()].flatMap(group => {
    const [first] = group
    return first === undefined
      ? []
      : [
          {
            table: first.table,
            columns: [...first.key.keys()],
            rows: group.map(({ key }) => [...key.values()]),
          },
        ]
  })
}

interface ReleasedRows extends Released {
  readonly tuples: Tuples
}

function groupReleases(releases: Changes['releases']): readonly ReleasedRows[] {
  const groups = groupBy(releases, ({ columns, filled }) => signature(columns, filled ? 'filled' : ''))
  return [...groups.values()].flatMap(group => {
    const keyed = group.map(({ table, holding }) => ({ table, key: holding }))
    const { columns = [], filled = false } = group[0] ?? {}
    return groupKeys(keyed).map(tuples => ({ tuples, columns, filled }))
  })
}

function groupUpdates(updates: readonly ChangedRow[], ids: NewIds): readonly Update[] {
  const groups = groupBy(updates, ({ table, key, columns }) =>
    signature(table, [...key.keys()], [...columns.keys()]),
  )
  return [...groups.values()].flatMap(group => {
    const [first] = group
    if (first === undefined) return []
    const rows = group.map(({ key, columns }) => [
      ...key.values(),
      ...Array.from(columns.values(), value => toCell(value, ids)),
    ])
    const columns = [...first.key.keys(), ...first.columns.keys()]
    return [{ table: first.table, columns, rows, keys: first.key.size }]
  })
}

/** Tables in the order of their creation: owners come before their links. */
function groupInserts(inserts: readonly NewRow[], numbers: RowIds, storage: Storage): readonly Insertion[] {
  const groups = groupBy(inserts, ({ table }) => table)
  const tables = [...groups.keys()].map(name => printedTable(storage, name)).sort((a, b) => a.place - b.place)
  return tables.map(({ name, columns }) => {
    const rows = groups.get(name) ?? []
    const isNumbered = rows[0]?.columns.has('id')
    const input = [...columns.keys()].filter(column => column !== 'id' || isNumbered)
    return {
      table: name,
      columns: input,
      rows: rows.map(row => input.map(column => toInserted(row.columns.get(column) ?? null, numbers))),
    }
  })
}

function toInserted(value: RowValue, { ids, allocation }: RowIds): Inserted {
  if (!isNew(value)) return value
  const place = allocation.places.get(value.kind === 'place' ? value.of : value)
  return place === undefined ? toCell(value, ids) : { allocated: place }
}
