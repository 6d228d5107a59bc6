import type { Sequelize } from 'sequelize'
import type { Connection } from '../connection.ts'

/** What Sequelize's types leave out. */
interface Manager {
  readonly pool: { readonly waiting: number }
  getConnection(options?: object): Promise<unknown>
  releaseConnection(connection: Connection): void
  destroyConnection(connection: Connection): Promise<void>
  close(): Promise<void>
}

/** Milliseconds between two looks for connections that are no longer needed here. */
const PAUSE = 1_000

/**
 * Connections that are used again at once. Sequelize's pool takes promises, hooks and a timer to hand out a connection;
 * here it is one call. A connection that nothing used between two looks goes back to that pool, which closes it later.
 * Anything else that asks that pool for a connection gets these first, as if they had never left it.
 */
export class IdleConnections {
  readonly #manager: Manager
  readonly #idle: Connection[] = []
  /** So many, from the first on, were not used since the last look. */
  #unused = 0
  #timer: NodeJS.Timeout | undefined
  #isClosed = false

  constructor({ connectionManager }: Sequelize) {
    const manager = connectionManager as unknown as Manager
    this.#manager = manager
    const get = manager.getConnection.bind(manager)
    const close = manager.close.bind(manager)
    manager.getConnection = options => {
      this.#giveBack(this.#idle.length)
      return get(options)
    }
    manager.close = () => {
      this.#isClosed = true
      clearTimeout(this.#timer)
      this.#giveBack(this.#idle.length)
      return close()
    }
  }

  get size(): number {
    return this.#idle.length
  }

  /** The one that was used last, of those that have not ended meanwhile. */
  take(): Connection | undefined {
    for (;;) {
      const connection = this.#idle.pop()
      if (this.#unused > this.#idle.length) this.#unused = this.#idle.length
      if (!connection?._invalid) return connection
      this.#manager.destroyConnection(connection).catch(() => undefined)
    }
  }

  /** Keeps a connection, unless Sequelize's pool needs it. */
  keep(connection: Connection): void {
    if (this.#isClosed || connection._invalid || this.#manager.pool.waiting > 0) {
      this.#manager.releaseConnection(connection)
      return
    }
    this.#idle.push(connection)
    this.#timer ??= setTimeout(() => this.#look(), PAUSE).unref()
  }

  #look(): void {
    this.#timer = undefined
    this.#giveBack(this.#unused)
    this.#unused = this.#idle.length
    if (this.#unused > 0) this.#timer = setTimeout(() => this.#look(), PAUSE).unref()
  }

  #giveBack(count: number): void {
    for (const connection of this.#idle.splice(0, count)) this.#manager.releaseConnection(connection)
    this.#unused = Math.min(this.#unused, this.#idle.length)
  }
}
