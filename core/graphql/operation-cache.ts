import { LruCache } from '../base/lru-cache.ts'
import { memoryBytes } from '../base/text.ts'
import { countPopulates } from '../query/populate-nodes.ts'
import type { CheckedDocument } from './limits/check-document.ts'
import type { TextOperation, TextRoot } from './text/text-operation.ts'

/** The part of an operation's preparation that does not depend on the caller. */
export interface OperationPlan {
  /** Coerced. */
  readonly variables: Readonly<Record<string, unknown>>
  readonly introspection: number
  /** null: graphql-js resolves it field by field. */
  readonly text: TextOperation | null
}

/** Plans by document, operation name and variables. */
export type OperationCache = Pick<LruCache<SizedPlan>, 'get' | 'set' | 'bytes'>

interface SizedPlan extends OperationPlan {
  readonly size: number
}

const BOUNDS = { entries: 2000, bytes: 10_000_000 } as const

export function openOperationCache(cache: unknown): OperationCache {
  if (cache === false) return { get: () => undefined, set: () => {}, bytes: 0 }
  return new LruCache<SizedPlan>(BOUNDS, ({ size }) => size)
}

/** Length of the variables' JSON above which a plan is not cached: longer ones rarely repeat. */
const MAX_VARIABLES = 1000

/** The cache key; null: not cached. */
export function operationKey(
  text: string,
  operationName: string | null,
  variables: Readonly<Record<string, unknown>>,
): string | null {
  const input = JSON.stringify(variables)
  return input.length > MAX_VARIABLES ? null : `${input}${JSON.stringify(operationName)}${text}`
}

/** Estimated bytes of an operation, of a root field's query, and of each populate in it. */
const OPERATION_SIZE = 1000
const ROOT_SIZE = 2500
const POPULATE_SIZE = 600

/** `document`: bytes of the parsed document, which a text plan keeps in memory. */
export function withSize(ready: OperationPlan, document: number): SizedPlan {
  const { text } = ready
  const size = text
    ? text.roots.reduce((sum, root) => sum + rootSize(root), OPERATION_SIZE + document)
    : OPERATION_SIZE
  return { ...ready, size }
}

/** A layout takes about four times its key. */
const rootSize = ({ query, layout }: TextRoot): number =>
  ROOT_SIZE + POPULATE_SIZE * countPopulates(query.selection) + 4 * memoryBytes(layout.key)

/** Checked documents by their text. */
export type DocumentCache = Pick<LruCache<CheckedDocument>, 'get' | 'set' | 'bytes'>

const DOCUMENT_BOUNDS = { entries: 2000, bytes: 6_000_000 } as const

/** `serverOptions.cache`: `bounded` is an LRU cache, `false` disables it. */
export function openDocumentCache(cache: unknown): DocumentCache {
  if (cache === false) return { get: () => undefined, set: () => {}, bytes: 0 }
  return new LruCache<CheckedDocument>(DOCUMENT_BOUNDS, ({ size }) => size)
}
