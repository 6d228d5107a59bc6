import type { ConnectionPool } from '../connect/pool.ts'
import type { Connection } from '../connection.ts'
import type { Lsn } from '../lsn.ts'

export type ReplicaState =
  /** `replayed`: how far it had replayed the log at the last probe. */
  | { readonly kind: 'well'; readonly replayed: Lsn }
  /** Its lag exceeds `replicaLag`. */
  | { readonly kind: 'behind'; readonly milliseconds: number }
  | { readonly kind: 'away'; readonly message: string }
  /** It answers but is not a replica of this primary: a primary itself, or the replica of another database. */
  | { readonly kind: 'stranger'; readonly message: string }

/** A server that follows the primary and may answer reads. */
export interface Replica {
  /** Host and port, for logs. Never a user or a password. */
  readonly place: string
  readonly pool: ConnectionPool
  /** A connection for probes only: load must not make the replica look unavailable. */
  readonly probePool: ConnectionPool
  /** Connections with a statement in progress. */
  readonly busy: Set<Connection>
  /** The result of the last probe. */
  state: ReplicaState
}

/** Removes it from use until a probe succeeds. Its statements in progress move to the primary. */
export function takeOut(replica: Replica, state: Exclude<ReplicaState, { kind: 'well' }>): void {
  replica.state = state
  if (state.kind === 'behind') return
  for (const connection of replica.busy) connection.connection.stream.destroy()
}

/** Round-robin over the replicas that are well and have replayed the position. */
export function chooseReplica(replicas: readonly Replica[], after: Lsn, turn: number): Replica | undefined {
  const fit = replicas.filter(({ state }) => state.kind === 'well' && state.replayed >= after)
  return fit[turn % fit.length]
}
