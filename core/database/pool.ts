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
  const ask = connectForAll(manager as unknown as Connecting)
  const release = (connection: Connection) => manager.releaseConnection(connection)
  const discard = (connection: Connection) => {
    connection._invalid = true
    manager.destroyConnection(connection).catch(reportNothing)
  }
  return {
    release,
    discard,
    acquire() {
      ask()
      return (manager.getConnection(ANY) as Promise<Connection>).catch(fail)
    },
    settle(connection, error) {
      if (isUnusable(connection, error)) discard(connection)
      else release(connection)
    },
  }
}

/** What Sequelize's types leave out. */
interface Connecting {
  _connect(config: object): Promise<unknown>
}

/** How often a connection is tried at most, and only where it fails within so many milliseconds: nobody waits longer. */
const TRIES = 3
const SOON = 500

/**
 * Of a connection that cannot be made Sequelize's pool tells whoever waits first, though it was begun for one who was
 * told of another. Where somebody has asked since, it is tried again: the database may be back by now. Answers what
 * tells of who asks.
 */
function connectForAll(manager: Connecting): () => void {
  const connect = manager._connect.bind(manager)
  let asked = 0
  const tryOften = async (config: object, tries: number): Promise<unknown> => {
    const [before, began] = [asked, performance.now()]
    try {
      return await connect(config)
    } catch (error) {
      if (asked === before || tries === 1 || performance.now() - began > SOON) throw error
      return tryOften(config, tries - 1)
    }
  }
  manager._connect = config => tryOften(config, TRIES)
  return () => void asked++
}

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
