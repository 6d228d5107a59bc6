import type { Pool } from '../connect/pool.ts'
import type { Connection } from '../connection.ts'
import type { Position } from '../lsn.ts'
import type { ReplicaState } from '../replica-state.ts'

/** A server that follows the primary, and reads that it may answer. */
export interface Replica {
  /** `10.0.0.7:5432`: for logs; never with a user or a password. */
  readonly place: string
  readonly pool: Pool
  /** A connection for looks alone: load must not make it seem away. */
  readonly lookout: Pool
  /** Connections with a statement under way. */
  readonly busy: Set<Connection>
  /** As it was seen last. */
  state: ReplicaState
}

/** Takes it out until it is seen well again; statements under way there are answered elsewhere. */
export function takeOut(replica: Replica, state: Exclude<ReplicaState, { kind: 'well' }>): void {
  replica.state = state
  if (state.kind === 'behind') return
  for (const connection of replica.busy) connection.connection.stream.destroy()
}

/** Of those that are well and have come so far, in turn. */
export function chooseReplica(
  replicas: readonly Replica[],
  after: Position,
  turn: number,
): Replica | undefined {
  const fit = replicas.filter(({ state }) => state.kind === 'well' && state.replayed >= after)
  return fit[turn % fit.length]
}
