import { LruCache } from '../base/lru-cache.ts'
import type { CheckedDocument } from './limits/check-document.ts'

/** Checked documents by their text: what was checked once is not checked again. */
export type KnownDocuments = Pick<LruCache<CheckedDocument>, 'get' | 'set' | 'bytes'>

const BOUNDS = { entries: 2000, bytes: 6_000_000 } as const

/** `serverOptions.cache`: `bounded` keeps those that were asked for lately, `false` none. */
export function openKnownDocuments(cache: unknown): KnownDocuments {
  if (cache === false) return { get: () => undefined, set: () => {}, bytes: 0 }
  return new LruCache<CheckedDocument>(BOUNDS, ({ size }) => size)
}
