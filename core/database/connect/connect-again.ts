import type { Sequelize } from 'sequelize'
import { type Host, tryHosts } from './try-hosts.ts'

/** What Sequelize's types leave out. */
interface Connecting {
  getConnection(options?: object): Promise<unknown>
  _connect(config: object): Promise<unknown>
}

/** How often a connection is tried at most, and only where it fails within so many milliseconds: nobody waits longer. */
const TRIES = 3
const SOON = 500

/**
 * Of a connection that cannot be made Sequelize's pool tells whoever waits first, though it was begun for one who was
 * told of another. Where somebody has asked since, it is tried again: the database may be back by now.
 */
export function connectAgain({ connectionManager }: Sequelize, hosts: readonly Host[]): void {
  const manager = connectionManager as unknown as Connecting
  const get = manager.getConnection.bind(manager)
  const connect = tryHosts(hosts, manager._connect.bind(manager))
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
  manager.getConnection = options => {
    asked++
    return get(options)
  }
  manager._connect = config => tryOften(config, TRIES)
}
