import type { PGlite } from '@electric-sql/pglite'
import { IDLE_IN_TRANSACTION } from '../session.ts'
import { EmbeddedBackend } from './backend.ts'
import { durableOptions } from './durability.ts'
import { keepSpare, takeSpare } from './spare-engine.ts'
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

export interface EngineTerms {
  readonly dataDir: string
  readonly snapshot?: Blob | undefined
  /** SQL that resets the session after a client in another process. */
  readonly reset: string
}

/** Rejects with PostgreSQL's last error message if the files are unreadable. */
export async function startEngine({ dataDir, snapshot, reset }: EngineTerms): Promise<EmbeddedEngine> {
  if (dataDir !== IN_MEMORY) return serve(await createPostgres(dataDir, snapshot), reset)
  return serve((await takeSpare()) ?? (await createPostgres(dataDir, snapshot)), reset, keepSpare)
}

async function createPostgres(dataDir: string, snapshot: Blob | undefined): Promise<PGlite> {
  const { PGlite } = await import('@electric-sql/pglite')
  const lines: string[] = []
  const onStderr = (line: string) => lines.push(line) < 0
  const storage = dataDir === IN_MEMORY ? { dataDir } : await durableOptions(dataDir)
  try {
    return await PGlite.create({ ...storage, onStderr, ...(snapshot && { loadDataDir: snapshot }) })
  } catch (error) {
    throw new Error(lastError(lines) ?? describe(error), { cause: error })
  }
}

/** Removes the time and the process id. */
const lastError = (lines: readonly string[]) =>
  lines.map(line => /(?:FATAL|PANIC|ERROR):\s*(.*)/.exec(line)?.[1]).findLast(line => line !== undefined)

const describe = (error: unknown) => (error instanceof Error ? error.message : JSON.stringify(error))

async function serve(
  postgres: PGlite,
  reset: string,
  close = (left: PGlite): Promise<void> => left.close(),
): Promise<EmbeddedEngine> {
  const { rows } = await postgres.query<{ version: string }>(
    "SELECT current_setting('server_version') AS version",
  )
  const version = rows[0]?.version ?? ''
  const listeners: (() => void)[] = []
  const notified = () => {
    for (const listener of listeners) listener()
  }
  const terms = { idleLimit: IDLE_IN_TRANSACTION, reset, notified }
  const backend = new EmbeddedBackend(batch => execute(postgres, batch), terms)
  return {
    connect: () => new EmbeddedStream(backend, greeting(version), false),
    connectForeign: () => new EmbeddedStream(backend, greeting(version), true),
    onNotice: listener => void listeners.push(listener),
    close: () => close(postgres),
  }
}

/** Uses PGlite's streaming call: the other one also parses every answer. */
async function execute(postgres: PGlite, batch: Buffer): Promise<Buffer> {
  const parts: Buffer[] = []
  // The bytes are in the engine's memory, which the next call overwrites.
  const onRawData = (bytes: Uint8Array) => void parts.push(Buffer.from(bytes))
  await postgres.execProtocolRawStream(batch, { syncToFs: false, onRawData })
  return parts.length === 1 && parts[0] ? parts[0] : Buffer.concat(parts)
}
