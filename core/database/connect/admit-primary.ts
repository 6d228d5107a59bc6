import type { Connection, Parameter } from '../connection.ts'
import { OpeningError } from './opening-fault.ts'
import { type Primary, suspect } from './primary.ts'

/** What a new connection says of its server. */
export interface Role {
  /** Its transactions cannot write. */
  readonly isReadonly: boolean
  /** null: the server does not tell. */
  readonly timeline: number | null
}

/**
 * Milliseconds that a server which was the primary before another was promoted is refused. One that stood still (a
 * virtual machine, a network) goes on as a primary until its supervisor has stopped it, and has old data by then. One
 * that was restored from a backup on purpose is accepted after that.
 */
const FENCED = 60_000

/** Takes a new connection in, or refuses it: a connection to the primary has to be able to write. */
export function admit(primary: Primary, connection: Connection, { isReadonly, timeline }: Role): void {
  if (isReadonly) throw new OpeningError('readonly', READONLY)
  if (timeline !== null) compareTimelines(primary, timeline)
  connection.plinthPrimary = primary
  connection.plinthReports = parameter => {
    if (saysReadonly(parameter)) connection._invalid = true
  }
  primary.connections.add(connection)
  connection.on('end', () => primary.connections.delete(connection))
}

const READONLY = 'it takes no writes: it is a standby, or default_transaction_read_only is on'

/** Without a round trip: PostgreSQL reports them from version 14 on. */
const saysReadonly = ({ parameterName, parameterValue }: Parameter): boolean =>
  (parameterName === 'in_hot_standby' || parameterName === 'default_transaction_read_only') &&
  parameterValue === 'on'

function compareTimelines(primary: Primary, timeline: number): void {
  const now = performance.now()
  const isFormer = timeline < primary.timeline && now - Math.max(primary.seenAt, primary.heardAt) < FENCED
  if (isFormer) throw new OpeningError('readonly', FORMER)
  if (timeline !== primary.timeline) suspect(primary)
  primary.timeline = timeline
  primary.seenAt = now
}

const FORMER = 'it was the primary before another server was promoted'
