import type { Values } from '../../core/documents/desired-state.ts'
import { type Current, loadDocuments } from '../../core/documents/rows/write-load.ts'
import type { WriteOptions } from '../../core/documents/rows/write-options.ts'
import type { CurrentRow } from '../../core/documents/sql/write-rows.ts'
import { linksIn, namingColumn } from '../../core/import/links.ts'
import type { ContentType, Holder } from '../../core/model/model.ts'
import { quoteIdentifier as ident } from '../../core/sql/identifier.ts'

/** A loaded document. */
export interface LoadedDocument extends DocumentName {
  readonly rows: readonly CurrentRow[]
}

export interface DocumentBatch {
  readonly documents: readonly LoadedDocument[]
  readonly current: Current
}

/** The number of documents in memory at once. */
const BATCH = 250

/** Reads all documents of a type in key order, with as many statements per batch as there are tables. */
export async function* readDocuments(
  type: ContentType,
  options: WriteOptions,
): AsyncGenerator<DocumentBatch> {
  let after = 0
  for (;;) {
    const ids = await readIds(type, after, options)
    const last = ids.at(-1)
    if (last === undefined) return
    const documentIds = ids.map(({ documentId }) => documentId)
    const current = await loadDocuments(type, documentIds, options)
    yield { documents: ids.map(id => ({ ...id, rows: current.rows(type, id.documentId) })), current }
    after = last.key
  }
}

interface DocumentName {
  readonly documentId: string
  readonly key: number
}

async function readIds(
  type: ContentType,
  after: number,
  { transaction, storage }: WriteOptions,
): Promise<readonly DocumentName[]> {
  const table = storage.table(type)
  const key = ident(table.key)
  const { rows } = await transaction.run({
    name: `read which ${type.pluralApiId} there are`,
    text: `SELECT ${key}, min(${ident(table.documentId)}) FROM ${ident(table.name)} WHERE ${key} > $1 GROUP BY ${key} ORDER BY ${key} LIMIT ${BATCH}`,
    values: [after],
  })
  return rows.map(([number, documentId]) => ({ documentId: String(documentId), key: Number(number) }))
}

/** The number of documents of a type. */
export async function countDocuments(
  type: ContentType,
  { transaction, storage }: WriteOptions,
): Promise<number> {
  const table = storage.table(type)
  const { rows } = await transaction.run({
    name: `count ${type.pluralApiId}`,
    text: `SELECT count(DISTINCT ${ident(table.key)}) FROM ${ident(table.name)}`,
    values: [],
  })
  return Number(rows[0]?.[0] ?? 0)
}

/** The keys of link targets, by type. */
export type Targets = Map<ContentType, Set<number>>

export function collectTargets(holder: Holder, values: Values, targets: Targets): void {
  for (const { attribute, target } of linksIn(holder, values)) {
    const keys = targets.get(attribute.target) ?? new Set<number>()
    targets.set(attribute.target, keys)
    if (target.key !== undefined) keys.add(target.key)
  }
}

type NameOf = (type: ContentType, key: number) => string | undefined

/** One statement per type. */
export async function readNames(targets: Targets, options: WriteOptions): Promise<NameOf> {
  const names = new Map<ContentType, ReadonlyMap<number, string>>()
  const reads = [...targets].map(async ([type, keys]) => {
    names.set(type, await readNamesOf(type, [...keys], options))
  })
  await Promise.all(reads)
  return (type, key) => names.get(type)?.get(key)
}

async function readNamesOf(
  type: ContentType,
  keys: readonly number[],
  { transaction, storage }: WriteOptions,
): Promise<ReadonlyMap<number, string>> {
  if (keys.length === 0) return new Map()
  const table = storage.table(type)
  const { rows } = await transaction.run({
    name: `read names of ${type.pluralApiId}`,
    text: `SELECT DISTINCT ${ident(table.key)}, ${ident(namingColumn(type, storage, 'documentId'))} FROM ${ident(table.name)} WHERE ${ident(table.key)} = ANY ($1::integer[])`,
    values: [keys],
  })
  return new Map(rows.map(([key, called]) => [Number(key), String(called)]))
}
