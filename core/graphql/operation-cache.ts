import { LruCache } from '../base/lru-cache.ts'
import { memoryBytes } from '../base/text.ts'
import { countPopulates } from '../query/count-populates.ts'
import type { TextOperation, TextRoot } from './text/text-operation.ts'

/** What follows from an operation and its variables alone, whoever asks. */
export interface ReadyOperation {
  /** Coerced. */
  readonly variables: Readonly<Record<string, unknown>>
  readonly cost: number
  readonly introspection: number
  /** null: it is answered field by field. */
  readonly text: TextOperation | null
}

/** By document, operation and variables: what is asked again is not judged again. */
export type ReadyOperations = Pick<LruCache<Kept>, 'get' | 'set' | 'bytes'>

interface Kept extends ReadyOperation {
  readonly size: number
}

const BOUNDS = { entries: 2000, bytes: 10_000_000 } as const

export function openReadyOperations(cache: unknown): ReadyOperations {
  if (cache === false) return { get: () => undefined, set: () => {}, bytes: 0 }
  return new LruCache<Kept>(BOUNDS, ({ size }) => size)
}

/** Longer variables are hardly sent twice. */
const LONGEST = 1000

/** null: not to be kept. */
export function readyKey(
  text: string,
  operationName: string | null,
  variables: Readonly<Record<string, unknown>>,
): string | null {
  const given = JSON.stringify(variables)
  return given.length > LONGEST ? null : `${given}${JSON.stringify(operationName)}${text}`
}

/** Bytes of an operation, and of the reading that follows from a root field: its objects, and those of a populate in it. */
const OPERATION = 1000
const ROOT = 2500
const POPULATE = 600

/** `document`: bytes of its document, which answers as text hold on to, however long that is known. */
export function keep(ready: ReadyOperation, document: number): Kept {
  const { text } = ready
  const size = text ? text.roots.reduce((sum, root) => sum + sizeOf(root), OPERATION + document) : OPERATION
  return { ...ready, size }
}

/** What is laid out is some four times its key, what is read of it counted. */
const sizeOf = ({ query, layout }: TextRoot): number =>
  ROOT + POPULATE * countPopulates(query.selection) + 4 * memoryBytes(layout.key)
