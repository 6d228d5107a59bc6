import { createConnection, Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import type { DatabaseSettings } from '../../project/settings/settings.ts'
import { type ConnectOptions, connect } from '../connect/connect.ts'
import { OpeningError } from '../connect/opening-fault.ts'
import { poolOf } from '../connect/pool.ts'
import type { Database } from '../database.ts'
import type { OpenOptions } from '../open-options.ts'
import { openAborting, pooledDatabase } from '../pooled-database.ts'
import { SERVER_READ } from '../scheduling/scheduled-work.ts'
import { Scheduler, schedulerTerms } from '../scheduling/scheduler.ts'
import { recordedSocket } from './socket.ts'

/** Milliseconds that the process which holds the database has to listen, or to end, and between two looks. */
const TIMEOUT = 10_000
const INTERVAL = 100

/** Milliseconds that a connection may wait for the session, which the transaction of another client may hold. */
const CONNECT_TIMEOUT = 60_000

/** Connections: a few, for they take turns on one session. */
const CLIENTS = 5

/**
 * Opens the database with `open`, or through the process that holds it. Rejects with an OpeningError of `open` where
 * that process neither listens nor ends in time.
 */
export async function joinEmbedded(
  { folder, settings, observe }: JoinTerms,
  open: () => Promise<Database>,
): Promise<Database> {
  for (const deadline = Date.now() + TIMEOUT; ; await pause(INTERVAL)) {
    try {
      return await open()
    } catch (error) {
      if (!(error instanceof OpeningError) || error.fault.kind !== 'locked') throw error
      const path = recordedSocket(folder)
      if (path !== null && (await answers(path))) return openThrough(path, settings, observe)
      if (Date.now() >= deadline) throw error
    }
  }
}

export interface JoinTerms extends Pick<OpenOptions, 'observe'> {
  /** `.plinth/` */
  readonly folder: string
  readonly settings: DatabaseSettings
}

/** Whether a process listens there: one that was killed leaves its socket behind. */
function answers(path: string): Promise<boolean> {
  return new Promise(resolve => {
    const socket = createConnection(path)
    const answer = (isThere: boolean) => {
      socket.destroy()
      resolve(isThere)
    }
    socket.on('connect', () => answer(true))
    socket.on('error', () => answer(false))
  })
}

/**
 * The session is the other process's own, and is reset behind each transaction: so it is used as behind a pooler, without
 * prepared statements, and each transaction sets what it needs.
 */
async function openThrough(
  path: string,
  settings: DatabaseSettings,
  observe: ConnectOptions['observe'],
): Promise<Database> {
  const max = Math.min(settings.pool.max, CLIENTS)
  const aborting = openAborting()
  const sequelize = await connect({
    target: { ...TARGET, dialectOptions: { stream: () => new LocalSocket(path) } },
    pool: { ...settings.pool, max, acquire: CONNECT_TIMEOUT },
    session: { ...settings, preparedStatements: false, statementPrefix: () => '', mayBePooled: true },
    observe,
    timeout: CONNECT_TIMEOUT,
    aborted: aborting.signal,
  })
  const scheduler = new Scheduler(schedulerTerms(max, settings))
  const pool = poolOf(sequelize, scheduler)
  try {
    pool.release(await pool.acquire(SERVER_READ))
  } catch (error) {
    await sequelize.close()
    throw unreachable(error)
  }
  return pooledDatabase({
    ...{ kind: 'embedded', sequelize, settings, pool, scheduler, aborting },
    ...{ replicas: null, dedicate: null, afterClose: async () => {} },
  })
}

const TARGET = { host: 'embedded', port: 0, username: 'postgres', database: 'postgres' }

/** pg asks its socket for a host and a port. */
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
