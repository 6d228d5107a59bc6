import { LruCache } from '../base/lru-cache.ts'
import { memoize } from '../base/memo.ts'
import type { ContentType } from '../model/model.ts'
import type { Storage } from '../model/storage.ts'
import type { ChangeEvent } from './outbox.ts'

/** `changed`: the lists of a published document may differ from those of its draft. */
export type KnownStatus = 'draft' | 'published' | 'changed'

const BOUNDS = { entries: 10_000, bytes: 2_000_000 } as const

const cacheOf = memoize((_: Storage) => new LruCache<KnownStatus>(BOUNDS, () => 0))

const keyOf = ({ uid }: ContentType, documentId: string): string => `${uid} ${documentId}`

/** Remembers the status of a document after a write. */
export function noteStatus({ type, documentId, changes }: ChangeEvent, storage: Storage): void {
  if (!type.draftAndPublish || type.localized) return
  const statuses = cacheOf(storage)
  const key = keyOf(type, documentId)
  const done = new Set(changes.map(({ action }) => action))
  if (done.has('publish') || done.has('discardDraft')) statuses.set(key, 'published')
  else if (done.has('unpublish') || done.has('create')) statuses.set(key, 'draft')
  else if (statuses.get(key) !== 'draft') statuses.set(key, 'changed')
}

/** May be outdated: a write that relies on it asserts it. An unknown document counts as published. */
export const knownStatus = (type: ContentType, documentId: string, storage: Storage): KnownStatus =>
  cacheOf(storage).get(keyOf(type, documentId)) ?? 'published'
