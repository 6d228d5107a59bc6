import type { Options, Sequelize } from 'sequelize'
import type { DatabaseSettings } from '../../project/settings/settings.ts'
import type { Connection } from '../connection.ts'
import type { Observe } from '../observation.ts'
import { type SessionSettings, setUpSession } from '../session.ts'
import { Received } from './answer-size.ts'
import { abandon } from './cancel.ts'
import { connectAgain } from './connect-again.ts'
import type { Primary } from './primary.ts'
import type { Host } from './try-hosts.ts'
import { watchedClient } from './watched-client.ts'

/** Where connections go: pg's words, as far as Sequelize passes them on. */
export interface Target extends Host {
  /** Servers of which one takes writes, the first included; absent: there is one. */
  readonly hosts?: readonly Host[]
  readonly username?: string
  readonly password?: string
  readonly database?: string
  readonly dialectOptions: { readonly ssl?: object | boolean; readonly options?: string; stream?(): object }
}

export interface ConnectOptions {
  readonly target: Target
  readonly pool: DatabaseSettings['pool']
  readonly session: SessionSettings
  readonly observe: Observe
  /** Connections have to lead to it; absent: they may lead to a standby. */
  readonly primary?: Primary
  /** Ends all connections, and what they are doing; there are no new ones then. */
  readonly aborted?: AbortSignal
  /** Milliseconds until a connection has to be ready; absent: what a server needs. */
  readonly timeout?: number
}

/** Milliseconds for a TCP connection, TLS, login and the settings of the session together. */
const CONNECT_TIMEOUT = 5_000

/** The same, where another server can be tried. */
const SHORT_TIMEOUT = 2_000

/** How often the pool looks for connections that have been idle too long. */
const REAP_INTERVAL = 10_000

/** Sequelize with its pool; nothing is connected yet. */
export async function connect(options: ConnectOptions): Promise<Sequelize> {
  const [{ Sequelize }, { default: pg }] = await Promise.all([import('sequelize'), import('pg')])
  const { target, observe, aborted } = options
  const timeout = options.timeout ?? (target.hosts ? SHORT_TIMEOUT : CONNECT_TIMEOUT)
  const sequelize = new Sequelize(
    toSequelizeOptions(options, {
      Client: watchedClient(pg.Client, { observe, timeout, aborted }),
      types: pg.types,
    }),
  )
  sequelize.addHook('beforeConnect', () => aborted?.throwIfAborted())
  // Hooks are the only place where Sequelize hands out a new connection.
  sequelize.addHook('afterConnect', async (connection: unknown) => {
    await prepare(connection as Connection, options)
  })
  connectAgain(sequelize, target.hosts ?? [target])
  return sequelize
}

function toSequelizeOptions(
  { target: { hosts: _, ...target }, pool, session }: ConnectOptions,
  driver: object,
): Options {
  const { max, idle, acquire } = pool
  return {
    ...target,
    dialectOptions: { ...COMMON, ...target.dialectOptions },
    dialect: 'postgres',
    dialectModule: driver,
    ...UNTYPED,
    logging: false,
    schema: session.schema,
    pool: { max, min: 0, idle, acquire, evict: Math.min(idle, REAP_INTERVAL) },
  }
}

/** Options that Sequelize's types leave out. */
const UNTYPED = {
  // Checked per connection (session.ts); Sequelize would open one more connection to ask.
  databaseVersion: '14.0.0',
  keepDefaultTimezone: true,
}

const COMMON = {
  // Set with all the rest, in one round trip (session.ts).
  clientMinMessages: 'ignore',
  keepAlive: true,
}

async function prepare(connection: Connection, { session, primary }: ConnectOptions): Promise<void> {
  connection.plinthCancels = session.mayBePooled
  connection.plinthReceived = new Received(connection.connection.stream, () => cutOff(connection))
  try {
    await setUpSession(connection, session, primary)
    connection.plinthReady?.()
  } catch (error) {
    // Sequelize forgets a connection whose hook fails; its goodbye may never be answered.
    connection.end().catch(() => undefined)
    throw connection.plinthLost ?? error
  }
}

/** Ends an answer that is too large. The embedded database has made it already, and serves others over the same session. */
function cutOff(connection: Connection): void {
  abandon(connection)
  connection.plinthLost ??= new Error('Its answer was too large')
  if (connection.plinthCancels) connection.connection.stream.destroy()
}
