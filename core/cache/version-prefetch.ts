/**
 * What one request asks for one after the other. What requests of a kind ask for second is asked for beside the first:
 * both are as they stand after the request began. Not for requests that may write in between.
 */
export interface Ahead {
  /** Equal for requests that are likely to ask for the same. */
  readonly kind: string
  /** What was asked for first; null: nothing yet. */
  first: string | null
  /** What was told beside it; null: nothing, or it is used. */
  told: { readonly sql: string; readonly version: string } | null
}

export const openAhead = (kind: string): Ahead => ({ kind, first: null, told: null })
