import { createHash } from 'node:crypto'
import { PIN_DIGITS } from '../sql/version-ddl.ts'
import type { CacheableRead, RowIds } from './answer-store.ts'

/** A recorded change of one row (sql/version-ddl.ts). */
export interface Change {
  readonly table: string
  /** The layout of `bits`. */
  readonly layout: string
  readonly kind: 'update' | 'insert' | 'delete'
  readonly row: number
  /** The changed columns; 0n unless it is an update. */
  readonly bits: bigint
  /** A digest of the documentId; '' unless it is an insert. */
  readonly document: string
}

/** A shard of a table's version, as a version check returns it. */
export type ShardState = readonly [table: string, shard: number, version: string, changes: string | null]

/**
 * The changes of a shard between two versions; null: unknown. The versions before each record are computed backwards. If
 * none of them is `from`, records are missing, or the database has another history.
 */
export function changesSince(
  [table, , version, records]: ShardState,
  from: string,
): readonly Change[] | null {
  const start = BigInt(from)
  const found: Change[] = []
  let before = BigInt(version)
  // The first part is empty, or the rest of a record that was cut.
  for (const record of (records ?? '').split(';').slice(1).reverse()) {
    const [step, layout, items] = record.split(':')
    if (!step || layout === undefined || items === undefined || items === '*') return null
    for (const item of items.split(',')) found.push(toChange(item, table, layout))
    before -= BigInt(step)
    if (before === start) return found
    if (before < start) return null
  }
  return null
}

const KINDS = { u: 'update', i: 'insert', d: 'delete' } as const

function toChange(item: string, table: string, layout: string): Change {
  const [row = '', rest = ''] = item.slice(1).split('.')
  const kind = KINDS[item[0] as keyof typeof KINDS]
  return {
    ...{ table, layout, kind, row: Number(row) },
    bits: kind === 'update' ? BigInt(rest) : 0n,
    document: kind === 'insert' ? rest : '',
  }
}

/**
 * True if no change can have touched the answer, whatever their order. An update matters only if it changes a column that the
 * statement reads, and for a row outside of the answer only if that column decides which rows are found. Other documents'
 * inserts do not matter to an answer for one document, and removed rows not to the first page without a total.
 */
export function isUnaffected(
  { uses, documentId }: Pick<CacheableRead, 'uses' | 'documentId'>,
  rows: RowIds,
  changes: readonly Change[],
): boolean {
  if (uses === null) return changes.length === 0
  const { tables, root } = uses
  return changes.every(({ table, layout, kind, row, bits, document }) => {
    const used = tables.get(table)
    if (used?.layout !== layout) return false
    if (kind === 'update' && (bits & used.columns) === 0n) return true
    if (root?.table !== table || rows === null) return false
    if (kind === 'insert') return documentId !== null && document !== digestOfDocument(documentId)
    if (rows.includes(row)) return false
    return kind === 'update' ? (bits & root.deciding) === 0n : root.ignoresRemoved
  })
}

const digestOfDocument = (documentId: string): string =>
  createHash('md5').update(documentId).digest('hex').slice(0, PIN_DIGITS)
