import { LruCache } from '../../base/lru-cache.ts'
import { groupBy } from '../../base/plain-data.ts'
import type { ContentType } from '../../model/model.ts'
import type { Storage } from '../../model/storage.ts'

/** A row of a document that a link named. */
export interface CachedTarget {
  readonly id: number
  readonly key: number
  readonly documentId: string
  readonly locale: string | null
}

/** By content-type and document. */
type TargetCache = LruCache<readonly CachedTarget[]>

const BOUNDS = { entries: 10_000, bytes: 3_000_000 } as const

/** Bytes of memory. */
const ROW = 150

const known = new WeakMap<Storage, TargetCache>()

/** Keeps what links led to. It may be gone since, or another: who relies on it has that proved (optimistic-targets.ts). */
export function cacheTargets(type: ContentType, rows: readonly CachedTarget[], storage: Storage): void {
  const documents = documentsOf(storage)
  for (const [documentId, group] of groupBy(rows, each => each.documentId))
    documents.set(keyOf(type, documentId), group)
}

/** All rows that the document had when a link last led to it; of one that none led to, none. */
export const cachedTargets = (
  type: ContentType,
  documentId: string,
  storage: Storage,
): readonly CachedTarget[] => known.get(storage)?.get(keyOf(type, documentId)) ?? []

const keyOf = ({ uid }: ContentType, documentId: string): string => `${uid} ${documentId}`

function documentsOf(storage: Storage): TargetCache {
  const documents = known.get(storage) ?? new LruCache(BOUNDS, rows => ROW * rows.length)
  known.set(storage, documents)
  return documents
}
