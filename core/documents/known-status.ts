import { LruCache } from '../base/lru-cache.ts'
import { memoize } from '../base/memo.ts'
import type { ContentType } from '../model/model.ts'
import type { Storage } from '../model/storage.ts'
import type { ChangeEvent } from './outbox.ts'

/** `changed`: the lists of a published document may differ from those of its draft. Published ones are not kept. */
export type KnownStatus = 'draft' | 'published' | 'changed'

const BOUNDS = { entries: 10_000, bytes: 2_000_000 } as const

const cacheOf = memoize((_: Storage) => new LruCache<Exclude<KnownStatus, 'published'>>(BOUNDS, () => 0))

/** One version of a document; `locale`: null on types without locales. */
interface VersionName {
  readonly type: ContentType
  readonly documentId: string
  readonly locale: string | null
}

const keyOf = ({ type, documentId, locale }: VersionName): string => `${type.uid} ${documentId} ${locale}`

/** Remembers the status of a document's locales after a write. */
export function noteStatus({ type, documentId, changes }: ChangeEvent, storage: Storage): void {
  if (!type.draftAndPublish) return
  const statuses = cacheOf(storage)
  // A change of status comes after the save that it belongs to.
  const last = new Map(changes.map(({ locale, action }) => [locale, action]))
  for (const [locale, action] of last) {
    const key = keyOf({ type, documentId, locale })
    if (action === 'publish' || action === 'discardDraft') statuses.delete(key)
    else if (action === 'unpublish' || action === 'create') statuses.set(key, 'draft')
    else if (statuses.get(key) !== 'draft') statuses.set(key, 'changed')
  }
}

/** May be outdated: a write that relies on it asserts it. An unknown document counts as published. */
export const knownStatus = (version: VersionName, storage: Storage): KnownStatus =>
  cacheOf(storage).get(keyOf(version)) ?? 'published'
