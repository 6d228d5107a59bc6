import type { Sequelize } from 'sequelize'
import type { Connection } from './connection.ts'
import { DatabaseFailure, toDatabaseFault } from './database-fault.ts'

/** Sequelize's pool, narrowed to what statements and transactions need. Rejections are DatabaseFailures. */
export interface Pool {
  acquire(): Promise<Connection>
  release(connection: Connection): void
  /** Ends the connection instead of giving it back. */
  discard(connection: Connection): void
  /** Gives a connection back after an error, or ends it where the error makes it unusable. */
  settle(connection: Connection, error: unknown): void
}

export function poolOf(sequelize: Sequelize): Pool {
  const manager = sequelize.connectionManager
  const release = (connection: Connection) => manager.releaseConnection(connection)
  const discard = (connection: Connection) => {
    connection._invalid = true
    manager.destroyConnection(connection).catch(reportNothing)
  }
  const acquire = async (tries: number): Promise<Connection> => {
    const connection = (await manager.getConnection(ANY).catch(fail)) as Connection
    if (!connection._invalid) return connection
    discard(connection)
    if (tries > 1) return acquire(tries - 1)
    throw connection.plinthLost ?? new DatabaseFailure(ENDED)
  }
  return {
    release,
    discard,
    acquire: () => acquire(TRIES),
    settle(connection, error) {
      if (isUnusable(connection, error)) discard(connection)
      else release(connection)
    },
  }
}

/** A new connection may be ended at once, before the pool could know: another is asked for, so many times. */
const TRIES = 3
const ENDED = { kind: 'unavailable', message: 'The server ends each new connection at once' } as const

/** Sequelize's own replication is not used (replica.ts): there is one kind of connection. */
const ANY = { type: 'write', useMaster: true } as const

/** A connection that is being thrown away may already be gone; its end interests nobody. */
const reportNothing = () => undefined

/** A failed login has an SQLSTATE of its own; whatever it is, a connection that cannot be had is unavailable. */
function fail(error: unknown): never {
  const message = toDatabaseFault(error)?.message ?? (error instanceof Error ? error.message : String(error))
  throw new DatabaseFailure({ kind: 'unavailable', message }, error)
}

/** Lost, left inside a transaction, or marked. */
function isUnusable(connection: Connection, error: unknown): boolean {
  if (connection._invalid || connection.getTransactionStatus() !== 'I') return true
  return toDatabaseFault(error)?.kind === 'unavailable'
}
