/** Events of connections and of the embedded database. Times in milliseconds. */
export type DatabaseObservation =
  | { readonly event: 'database.opened'; readonly kind: 'embedded' | 'server'; readonly milliseconds: number }
  /** An earlier process died without closing the embedded database. No acknowledged write is lost. */
  | { readonly event: 'database.recovered'; readonly pid: number }
  /** An idle connection was lost. */
  | { readonly event: 'database.connection-lost'; readonly message: string }
  /** A start waits, at most so many milliseconds, for a database that cannot be reached. */
  | { readonly event: 'database.awaited'; readonly message: string; readonly milliseconds: number }
  /** A replica is used for reads again, or no longer, for the given reason. */
  | {
      readonly event: 'database.replica'
      readonly place: string
      readonly isWell: boolean
      readonly message: string
    }
  /** Other processes cannot use the embedded database that this one has open. */
  | { readonly event: 'database.access-failed'; readonly message: string }
  /** A maintenance run of the embedded database failed. */
  | { readonly event: 'database.upkeep-failed'; readonly message: string }

export type Observe = (observation: DatabaseObservation) => void

export interface ReuseStatements {
  readonly same: string
  readonly similar: string
}

export interface OpenOptions {
  /** The project's folder. The embedded database is in its `.plinth/`. */
  readonly root: string
  readonly observe: Observe
  /** Accepts a server that takes no writes. With several hosts, the one that takes writes is used nevertheless. */
  readonly mayBeStandby?: boolean
  /** Prepared statements per connection. Default: 250. */
  readonly statementLimit?: number
  readonly embedded?: {
    /** `memory://` instead of files: lost at the end of the process. */
    readonly dataDir?: string
    /** A snapshot from which a new embedded database starts. */
    readonly snapshot?: Blob
    /**
     * SQL that prepares the database which this process had in memory and closed last, so that its tables are used again:
     * `same` all of them, `similar` some of them. If both fail, or are absent, all tables are dropped.
     */
    readonly reuse?: ReuseStatements
    /**
     * `offer`: other processes of the same user may use the database through this one. `join`: uses the database through
     * the process that offers it. Absent: neither.
     */
    readonly access?: 'offer' | 'join'
  }
}
