import { OpeningError } from './opening-fault.ts'

/** Reported when a connection opens and whenever the parameter changes (PostgreSQL manual, 55.2.7). */
export interface ServerParameter {
  readonly parameterName: string
  readonly parameterValue: string
}

/** The part of a connection that this file uses. */
interface PrimaryConnection {
  isInvalid: boolean
  primary?: Primary
  onParameter?: (parameter: ServerParameter) => void
  on(event: 'end', listener: () => void): unknown
}

/** The server that takes writes, as its connections know it. After a failover it is another one of the hosts. */
export interface Primary {
  /** All open connections to it. */
  readonly connections: Set<PrimaryConnection>
  /** Grows when a standby is promoted (PostgreSQL manual, 26.3.5). 0: not known. */
  timeline: number
  /** False: the server refused to report its timeline. */
  reportsTimeline: boolean
  /** When a statement was last answered, as of performance.now(). */
  lastAnswerAt: number
  /** When a connection of this timeline was last opened, as of performance.now(). */
  timelineSeenAt: number
}

export const createPrimary = (): Primary => ({
  connections: new Set(),
  timeline: 0,
  reportsTimeline: true,
  lastAnswerAt: 0,
  timelineSeenAt: 0,
})

/** Milliseconds without any answer after which an unanswered statement means that the server is gone. */
const SILENCE = 1_000

/** False: another connection had an answer recently, so only this statement took too long. */
export const isSilent = ({ lastAnswerAt }: Primary): boolean => performance.now() - lastAnswerAt > SILENCE

/** For a failure that will affect the other connections, too. Those in use end with their current work. */
export function invalidateConnections({ connections }: Primary): void {
  for (const connection of connections) connection.isInvalid = true
}

/** The facts about a server that a new connection reports. */
export interface ServerRole {
  readonly isReadonly: boolean
  /** null: not reported. */
  readonly timeline: number | null
}

/**
 * Milliseconds for which a former primary is refused after a promotion. A server that was paused (a virtual machine, a
 * network partition) accepts writes on old data until its supervisor stops it. One that was restored from a backup on
 * purpose is accepted afterwards.
 */
const FENCED = 60_000

/** Registers a new connection, or refuses it if its server is not the primary. */
export function admitToPrimary(
  primary: Primary,
  connection: PrimaryConnection,
  { isReadonly, timeline }: ServerRole,
): void {
  if (isReadonly) throw new OpeningError('readonly', READONLY)
  if (timeline !== null) compareTimelines(primary, timeline)
  connection.primary = primary
  connection.onParameter = parameter => {
    if (reportsReadonly(parameter)) connection.isInvalid = true
  }
  primary.connections.add(connection)
  connection.on('end', () => primary.connections.delete(connection))
}

const READONLY = 'it takes no writes: it is a standby, or default_transaction_read_only is on'

/** PostgreSQL reports these from version 14 on, without a round trip. */
const reportsReadonly = ({ parameterName, parameterValue }: ServerParameter): boolean =>
  (parameterName === 'in_hot_standby' || parameterName === 'default_transaction_read_only') &&
  parameterValue === 'on'

function compareTimelines(primary: Primary, timeline: number): void {
  const now = performance.now()
  const lastSeenAt = Math.max(primary.timelineSeenAt, primary.lastAnswerAt)
  if (timeline < primary.timeline && now - lastSeenAt < FENCED) throw new OpeningError('readonly', FORMER)
  if (timeline !== primary.timeline) invalidateConnections(primary)
  primary.timeline = timeline
  primary.timelineSeenAt = now
}

const FORMER = 'it was the primary before another server was promoted'
