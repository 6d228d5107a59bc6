import { ENTRY_OVERHEAD, LruCache } from '../base/lru-cache.ts'
import { entityTag } from '../base/text.ts'
import type { AnswerUses } from '../sql/answer-uses.ts'
import type { Statement } from '../sql/statement.ts'

/** Cached bodies and totals, each with the version of the tables that it was read from. */
export interface AnswerStore {
  body(key: string): CachedAnswer<AnswerBody> | undefined
  total(key: string): CachedAnswer<number> | undefined
  /** `rows`: the ids of the rows in the body; null: unknown. */
  setBody(key: string, version: string, body: AnswerBody, rows: RowIds): void
  setTotal(key: string, version: string, total: number): void
}

export interface CachedAnswer<Value> {
  /** Moves forward when no change since then has touched the answer. */
  version: string
  readonly value: Value
  readonly rows: RowIds
  /** Bytes of memory, without the cache's own entry and the characters of the key. */
  readonly size: number
}

/** null: unknown. */
export type RowIds = readonly number[] | null

/** Bytes of the objects around a cached value, without the cache's own entry. */
const OBJECT_OVERHEAD = 600 - ENTRY_OVERHEAD

export function openAnswerStore(maxBytes: number): AnswerStore {
  const limits = { entries: Number.POSITIVE_INFINITY, bytes: maxBytes }
  const bodies = new LruCache<CachedAnswer<AnswerBody>>(limits, ({ size }) => size)
  // A total takes a few hundred bytes, so a small share of the memory holds those of many lists.
  const totals = new LruCache<CachedAnswer<number>>({ ...limits, bytes: maxBytes / 16 }, ({ size }) => size)
  return {
    body: key => bodies.get(key),
    total: key => totals.get(key),
    setBody(key, version, value, rows) {
      const size = OBJECT_OVERHEAD + value.bytes.length + 8 * (rows?.length ?? 0)
      bodies.set(key, { version, value, rows, size })
    },
    setTotal: (key, version, value) => totals.set(key, { version, value, rows: null, size: OBJECT_OVERHEAD }),
  }
}

/** Allocates an own buffer: a slice of Node's pool would keep the whole pool in memory. */
export function toBody(text: string): AnswerBody {
  const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(text))
  bytes.write(text)
  return { bytes, tag: entityTag(bytes) }
}

/** A read whose answer can be cached. */
export interface CacheableRead {
  /** Equal for equal statements with equal values. */
  readonly key: string
  /**
   * Returns one row: the JSON text or null, and the version of the tables that it was read from. A read with a total
   * takes one more value, the version of the cached total, and returns two more columns: the current version of the
   * total, and the total, or null if the cached one is current.
   */
  readonly statement: Statement
  /** SQL with the same values that returns the text or null, and the total where the read has one. */
  readonly uncachedText: string
  /** SQL of the names of the read's tables (sql/print-versions.ts). */
  readonly tableNames: string
  /** null: every write to its tables may change the answer. With a root, the text follows the ids of its rows. */
  readonly uses: AnswerUses | null
  /** All rows of the answer have this documentId; null: any. */
  readonly documentId: string | null
  /** The key of the total, which the pages of one list share. null: the read has no total. */
  readonly totalKey: string | null
}

export interface ReadResult {
  /** JSON; null: the document does not exist. */
  readonly text: string | null
  readonly total: number | null
}

export interface BodyFormat {
  /** Names everything except the result that `print` depends on: equal keys print equal bodies. */
  readonly formatKey: string
  /** null: the answer has no body. It is not cached. */
  readonly print: (found: ReadResult) => string | null
}

/** Text: a body that was not cached, so its entity tag is not computed yet. */
export type BodyOrText = AnswerBody | string

export interface AnswerBody {
  readonly bytes: Buffer
  /** The entity tag, without quotes. */
  readonly tag: string
}
