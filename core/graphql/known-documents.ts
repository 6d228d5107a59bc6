import { BoundedMap } from '../base/bounded-map.ts'
import type { CheckedDocument } from './check-document.ts'

/** Checked documents by their text: what was checked once is not checked again. */
export type KnownDocuments = Pick<BoundedMap<CheckedDocument>, 'get' | 'set'>

/** A document is some fifty times its text. */
const GROWTH = 50
const BOUNDS = { entries: 2000, characters: 32_000_000 } as const

/** `serverOptions.cache`: `bounded` keeps those that were asked for lately, `false` none. */
export function openKnownDocuments(cache: unknown): KnownDocuments {
  if (cache === false) return { get: () => undefined, set: () => {} }
  return new BoundedMap<CheckedDocument>(BOUNDS, ({ length }) => length * GROWTH)
}
