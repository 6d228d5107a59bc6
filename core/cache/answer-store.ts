import { ENTRY_OVERHEAD, LruCache } from '../base/lru-cache.ts'
import { entityTag } from '../base/text.ts'
import type { Body } from './cacheable-read.ts'

/** What is kept for as long as its tables have this version. */
interface Kept<Value> {
  readonly version: string
  readonly value: Value
  /** Bytes of memory, without its entry and the characters of the key. */
  readonly size: number
}

export interface Keep {
  body(key: string): Kept<Body> | undefined
  total(key: string): Kept<number> | undefined
  keepBody(key: string, version: string, body: Body): void
  keepTotal(key: string, version: string, total: number): void
}

/** Bytes that what is kept takes beside its entry and its body: objects. */
const OVERHEAD = 600 - ENTRY_OVERHEAD

/** Bodies and totals, in so many bytes together. */
export function openKeep(maxBytes: number): Keep {
  const bounds = { entries: Number.POSITIVE_INFINITY, bytes: maxBytes }
  const bodies = new LruCache<Kept<Body>>(bounds, ({ size }) => size)
  // A total is some hundred bytes: few of them count for many lists.
  const totals = new LruCache<Kept<number>>({ ...bounds, bytes: maxBytes / 16 }, ({ size }) => size)
  return {
    body: key => bodies.get(key),
    total: key => totals.get(key),
    keepBody: (key, version, value) =>
      bodies.set(key, { version, value, size: OVERHEAD + value.bytes.length }),
    keepTotal: (key, version, value) => totals.set(key, { version, value, size: OVERHEAD }),
  }
}

/** Memory of its own: a piece of a larger one would keep that as long as itself. */
export function toBody(text: string): Body {
  const bytes = Buffer.allocUnsafeSlow(Buffer.byteLength(text))
  bytes.write(text)
  return { bytes, tag: entityTag(bytes) }
}
