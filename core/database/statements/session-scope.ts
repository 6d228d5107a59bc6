import { AsyncLocalStorage } from 'node:async_hooks'
import { furthest, type Lsn } from '../lsn.ts'

/** Keeps a client's reads consistent with its earlier writes although replicas may lag. One per request. */
export interface ReplicaSession {
  /** The position of the writes that the client has seen acknowledged: no read may be older. null: not sent. */
  readonly after: Lsn | null
  /** Its reads go to the primary. */
  onPrimary: boolean
  /** The position of the request's last write; null: it has written nothing. */
  written: Lsn | null
}

const sessions = new AsyncLocalStorage<ReplicaSession>()

/** Runs a request's work. All that it reads and writes belongs to the session. */
export const inSession = <Value>(session: ReplicaSession, work: () => Value): Value =>
  sessions.run(session, work)

/** undefined: the work belongs to no request. */
export const currentReplicaSession = (): ReplicaSession | undefined => sessions.getStore()

/** For a request that reads what it is about to change, or has changed. */
export function stayOnPrimary(): void {
  const session = currentReplicaSession()
  if (session) session.onPrimary = true
}

/** A client that writes but sends no position must still read its own writes. */
export function readOwnWrites(): void {
  if (currentReplicaSession()?.after === null) stayOnPrimary()
}

export function noteWrite(session: ReplicaSession, position: Lsn): void {
  session.written = furthest(session.written ?? position, position)
}
