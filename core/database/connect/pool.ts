import type { Sequelize } from 'sequelize'
import type { Connection } from '../connection.ts'
import { DatabaseFailure, toDatabaseFault, toDriverError } from '../database-fault.ts'
import type { Work } from '../scheduling/scheduled-work.ts'
import type { Scheduler } from '../scheduling/scheduler.ts'
import { abandon } from './cancel.ts'
import { IdleConnections } from './idle-connections.ts'
import { OpeningError } from './opening-fault.ts'
import { type PoolState, poolStateOf } from './pool-state.ts'
import { isSilent, type Primary, suspect } from './primary.ts'

/** Sequelize's pool, narrowed to what statements and transactions need. Rejections are DatabaseFailures. */
export interface Pool {
  acquire(work: Work): Promise<Connection>
  release(connection: Connection): void
  /** Ends the connection instead of giving it back. */
  discard(connection: Connection): void
  /** Gives a connection back after an error, or ends it where the error makes it unusable. */
  settle(connection: Connection, error: unknown): void
  state(): Omit<PoolState, 'waiting'>
}

/** `scheduler`: decides who gets a connection next; null: the pool has no competing callers. */
export function poolOf(
  sequelize: Sequelize,
  scheduler: Scheduler | null,
  primary: Primary | null = null,
): Pool {
  const manager = sequelize.connectionManager
  // A pool without competing callers is used seldom, or for a single connection.
  const idle = scheduler && new IdleConnections(sequelize)
  const leave = (connection: Connection) => {
    const work = connection.plinthWork
    connection.plinthWork = undefined
    if (work) scheduler?.leave(work)
  }
  const release = (connection: Connection) => {
    if (connection.plinthIsChanged) return discard(connection)
    if (connection.plinthPrimary) connection.plinthPrimary.heardAt = performance.now()
    if (idle) idle.keep(connection)
    else manager.releaseConnection(connection)
    leave(connection)
  }
  const discard = (connection: Connection) => {
    connection._invalid = true
    manager.destroyConnection(connection).catch(reportNothing)
    leave(connection)
  }
  const connect = async (tries: number): Promise<Connection> => {
    const connection = (await manager.getConnection(ANY).catch(error => fail(error, primary))) as Connection
    if (!connection._invalid) return connection
    discard(connection)
    if (tries > 1) return connect(tries - 1)
    throw new DatabaseFailure(ENDED, connection.plinthLost)
  }
  const acquire = (work: Work): Promise<Connection> => {
    const kept = idle?.take()
    if (kept) {
      kept.plinthWork = work
      return Promise.resolve(kept)
    }
    return connect(TRIES).then(
      connection => {
        connection.plinthWork = work
        return connection
      },
      (error: unknown) => {
        scheduler?.leave(work)
        throw error
      },
    )
  }
  return {
    release,
    discard,
    acquire(work) {
      const turn = scheduler?.enter(work)
      return turn ? turn.then(() => acquire(work)) : acquire(work)
    },
    settle(connection, error) {
      if (isUnanswered(connection, error)) abandon(connection)
      const { plinthPrimary } = connection
      if (plinthPrimary && isOfAll(error, plinthPrimary)) suspect(plinthPrimary)
      if (isUnusable(connection, error)) discard(connection)
      else release(connection)
    },
    state: () => poolStateOf(sequelize, idle?.size ?? 0),
  }
}

/** A new connection may be ended at once, before the pool could know: another is asked for, so many times. */
const TRIES = 3
const ENDED = { kind: 'unavailable', message: 'The server ends each new connection at once' } as const

/** Sequelize's own replication is not used (replica.ts): there is one kind of connection. */
const ANY = { type: 'write', useMaster: true } as const

/** A connection that is being discarded may already be closed: errors of its end are ignored. */
const reportNothing = () => undefined

/** Login failures have SQLSTATEs of their own. Whatever the reason is, a connection that cannot be had is unavailable. */
function fail(error: unknown, primary: Primary | null): never {
  const fault = toDatabaseFault(error)
  // If no connection is answered, the database is unreachable, not the pool busy.
  if (fault?.kind === 'busy' && !(primary && isSilent(primary))) throw new DatabaseFailure(fault, error)
  const message = fault?.message ?? (error instanceof Error ? error.message : String(error))
  const isReadonly = error instanceof OpeningError && error.fault.kind === 'readonly'
  throw new DatabaseFailure({ kind: 'unavailable', message, isReadonly }, error)
}

/** PostgreSQL still works on a statement whose answer was waited for long enough. */
function isUnanswered(connection: Connection, error: unknown): boolean {
  const fault = toDatabaseFault(error)
  return connection._invalid === true && fault?.kind === 'timeout' && fault.code === null
}

/** An error that is not about this connection, or its statement, alone. */
function isOfAll(error: unknown, primary: Primary): boolean {
  const fault = toDatabaseFault(error)
  if (fault?.kind === 'timeout') return fault.code === null && isSilent(primary)
  return fault?.kind === 'unavailable' && !OF_ONE.test(String(toDriverError(causeOf(error))?.code))
}

/** A limit of the server's, a session that was idle, a transaction that had failed before. */
const OF_ONE = /^(53|25P|57P05)/

const causeOf = (error: unknown): unknown => (error instanceof DatabaseFailure ? error.cause : error)

/** Lost, left inside a transaction, or marked. */
function isUnusable(connection: Connection, error: unknown): boolean {
  if (connection._invalid || connection.getTransactionStatus() !== 'I') return true
  return toDatabaseFault(error)?.kind === 'unavailable'
}
