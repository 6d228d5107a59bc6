import type { Observe } from './observation.ts'

export interface OpenOptions {
  /** The project's folder; the embedded database lies in `.plinth/` under it. */
  readonly root: string
  readonly observe: Observe
  /** A server may be read that takes no writes. Of several servers, the one that takes writes is found all the same. */
  readonly mayBeStandby?: boolean
  /** Prepared statements that a connection keeps; 250 when absent. */
  readonly statementLimit?: number
  readonly embedded?: {
    /** `memory://` instead of files: gone with the process. */
    readonly dataDir?: string
    /** A snapshot of an embedded database to start a new one from, instead of creating it. */
    readonly snapshot?: Blob
    /**
     * `offer`: processes of the same user may work through this one while it has the database open. `join`: where a
     * process offers that, this one works through it. Absent: neither.
     */
    readonly access?: 'offer' | 'join'
  }
}
