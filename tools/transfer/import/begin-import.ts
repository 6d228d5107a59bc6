import type { Database, Transaction } from '../../../core/database/database.ts'
import { retryTransaction } from '../../../core/database/retry-transaction.ts'
import { GAP } from '../../../core/documents/sql/write-rows.ts'
import { inverseListTable } from '../../../core/import/place.ts'
import { isStoredLink } from '../../../core/model/layout.ts'
import type { ContentType } from '../../../core/model/model.ts'
import { quoteIdentifier as ident, quoteText } from '../../../core/sql/identifier.ts'
import type { StreamIndex } from '../index-stream.ts'
import {
  BEGINNING,
  type Checkpoint,
  type Decided,
  readCheckpoints,
  removeCheckpoints,
  removeUnstarted,
  writeCheckpoint,
} from './checkpoint.ts'
import type { ImporterOptions, SkippedDocuments } from './import-options.ts'

/** The stream's documents that the database does not have, by type. */
export type NewDocuments = ReadonlyMap<ContentType, number>

/** An unfinished import of another stream, which must be completed first. */
export interface Unfinished {
  readonly unfinished: Checkpoint
}

export interface Beginning {
  readonly index: StreamIndex
  /** ISO 8601. */
  readonly now: string
  readonly leftOut: SkippedDocuments
}

/** The checkpoint of this stream; null: the import was not started. */
export const findCheckpoint = async (runner: Runner, digest: string): Promise<Checkpoint | null> =>
  (await readCheckpoints(runner)).find(each => each.digest === digest) ?? null

type Runner = Pick<Transaction, 'run'>

/**
 * Reserves the numbers of all new documents once, so that resumed imports use the same ones. Links
 * refer to later documents by these numbers. Numbers of an import that does not begin are not used.
 */
export async function beginImport(
  { index, now, leftOut }: Beginning,
  newDocuments: NewDocuments,
  options: ImporterOptions,
): Promise<Checkpoint | Unfinished> {
  const { database, onConflict } = options
  const decided: Decided = {
    places: await decidePlaces(options),
    keys: await decideKeys(index, newDocuments, options),
    ...(leftOut.faults.length > 0 && { leftOut }),
  }
  return database.transaction(async transaction => {
    await transaction.lock('plinth import')
    const others = await readCheckpoints(transaction)
    const own = others.find(({ digest }) => digest === index.digest)
    if (own) return own
    const digests = others.map(({ digest }) => digest)
    await (onConflict === 'update' ? removeCheckpoints : removeUnstarted)(transaction, digests)
    const [other] = await readCheckpoints(transaction)
    if (other) return { unfinished: other }
    const checkpoint = { digest: index.digest, done: BEGINNING, decided }
    await writeCheckpoint(transaction, checkpoint, now)
    return checkpoint
  })
}

async function decideKeys(
  index: StreamIndex,
  newDocuments: NewDocuments,
  { storage, database }: ImporterOptions,
): Promise<Decided['keys']> {
  const keys: Record<string, 'kept' | number> = {}
  for (const [type, { numbered, highest, documents }] of index.types) {
    const table = storage.table(type).name
    if (numbered && (await isEmpty(database, table))) {
      keys[type.uid] = 'kept'
      await pass(database, table, highest)
    } else if (newDocuments.has(type)) keys[type.uid] = await reserve(database, table, documents)
  }
  return keys
}

async function isEmpty(runner: Runner, table: string): Promise<boolean> {
  const { rows } = await runner.run({
    name: `find whether ${table} is empty`,
    text: `SELECT 1 FROM ${ident(table)} LIMIT 1`,
    values: [],
  })
  return rows.length === 0
}

/** New items are appended to existing lists, except if documents are updated to match the stream. */
async function decidePlaces({
  model,
  storage,
  onConflict,
  database,
}: ImporterOptions): Promise<Decided['places']> {
  const places: Record<string, number> = {}
  if (onConflict === 'update') return places
  for (const { table } of placeColumns({ model, storage }))
    places[table] = (await isEmpty(database, table)) ? 0 : await reserve(database, table, 0)
  return places
}

interface PlaceColumn {
  readonly table: string
  readonly column: string
}

/** The columns that hold positions in lists of the other side. */
function placeColumns({
  model,
  storage,
}: Pick<ImporterOptions, 'model' | 'storage'>): readonly PlaceColumn[] {
  return [...model.contentTypes.values()].flatMap(type =>
    [...type.attributes.values()].flatMap(attribute => {
      const table = isStoredLink(attribute) ? inverseListTable(type, attribute.name, storage) : undefined
      const column = table === undefined ? null : storage.link(type, attribute.name).inversePosition
      return table === undefined || column === null ? [] : [{ table, column }]
    }),
  )
}

/** Later links get positions after the imported ones. */
export async function endImport(digest: string, options: ImporterOptions): Promise<void> {
  const { database } = options
  for (const { table, column } of placeColumns(options)) {
    const { rows } = await database.run({
      name: `find the last place in ${table}`,
      text: `SELECT max(${ident(column)}) FROM ${ident(table)}`,
      values: [],
    })
    const highest = rows[0]?.[0]
    if (typeof highest === 'number') await pass(database, table, Math.ceil(highest / GAP))
  }
  await removeCheckpoints(database, [digest])
}

/** Reserves consecutive numbers; returns the number before the first one. */
const reserve = (database: Database, table: string, count: number): Promise<number> =>
  advance(database, table, last => last + count)

/** Advances the sequence beyond this number. */
const pass = (database: Database, table: string, number: number): Promise<number> =>
  advance(database, table, last => Math.max(last, number))

/**
 * Moves the sequence of a table; returns the last number before (0: none). `ALTER SEQUENCE` blocks `nextval` of others until
 * the transaction ends. It locks nothing else: writes hold several sequences in any order, and would wait for it in a circle.
 */
function advance(database: Database, table: string, to: (last: number) => number): Promise<number> {
  const relation = `${ident(database.schema)}.${ident(table)}`
  return retryTransaction(database, async transaction => {
    const { rows } = await transaction.run({
      name: `find the sequence of ${table}`,
      text: 'SELECT pg_get_serial_sequence($1, $2)',
      values: [relation, 'id'],
    })
    const sequence = String(rows[0]?.[0])
    const read = async () => {
      const held = await transaction.run({
        name: `read the sequence of ${table}`,
        text: `SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM ${sequence}`,
        values: [],
      })
      return Number(held.rows[0]?.[0] ?? 0)
    }
    const before = await read()
    if (to(before) <= before) return before
    await transaction.run({
      name: `hold the sequence of ${table}`,
      text: `ALTER SEQUENCE ${sequence} CACHE 1`,
      values: [],
    })
    const last = await read()
    if (to(last) > last)
      await transaction.run({
        name: 'move a sequence',
        text: `SELECT setval(${quoteText(sequence)}::regclass, $1::bigint)`,
        values: [to(last)],
      })
    return last
  })
}
