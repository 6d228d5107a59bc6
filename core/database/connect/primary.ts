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
  /** null: not known. */
  history: ServerHistory | null
  /** False: the server refused to report its history. */
  reportsHistory: boolean
  /** When a statement was last answered, as of performance.now(). */
  lastAnswerAt: number
}

/** Which changes a server has. */
export interface ServerHistory {
  /** The same for a server and all its standbys; another one after `pg_upgrade` or a restored dump. */
  readonly system: string
  /** Grows when a standby is promoted (PostgreSQL manual, 26.3.5). */
  readonly timeline: number
}

export const createPrimary = (): Primary => ({
  connections: new Set(),
  history: null,
  reportsHistory: true,
  lastAnswerAt: 0,
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
  readonly history: ServerHistory | null
}

/** Registers a new connection, or refuses it if its server is not the primary. */
export function admitToPrimary(
  primary: Primary,
  connection: PrimaryConnection,
  { isReadonly, history }: ServerRole,
): void {
  if (isReadonly) throw new OpeningError('readonly', READONLY)
  if (history) compareHistories(primary, history)
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

/**
 * Refuses a former primary for as long as this process runs. A server that was paused (a virtual machine) or is on the other
 * side of a network partition accepts writes until its supervisor stops it, and they are lost when it joins again.
 */
function compareHistories(primary: Primary, history: ServerHistory): void {
  const { history: known } = primary
  const isSameSystem = known?.system === history.system
  if (isSameSystem && history.timeline < known.timeline)
    throw new OpeningError('readonly', former(history, known))
  if (!isSameSystem || history.timeline !== known.timeline) invalidateConnections(primary)
  primary.history = history
}

const former = ({ timeline }: ServerHistory, known: ServerHistory): string =>
  `it was the primary before another server was promoted (its timeline is ${timeline}, that of the promoted server ${known.timeline}). If it was restored from a backup on purpose, restart Plinth`
