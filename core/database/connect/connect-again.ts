import type { Sequelize } from 'sequelize'
import { type Host, tryHosts } from './try-hosts.ts'

/** What Sequelize's types leave out. */
interface Connecting {
  getConnection(options?: object): Promise<unknown>
  _connect(config: object): Promise<unknown>
}

/** Attempts to open a connection, and the milliseconds within which a failure is retried. */
const TRIES = 3
const SOON = 500

/**
 * Sequelize's pool reports a failed connection to the request that has waited longest, although the attempt was begun for
 * an earlier one that got another error. If a request came after the attempt began, the connection is tried again: the
 * database may be back.
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
