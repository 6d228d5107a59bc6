import { LruCache } from '../base/lru-cache.ts'
import { memoryBytes } from '../base/text.ts'
import { countPopulates } from '../query/populate-nodes.ts'
import type { CheckedDocument } from './limits/check-document.ts'
import type { TextOperation, TextRoot } from './text/text-operation.ts'

/** What follows from an operation and its variables alone, whoever asks. */
export interface OperationPlan {
  /** Coerced. */
  readonly variables: Readonly<Record<string, unknown>>
  readonly cost: number
  readonly introspection: number
  /** null: it is answered field by field. */
  readonly text: TextOperation | null
}

/** By document, operation and variables: what is asked again is not judged again. */
export type OperationCache = Pick<LruCache<SizedPlan>, 'get' | 'set' | 'bytes'>

interface SizedPlan extends OperationPlan {
  readonly size: number
}

const BOUNDS = { entries: 2000, bytes: 10_000_000 } as const

export function openOperationCache(cache: unknown): OperationCache {
  if (cache === false) return { get: () => undefined, set: () => {}, bytes: 0 }
  return new LruCache<SizedPlan>(BOUNDS, ({ size }) => size)
}

/** Longer variables are hardly sent twice. */
const MAX_VARIABLES = 1000

/** null: not to be kept. */
export function operationKey(
  text: string,
  operationName: string | null,
  variables: Readonly<Record<string, unknown>>,
): string | null {
  const given = JSON.stringify(variables)
  return given.length > MAX_VARIABLES ? null : `${given}${JSON.stringify(operationName)}${text}`
}

/** Bytes of an operation, and of the reading that follows from a root field: its objects, and those of a populate in it. */
const OPERATION_SIZE = 1000
const ROOT_SIZE = 2500
const POPULATE_SIZE = 600

/** `document`: bytes of its document, which answers as text hold on to, however long that is known. */
export function withSize(ready: OperationPlan, document: number): SizedPlan {
  const { text } = ready
  const size = text
    ? text.roots.reduce((sum, root) => sum + rootSize(root), OPERATION_SIZE + document)
    : OPERATION_SIZE
  return { ...ready, size }
}

/** What is laid out is some four times its key, what is read of it counted. */
const rootSize = ({ query, layout }: TextRoot): number =>
  ROOT_SIZE + POPULATE_SIZE * countPopulates(query.selection) + 4 * memoryBytes(layout.key)

/** Checked documents by their text: what was checked once is not checked again. */
export type DocumentCache = Pick<LruCache<CheckedDocument>, 'get' | 'set' | 'bytes'>

const DOCUMENT_BOUNDS = { entries: 2000, bytes: 6_000_000 } as const

/** `serverOptions.cache`: `bounded` keeps those that were asked for lately, `false` none. */
export function openDocumentCache(cache: unknown): DocumentCache {
  if (cache === false) return { get: () => undefined, set: () => {}, bytes: 0 }
  return new LruCache<CheckedDocument>(DOCUMENT_BOUNDS, ({ size }) => size)
}
