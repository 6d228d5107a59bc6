import { chmodSync } from 'node:fs'
import { createServer, type Server, type Socket } from 'node:net'
import { join } from 'node:path'
import type { DatabaseSettings } from '../../project/settings/settings.ts'
import { quoteConstant } from '../../sql/ddl.ts'
import { quoteIdentifier } from '../../sql/identifier.ts'
import { type Connect, type ConnectionOptions, createConnector } from '../connect/open-connection.ts'
import { OpeningError } from '../connect/opening-fault.ts'
import { createPool } from '../connect/pool.ts'
import type { Database } from '../database.ts'
import type { Observe, OpenOptions } from '../open-options.ts'
import { createAborting, createPooledDatabase, openDedicatedSession } from '../pooled-database.ts'
import { type SessionSettings, sessionParameters } from '../session.ts'
import { OWN_IDLE_LIMIT } from './backend.ts'
import { syncAll } from './durability.ts'
import { type EmbeddedEngine, isOfSystem, startEngine } from './engine.ts'
import { blocked, damaged, type EmbeddedFiles, lockFiles } from './files.ts'
import { joinEmbedded, openAfterCommand } from './join.ts'
import { createSocketPaths, removeSocket, removeSockets, writeSocketPath } from './socket.ts'
import type { EmbeddedStream } from './stream.ts'
import { fatal } from './wire.ts'

/** Clients of the one session. A few suffice; each prepares its own statements. */
const MAX_CONNECTIONS = 5

/** Idle connections are kept: the session would keep the prepared statements of a closed one. */
const NEVER = 2 ** 31 - 1

/**
 * Opens PostgreSQL in this process, with its files under `.plinth/`, or through the process that has them open. Rejects with
 * an OpeningError.
 */
export async function openEmbedded(settings: DatabaseSettings, options: OpenOptions): Promise<Database> {
  const { dataDir, snapshot, reuse, access } = options.embedded ?? {}
  const session = sessionOf(settings, options)
  if (dataDir !== undefined) {
    const reset = printReset(session, OWN)
    const engine = await startEngine({ dataDir, isNew: true, snapshot, reset, reuse })
    return overEngine({ engine, session, settings, options, afterClose: engine.close })
  }
  const open = () => openFiles(session, settings, options)
  const folder = folderOf(options.root)
  if (access === 'join') return joinEmbedded({ folder, settings, observe: options.observe }, open)
  return access === 'offer' ? openAfterCommand(folder, open) : open()
}

const folderOf = (root: string): string => join(root, '.plinth')

function sessionOf(settings: DatabaseSettings, { statementLimit }: OpenOptions): SessionSettings {
  let clients = 0
  return {
    ...settings,
    statementPrefix: () => `c${++clients}_`,
    mayBePooled: false,
    ...OWN_IDLE_LIMIT,
    ...(statementLimit !== undefined && { statementLimit }),
  }
}

/** The user of this process's clients and the names of the statements that they prepare. */
const OWN = { user: 'postgres', kept: '^c[0-9]+_[0-9]+$' } as const

async function openFiles(
  session: SessionSettings,
  settings: DatabaseSettings,
  options: OpenOptions,
): Promise<Database> {
  const files = await lockFiles(folderOf(options.root))
  const engine = await startOn(files, session, options)
  const afterClose = () => engine.close().finally(files.lock.release)
  if (options.embedded?.access !== 'offer')
    return overEngine({ engine, session, settings, options, afterClose })
  const access = await offerAccess(engine, folderOf(options.root), options.observe)
  return overEngine({ engine, session, settings, options, afterClose, access })
}

async function startOn(
  files: EmbeddedFiles,
  session: SessionSettings,
  { observe, embedded }: OpenOptions,
): Promise<EmbeddedEngine> {
  const { dataDir, lock, isNew, created } = files
  try {
    const reset = printReset(session, OWN)
    const engine = await startEngine({ dataDir, isNew, snapshot: embedded?.snapshot, reset })
    if (isNew) await syncAll(dataDir)
    created()
    if (lock.takenFrom) observe({ event: 'database.recovered', pid: lock.takenFrom.pid })
    return engine
  } catch (error) {
    lock.release()
    const message = error instanceof Error ? error.message : String(error)
    if (!isNew)
      throw isOfSystem(message) ? blocked(dataDir, message, error) : damaged(dataDir, message, error)
    throw new OpeningError(
      'folder',
      `The embedded database cannot be created in ${dataDir}: ${message}`,
      error,
    )
  }
}

interface EngineParts {
  readonly engine: EmbeddedEngine
  readonly session: SessionSettings
  readonly settings: DatabaseSettings
  readonly options: OpenOptions
  afterClose(): Promise<void>
  /** Absent: other processes cannot use the database. */
  readonly access?: EmbeddedAccess
}

function overEngine(parts: EngineParts): Database {
  const { engine, session, settings, access } = parts
  const { observe } = parts.options
  const aborting = createAborting()
  const connect = openConnect({
    target: { ...TARGET, stream: () => engine.connect() },
    session,
    observe,
    aborted: aborting.signal,
  })
  const max = Math.min(settings.pool.max, MAX_CONNECTIONS)
  const pool = createPool(connect, { ...settings, pool: { ...settings.pool, max, idle: NEVER } })
  let maintenance: { stop(): void } | undefined
  const afterClose = () => {
    maintenance?.stop()
    return parts.afterClose()
  }
  const openSession = async (timeout?: number) => ({
    ...(await openDedicatedSession(connect, timeout)),
    // There is one session, and PostgreSQL delivers a NOTIFY to the client that sent it.
    onNotice: engine.onNotice,
  })
  const database = createPooledDatabase({
    ...{ kind: 'embedded', settings, pool, replicas: null, aborting, openSession, afterClose },
    isShared: access !== undefined,
    ...(access && { endForeign: access.close }),
  })
  maintenance = startMaintenance(database, observe)
  return database
}

/** Milliseconds. The engine starts on the event loop: on a busy machine, the usual limit would end first. */
const START_TIMEOUT = 60_000

/** The first connection waits for the start of the engine. */
function openConnect(options: ConnectionOptions): Connect {
  const [first, later] = [createConnector({ ...options, timeout: START_TIMEOUT }), createConnector(options)]
  let isStarted = false
  return async () => {
    const connection = await (isStarted ? later : first)()
    isStarted = true
    return connection
  }
}

const TARGET = { host: 'embedded', port: 0, user: OWN.user, database: 'postgres' }

interface ResetOptions {
  /** The session's own user. */
  readonly user: string
  /** A PostgreSQL regular expression: prepared statements with matching names are kept. */
  readonly kept: string
}

/** SQL that undoes a client's changes of a session that other clients continue to use. */
const printReset = (settings: SessionSettings, { user, kept }: ResetOptions): string =>
  [
    // RESET does nothing here: the engine sets no original user.
    `SET SESSION AUTHORIZATION ${quoteIdentifier(user)}`,
    'RESET ROLE',
    'RESET ALL',
    ...Object.entries(sessionParameters(settings)).map(
      ([name, value]) => `SELECT set_config(${quoteConstant(name)}, ${quoteConstant(value)}, false)`,
    ),
    'CLOSE ALL',
    'DISCARD TEMP',
    `DO ${quoteConstant(`DECLARE statement text; BEGIN
      FOR statement IN SELECT name FROM pg_prepared_statements WHERE name !~ ${quoteConstant(kept)} LOOP
        EXECUTE format('DEALLOCATE %I', statement);
      END LOOP;
    END`)}`,
  ].join(';\n')

/** Milliseconds. */
const INTERVAL = 60_000

/** Vacuums and checkpoints regularly: PGlite has neither autovacuum nor a checkpointer, so dead rows and WAL would only grow. */
export function startMaintenance(
  database: Database,
  observe: Observe,
  milliseconds = INTERVAL,
): { stop(): void } {
  let stopped = false
  let lastCheckpoint = ''
  const maintain = async () => {
    try {
      await vacuumChanged(database)
      lastCheckpoint = await checkpoint(database, lastCheckpoint)
    } catch (error) {
      // Busy, closing or a full disk: the next run tries again, and requests continue.
      if (!stopped)
        observe({
          event: 'database.upkeep-failed',
          message: error instanceof Error ? error.message : String(error),
        })
    }
  }
  const timer = setInterval(maintain, milliseconds)
  timer.unref()
  return {
    stop() {
      stopped = true
      clearInterval(timer)
    },
  }
}

/** Autovacuum's default thresholds. */
const CHANGED = `SELECT format('%I.%I', schemaname, relname) FROM pg_stat_user_tables
  WHERE n_dead_tup > 50 + 0.2 * n_live_tup OR n_mod_since_analyze > 50 + 0.1 * n_live_tup`

/** Vacuums and analyses the tables that changed much, one at a time. */
export async function vacuumChanged(database: Database): Promise<void> {
  // This session's counts are added to the statistics at the end of the statement.
  await database.run({ text: 'SELECT pg_stat_force_next_flush()', values: [] })
  const { rows } = await database.run({ text: CHANGED, values: [] })
  for (const [table] of rows) await database.run({ text: `VACUUM (ANALYZE) ${String(table)}`, values: [] })
}

/** Writes a checkpoint if the log has grown: it frees old WAL and shortens a recovery. Resolves to the log's position. */
async function checkpoint(database: Database, last: string): Promise<string> {
  const position = async () => {
    const { rows } = await database.run({ text: 'SELECT pg_current_wal_lsn()::text', values: [] })
    return String(rows[0]?.[0])
  }
  if ((await position()) === last) return last
  await database.run({ text: 'CHECKPOINT', values: [] })
  return position()
}

/** Lets other processes use the engine of this one. */
interface EmbeddedAccess {
  /** Ends their connections and rolls back their open transactions. Safe to call twice. */
  close(): void
}

/**
 * Lets other processes of the same user use the database by PostgreSQL's wire protocol. Without a socket the database works
 * nevertheless, and an observation reports that others cannot use it.
 */
async function offerAccess(
  engine: EmbeddedEngine,
  folder: string,
  observe: Observe,
): Promise<EmbeddedAccess> {
  const clients = new Set<EmbeddedStream>()
  const server = createServer(socket => serve(socket, engine.connectForeign(), clients))
  server.unref()
  const report = (error: unknown) =>
    observe({
      event: 'database.access-failed',
      message: error instanceof Error ? error.message : String(error),
    })
  try {
    writeSocketPath(folder, await listenIn(folder, server))
  } catch (error) {
    server.close()
    report(error)
    return { close: () => {} }
  }
  server.on('error', report)
  return {
    close() {
      if (!server.listening) return
      server.close()
      for (const client of clients) client.fail(new Error(STOPPED))
      removeSockets(folder)
    },
  }
}

const STOPPED =
  'the process that holds the embedded database stopped; the open transaction was rolled back. Run the command again'

async function listenIn(folder: string, server: Server): Promise<string> {
  let failure: unknown = new Error(
    'the path of the folder is too long for a socket, and so is that of temporary files',
  )
  for (const path of createSocketPaths(folder)) {
    try {
      await listen(server, path)
      return path
    } catch (error) {
      removeSocket(path)
      failure = error
    }
  }
  throw failure
}

function listen(server: Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(path, () => {
      server.off('error', reject)
      // Its folder is closed to other users already.
      if (process.platform !== 'win32') chmodSync(path, 0o600)
      resolve()
    })
  })
}

/** However a client ends, its open transaction is rolled back (EmbeddedBackend.leave). */
function serve(socket: Socket, stream: EmbeddedStream, clients: Set<EmbeddedStream>): void {
  clients.add(stream)
  socket.on('error', () => stream.destroy())
  socket.on('close', () => stream.destroy())
  stream.on('error', error => socket.end(fatal(error.message)))
  stream.on('close', () => {
    clients.delete(stream)
    socket.end()
  })
  socket.pipe(stream).pipe(socket)
}
