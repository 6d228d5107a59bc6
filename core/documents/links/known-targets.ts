import { LruCache } from '../../base/lru-cache.ts'
import { memoize } from '../../base/memo.ts'
import { groupBy } from '../../base/plain-data.ts'
import type { ContentType } from '../../model/model.ts'
import type { Storage } from '../../model/storage.ts'
import type { TargetRef } from '../../query/command.ts'

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

const cacheOf = memoize((_: Storage): TargetCache => new LruCache(BOUNDS, rows => ROW * rows.length))

/**
 * Caches link targets, also under the `ids` of rows that links named. They may be stale: a write that uses them asserts
 * them (optimistic-targets.ts).
 */
export function cacheTargets(
  type: ContentType,
  { rows, ids }: { readonly rows: readonly CachedTarget[]; readonly ids: readonly number[] },
  storage: Storage,
): void {
  const documents = cacheOf(storage)
  const named = new Set(ids)
  for (const [documentId, group] of groupBy(rows, each => each.documentId)) {
    documents.set(keyOf(type, { documentId }), group)
    for (const { id } of group) if (named.has(id)) documents.set(keyOf(type, { id }), group)
  }
}

/** The rows of the document when it was last linked; empty if it is not cached. */
export const cachedTargets = (
  type: ContentType,
  by: TargetRef['by'],
  storage: Storage,
): readonly CachedTarget[] => cacheOf(storage).get(keyOf(type, by)) ?? []

const keyOf = ({ uid }: ContentType, by: TargetRef['by']): string =>
  'id' in by ? `${uid}#${by.id}` : `${uid} ${by.documentId}`
