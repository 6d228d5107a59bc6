import type { Position } from './lsn.ts'

export type ReplicaState =
  /** Had replayed the log so far: by now it may be further. */
  | { readonly kind: 'well'; readonly replayed: Position }
  /** Further behind than `replicaLag` allows, for so many milliseconds. */
  | { readonly kind: 'behind'; readonly milliseconds: number }
  | { readonly kind: 'away'; readonly message: string }
  /** It answers, but as somebody else: a primary, or the replica of another database. */
  | { readonly kind: 'stranger'; readonly message: string }
