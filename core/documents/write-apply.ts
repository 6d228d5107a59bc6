import type { Storage } from '../model/storage.ts'
import type { Statement } from '../sql/statement.ts'
import { groupBy } from './group.ts'
import {
  columnsOf,
  printAllocate,
  printDelete,
  printInserts,
  printRelease,
  printUpdate,
  type Tuples,
} from './write-print.ts'
import {
  type ChangedRow,
  type Changes,
  GAP,
  type NewId,
  type NewRow,
  type RowId,
  type RowValue,
} from './write-rows.ts'
import type { WriteTerms } from './write-terms.ts'
import type { Stored } from './written.ts'

/** The ids that new rows got. */
export type NewIds = ReadonlyMap<NewId, number>

/** Rows a statement: its parameters stay of a bounded size. */
const BATCH = 2000

/**
 * Carries changes out: one statement for all new ids, one for each table and set of columns, one for all new rows.
 * All but the first are asked for at the same moment, so that they go out in one round trip, in this order.
 */
export async function applyChanges(changes: Changes, terms: WriteTerms): Promise<NewIds> {
  const ids = await allocate(changes, terms)
  const statements = [...statementsOf(changes, ids, terms.storage)]
  await Promise.all(statements.map(statement => terms.transaction.run(statement)))
  return ids
}

function* statementsOf(changes: Changes, ids: NewIds, storage: Storage): Generator<Statement> {
  const types = (table: string) => columnsOf(storage, table)
  for (const tuples of groupKeys(changes.removals).flatMap(batchesOf))
    yield printDelete(tuples, types(tuples.table))
  for (const [tuples, columns] of groupReleases(changes.releases))
    for (const batch of batchesOf(tuples)) yield printRelease(batch, columns, types(tuples.table))
  for (const [tuples, keys] of groupUpdates(changes.updates, ids))
    for (const batch of batchesOf(tuples)) yield printUpdate(batch, keys, types(tuples.table))
  for (const tables of together(groupInserts(changes.inserts, ids, storage)))
    yield printInserts(tables, types)
}

/** Rows of all tables that one statement takes. */
function together(tables: readonly Tuples[]): readonly (readonly Tuples[])[] {
  const count = tables.reduce((sum, { rows }) => sum + rows.length, 0)
  if (count <= BATCH) return tables.length === 0 ? [] : [tables]
  return tables.flatMap(tuples => batchesOf(tuples).map(batch => [batch]))
}

const batchesOf = (tuples: Tuples): readonly Tuples[] =>
  Array.from({ length: Math.ceil(tuples.rows.length / BATCH) }, (_, index) => ({
    ...tuples,
    rows: tuples.rows.slice(index * BATCH, (index + 1) * BATCH),
  }))

export function numberOf(id: RowId, ids: NewIds): number {
  if (typeof id === 'number') return id
  const number = ids.get(id)
  if (number === undefined) throw new TypeError(`a row of ${id.table} got no id`)
  return number
}

function toStored(value: RowValue, ids: NewIds): Stored {
  if (typeof value !== 'object' || value === null) return value
  return value.kind === 'place' ? numberOf(value.of, ids) * GAP : numberOf(value, ids)
}

/** Rows first, then what else refers to new ones: what is written first has the lower id, whoever links to it. */
async function allocate({ updates, inserts }: Changes, { transaction, schema }: WriteTerms): Promise<NewIds> {
  const wanted = new Map<string, Set<NewId>>()
  const own = inserts.map(({ columns }) => columns.get('id'))
  for (const value of [...own, ...[...inserts, ...updates].flatMap(({ columns }) => [...columns.values()])]) {
    if (typeof value !== 'object' || value === null) continue
    const id = value.kind === 'place' ? value.of : value
    wanted.set(id.table, (wanted.get(id.table) ?? new Set()).add(id))
  }
  if (wanted.size === 0) return new Map()
  const counts = new Map([...wanted].map(([table, ids]) => [table, ids.size]))
  const { rows } = await transaction.run(printAllocate(schema, counts))
  const taken = groupBy(rows, ([place]) => Number(place))
  return new Map(
    [...wanted.values()].flatMap((ids, index) => {
      const numbers = (taken.get(index + 1) ?? [])
        .map(([, number]) => Number(number))
        .toSorted((a, b) => a - b)
      if (numbers.length < ids.size) throw new TypeError('a sequence gave too few ids')
      return [...ids].toSorted((a, b) => a.turn - b.turn).map((id, at) => [id, numbers[at] ?? 0] as const)
    }),
  )
}

interface Keyed {
  readonly table: string
  readonly key: ReadonlyMap<string, Stored>
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

function groupReleases(releases: Changes['releases']): readonly (readonly [Tuples, readonly string[]])[] {
  const groups = groupBy(releases, ({ columns }) => signature(columns))
  return [...groups.values()].flatMap(group => {
    const keyed = group.map(({ table, holding }) => ({ table, key: holding }))
    return groupKeys(keyed).map(tuples => [tuples, group[0]?.columns ?? []] as const)
  })
}

function groupUpdates(updates: readonly ChangedRow[], ids: NewIds): readonly (readonly [Tuples, number])[] {
  const groups = groupBy(updates, ({ table, key, columns }) =>
    signature(table, [...key.keys()], [...columns.keys()]),
  )
  return [...groups.values()].flatMap(group => {
    const [first] = group
    if (first === undefined) return []
    const rows = group.map(({ key, columns }) => [
      ...key.values(),
      ...Array.from(columns.values(), value => toStored(value, ids)),
    ])
    const columns = [...first.key.keys(), ...first.columns.keys()]
    return [[{ table: first.table, columns, rows }, first.key.size] as const]
  })
}

/** Tables in the order in which they were made: what owns links comes before them. */
function groupInserts(inserts: readonly NewRow[], ids: NewIds, storage: Storage): readonly Tuples[] {
  const groups = groupBy(inserts, ({ table }) => table)
  return storage.tables.flatMap(({ name, columns }) => {
    const rows = groups.get(name)
    if (rows === undefined) return []
    const given = columns
      .map(column => column.name)
      .filter(column => column !== 'id' || rows[0]?.columns.has('id'))
    return [
      {
        table: name,
        columns: given,
        rows: rows.map(row => given.map(column => toStored(row.columns.get(column) ?? null, ids))),
      },
    ]
  })
}
