import { BoundedMap } from '../base/bounded-map.ts'
import type { ContentType } from '../model/model.ts'
import type { Storage } from '../model/storage.ts'
import { groupBy } from './group.ts'

/** A row of a document that a link named. */
export interface KnownRow {
  readonly id: number
  readonly key: number
  readonly documentId: string
  readonly locale: string | null
}

type Known = BoundedMap<readonly KnownRow[]>

/** Documents of a type; some 200 bytes each. */
const BOUNDS = { entries: 10_000, characters: 1_000_000 } as const

const known = new WeakMap<Storage, Map<ContentType, Known>>()

/** Keeps what links led to. It may be gone since, or another: who relies on it has that proved (recall-targets.ts). */
export function learnTargets(type: ContentType, rows: readonly KnownRow[], storage: Storage): void {
  const documents = documentsOf(type, storage)
  for (const [documentId, group] of groupBy(rows, each => each.documentId)) documents.set(documentId, group)
}

/** All rows that the document had when a link last led to it; of one that none led to, none. */
export const rowsKnown = (type: ContentType, documentId: string, storage: Storage): readonly KnownRow[] =>
  known.get(storage)?.get(type)?.get(documentId) ?? []

function documentsOf(type: ContentType, storage: Storage): Known {
  const types = known.get(storage) ?? new Map<ContentType, Known>()
  known.set(storage, types)
  const documents = types.get(type) ?? new BoundedMap(BOUNDS, rows => rows.length)
  types.set(type, documents)
  return documents
}
