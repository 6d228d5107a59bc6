/** What is worth knowing about the connections. Times in milliseconds. */
export type DatabaseObservation =
  | { readonly event: 'database.opened'; readonly kind: 'embedded' | 'server'; readonly milliseconds: number }
  /** An earlier process died without closing the embedded database; nothing it acknowledged is lost. */
  | { readonly event: 'database.recovered'; readonly pid: number }
  /** An idle connection broke, or its server ended it. */
  | { readonly event: 'database.connection-lost'; readonly message: string }
  /** A start waits for a database that cannot be reached yet: so many milliseconds at most. */
  | { readonly event: 'database.awaited'; readonly message: string; readonly milliseconds: number }
  /** A replica answers reads from now on; or no longer, and why. */
  | {
      readonly event: 'database.replica'
      readonly place: string
      readonly isWell: boolean
      readonly message: string
    }
  /** Other processes have no way to the embedded database that this one has open. */
  | { readonly event: 'database.access-failed'; readonly message: string }
  /** The embedded database could not be tidied up this time. */
  | { readonly event: 'database.upkeep-failed'; readonly message: string }

export type Observe = (observation: DatabaseObservation) => void
