import { createConnection, Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import type { DatabaseSettings } from '../../project/settings/settings.ts'
import { type ConnectionOptions, createConnector } from '../connect/open-connection.ts'
import { OpeningError } from '../connect/opening-fault.ts'
import { createPool } from '../connect/pool.ts'
import type { Database } from '../database.ts'
import type { OpenOptions } from '../open-options.ts'
import { createAborting, createPooledDatabase, openDedicatedSession } from '../pooled-database.ts'
import { SERVER_READ } from '../scheduling/scheduled-work.ts'
import { OWN_IDLE_LIMIT } from './backend.ts'
import { readSocketPath } from './socket.ts'

/** Milliseconds that the process which holds the database has to listen or to end, and between attempts. */
const TIMEOUT = 10_000
const INTERVAL = 100

/** Milliseconds that a connection may wait for the session, which another client's transaction may occupy. */
const CONNECT_TIMEOUT = 60_000

/** Connections. They share one session, so a few suffice. */
const MAX_CONNECTIONS = 5

/**
 * Opens the database with `open`, or through the process that holds it. Rejects with the OpeningError of `open` if that
 * process neither listens nor ends in time.
 */
export const joinEmbedded = (
  { folder, settings, observe }: JoinOptions,
  open: () => Promise<Database>,
): Promise<Database> => openInTime(folder, open, path => openThrough(path, settings, observe))

/** Opens the database once a command that holds it has ended. Rejects if it does not end in time, or if a server holds it. */
export const openAfterCommand = (folder: string, open: () => Promise<Database>): Promise<Database> =>
  openInTime(folder, open, (_path, error) => Promise.reject(error))

/** Tries again while a process holds the database that does not listen. */
async function openInTime(
  folder: string,
  open: () => Promise<Database>,
  whileListening: (path: string, error: OpeningError) => Promise<Database>,
): Promise<Database> {
  for (const deadline = performance.now() + TIMEOUT; ; await pause(INTERVAL)) {
    try {
      return await open()
    } catch (error) {
      if (!(error instanceof OpeningError) || error.fault.kind !== 'locked') throw error
      const path = readSocketPath(folder)
      if (path !== null && (await accepts(path))) return whileListening(path, error)
      if (performance.now() >= deadline) throw error
    }
  }
}

export interface JoinOptions extends Pick<OpenOptions, 'observe'> {
  /** `.plinth/` */
  readonly folder: string
  readonly settings: DatabaseSettings
}

/** True if a process listens on the socket. A process that was killed leaves the socket behind. */
function accepts(path: string): Promise<boolean> {
  return new Promise(resolve => {
    const socket = createConnection(path)
    const finish = (isAccepted: boolean) => {
      socket.destroy()
      resolve(isAccepted)
    }
    socket.on('connect', () => finish(true))
    socket.on('error', () => finish(false))
  })
}

/**
 * The session belongs to the other process and is reset after each transaction. So it is used like a pooler's: without
 * prepared statements, and each transaction sets the settings that it needs.
 */
async function openThrough(
  path: string,
  settings: DatabaseSettings,
  observe: ConnectionOptions['observe'],
): Promise<Database> {
  const max = Math.min(settings.pool.max, MAX_CONNECTIONS)
  const aborting = createAborting()
  const connect = createConnector({
    target: { ...TARGET, stream: () => new LocalSocket(path) },
    session: {
      ...settings,
      preparedStatements: false,
      statementPrefix: () => '',
      mayBePooled: true,
      ...OWN_IDLE_LIMIT,
    },
    observe,
    timeout: CONNECT_TIMEOUT,
    aborted: aborting.signal,
  })
  const pool = createPool(connect, { ...settings, pool: { ...settings.pool, max, acquire: CONNECT_TIMEOUT } })
  try {
    pool.release(await pool.acquire(SERVER_READ))
  } catch (error) {
    await pool.close()
    throw unreachable(error)
  }
  return createPooledDatabase({
    ...{ kind: 'embedded', settings, pool, aborting, replicas: null, isShared: false },
    openSession: timeout => openDedicatedSession(connect, timeout),
    afterClose: async () => {},
  })
}

const TARGET = { host: 'embedded', port: 0, user: 'postgres', database: 'postgres' }

/** pg connects its socket to a host and a port. */
class LocalSocket extends Socket {
  readonly #path: string

  constructor(path: string) {
    super()
    this.#path = path
  }

  override connect(): this {
    return super.connect({ path: this.#path })
  }
}

function unreachable(error: unknown): unknown {
  if (!(error instanceof Error)) return error
  const what = 'The process that holds the embedded database does not let others work on it'
  return new OpeningError('unreachable', `${what}: ${error.message}`, error)
}
