import { setFlagsFromString } from 'node:v8'
import type { PGlite } from '@electric-sql/pglite'
import type { ReuseStatements } from '../open-options.ts'
import { IDLE_IN_TRANSACTION } from '../session.ts'
import { EmbeddedBackend } from './backend.ts'
import { durableOptions } from './durability.ts'
import { clearTimers, throwStops } from './pglite-internals.ts'
import { readPreparedFiles } from './prepared-files.ts'
import { openRestarting, type Postgres, type RestartingOptions } from './restarting.ts'
import { EmbeddedStream } from './stream.ts'
import { greeting } from './wire.ts'

/** PostgreSQL in this process. */
export interface EmbeddedEngine {
  /** Returns the client's end of a new connection. */
  connect(): EmbeddedStream
  /** The same, for a client in another process. */
  connectForeign(): EmbeddedStream
  /** Calls `listener` when a client in another process sends a NOTIFY that the session listens to. */
  onNotice(listener: () => void): void
  close(): Promise<void>
}

/** The data folder of a database without files. */
const IN_MEMORY = 'memory://'

export interface EngineOptions {
  readonly dataDir: string
  /** The folder has no files yet. */
  readonly isNew: boolean
  /** What a new database starts from; absent: an empty one. */
  readonly snapshot?: Blob | undefined
  /** SQL that resets the session after a client in another process. */
  readonly reset: string
  /** Prepares the tables of a spare engine for this database; absent, or if it fails: they are dropped. */
  readonly reuse?: ReuseStatements | undefined
}

/** Rejects with PostgreSQL's last error message if the files are unreadable. */
export async function startEngine(options: EngineOptions): Promise<EmbeddedEngine> {
  const { dataDir, reset, reuse } = options
  if (dataDir === IN_MEMORY) {
    const postgres = (await takeSpare(reuse)) ?? (await createPostgres(options)).postgres
    return serve({ postgres, abandon: () => {} }, reset, { restart: null, close: keepSpare })
  }
  const restart = () => createPostgres({ ...options, isNew: false })
  return serve(await createPostgres(options), reset, { restart, close: postgres => postgres.close() })
}

/** As Node does since version 22: most of PostgreSQL's functions are never called, and compiling them takes a fifth of a short command. */
const COMPILES_LAZILY = '--wasm-lazy-compilation'

async function createPostgres({ dataDir, isNew, snapshot: own }: EngineOptions): Promise<Postgres> {
  setFlagsFromString(COMPILES_LAZILY)
  const { PGlite } = await import('@electric-sql/pglite')
  const { pg_trgm } = await import('@electric-sql/pglite/contrib/pg_trgm')
  const snapshot = isNew ? (own ?? (await readPreparedFiles())) : undefined
  const lines: string[] = []
  const onStderr = (line: string) => lines.push(line) < 0
  const { abandon, startParams, ...storage } =
    dataDir === IN_MEMORY
      ? { dataDir, startParams: PGlite.defaultStartParams, abandon: () => {} }
      : await durableOptions(dataDir)
  try {
    const postgres = await PGlite.create({
      ...storage,
      startParams: [...startParams, ...PARAMETERS],
      extensions: { pg_trgm },
      onStderr,
      ...(snapshot && { loadDataDir: snapshot }),
    })
    throwStops(postgres)
    return { postgres, abandon }
  } catch (error) {
    abandon()
    throw new Error(lastError(lines) ?? describe(error), { cause: error })
  }
}

const PARAMETERS = [
  // The timer with which PostgreSQL logs a slow start never ends in a process that is also the server.
  ...['-c', 'log_startup_progress_interval=0'],
  // The default is 128 MB, which the start fills with zeros: half a second. What is read again comes from the system's cache.
  ...['-c', 'shared_buffers=16MB'],
]

/** Removes the time and the process id. */
const lastError = (lines: readonly string[]) =>
  lines.map(line => /(?:FATAL|PANIC|ERROR):\s*(.*)/.exec(line)?.[1]).findLast(line => line !== undefined)

function describe(error: unknown): string {
  const number = typeof error === 'object' && error !== null && 'errno' in error ? Number(error.errno) : 0
  return FILE_ERRORS.get(number) ?? (error instanceof Error ? error.message : JSON.stringify(error))
}

/** Emscripten's numbers of errors of files, which have no message. */
const FILE_ERRORS: ReadonlyMap<number, string> = new Map([
  [2, 'permission denied'],
  [19, 'the disk quota is exceeded'],
  [29, 'input/output error'],
  [33, 'too many open files'],
  [41, 'too many open files in the system'],
  [51, 'no space left on device'],
  [63, 'operation not permitted'],
  [69, 'read-only file system'],
])

/** In these messages and in PostgreSQL's. Without errors of the disk, which damaged files can have. */
const SYSTEM_ERRORS = [
  'no space left on device',
  'quota',
  'read-only file system',
  'permission denied',
  'operation not permitted',
  'no file descriptors available',
  'too many open files',
]

/** True if a start failed because the operating system refused access to the files: they need not be damaged. */
export const isOfSystem = (message: string): boolean =>
  SYSTEM_ERRORS.some(reason => message.toLowerCase().includes(reason))

async function serve(first: Postgres, reset: string, restarting: RestartingOptions): Promise<EmbeddedEngine> {
  const { rows } = await first.postgres.query<{ version: string }>(
    "SELECT current_setting('server_version') AS version",
  )
  const version = rows[0]?.version ?? ''
  const listeners: (() => void)[] = []
  const notified = () => {
    for (const listener of listeners) listener()
  }
  const options = { idleLimit: IDLE_IN_TRANSACTION, reset, notified }
  const engine = openRestarting(first, restarting)
  const backend = new EmbeddedBackend(engine.execute, options)
  return {
    connect: () => new EmbeddedStream(backend, greeting(version), false),
    connectForeign: () => new EmbeddedStream(backend, greeting(version), true),
    onNotice: listener => void listeners.push(listener),
    close: engine.close,
  }
}

interface Spare {
  readonly postgres: PGlite
  readonly end: NodeJS.Timeout
}

/** The last one is taken first. */
const spares: Spare[] = []

/** Engines of this number are kept: a test often has two apps open at once. */
const MAX_SPARES = 2

/** Milliseconds that a spare engine is kept. The process may end meanwhile. */
const SPARE_TIME = 5_000

/**
 * Cached plans above which a spare engine is replaced. A session keeps the plans of dropped trigger functions, and every
 * change of a table walks through all plans: after a hundred databases that is most of the work of creating tables.
 */
const PLANS = 1_000

const COUNT_PLANS =
  "SELECT count(*)::int AS plans FROM pg_backend_memory_contexts WHERE name = 'CachedPlanSource'"

/** Keeps the engine of a closed in-memory database: emptying it is cheaper than creating another. */
async function keepSpare(postgres: PGlite): Promise<void> {
  if (!(await settle(postgres)) || spares.length >= MAX_SPARES) return postgres.close()
  const expire = () => {
    spares.splice(spares.indexOf(spare), 1)
    void postgres.close()
  }
  const spare: Spare = { postgres, end: setTimeout(expire, SPARE_TIME).unref() }
  spares.push(spare)
}

/** Rolls back what was left open, so that nothing keeps the process from ending. Returns false if the engine is broken. */
async function settle(postgres: PGlite): Promise<boolean> {
  try {
    await postgres.exec('ROLLBACK')
    clearTimers(postgres)
    return true
  } catch {
    return false
  }
}

/** Returns the spare engine with a database that is empty or has reused tables; undefined: there is none, or it is broken. */
async function takeSpare(reuse: ReuseStatements | undefined): Promise<PGlite | undefined> {
  const spare = spares.pop()
  if (!spare) return undefined
  const { postgres, end } = spare
  clearTimeout(end)
  try {
    await postgres.exec('DISCARD ALL')
    if (reuse && (await isReused(postgres, reuse.same))) return postgres
    const { rows } = await postgres.query<{ plans: number }>(COUNT_PLANS)
    if ((rows[0]?.plans ?? 0) > PLANS) {
      await postgres.close()
      return undefined
    }
    if (reuse && (await isReused(postgres, reuse.similar))) return postgres
    for (const statement of EMPTY) await postgres.exec(statement)
    return postgres
  } catch {
    // It has too many tables to drop in one transaction (one lock per table), or it is broken.
    await postgres.close()
    return undefined
  }
}

const isReused = (postgres: PGlite, statement: string): Promise<boolean> =>
  postgres.exec(statement).then(
    () => true,
    // The tables are of another schema. The statement was rolled back.
    () => false,
  )

/** Drops all schemas. */
const EMPTY = [
  `DO $$
  DECLARE name text;
  BEGIN
    FOR name IN SELECT nspname FROM pg_namespace WHERE nspname !~ '^pg_' AND nspname <> 'information_schema' LOOP
      EXECUTE format('DROP SCHEMA %I CASCADE', name);
    END LOOP;
  END $$`,
  'CREATE SCHEMA public',
]
