import type { PGlite } from '@electric-sql/pglite'
import { messageWithCauses } from '../../base/text.ts'
import { withTimeout } from '../../base/with-timeout.ts'
import { clearTimers } from './pglite-internals.ts'
import { stopReason } from './wire.ts'

/** Executes a batch of wire messages. The answer ends with ReadyForQuery. */
export type Execute = (batch: Buffer) => Promise<Buffer>

/** PostgreSQL has stopped. Every client has lost its session. */
export class EngineStopped extends Error {}

export interface Postgres {
  readonly postgres: PGlite
  /** Closes its files without writing to them. */
  abandon(): void
}

export interface RestartingEngine {
  /** Rejects with an EngineStopped if PostgreSQL stops meanwhile, or cannot be started again. */
  readonly execute: Execute
  close(): Promise<void>
}

export interface RestartingOptions {
  /** Starts PostgreSQL on the same files, which recovers them; null: a database in memory is lost. */
  readonly restart: (() => Promise<Postgres>) | null
  readonly close: (postgres: PGlite) => Promise<void>
}

/** Milliseconds between two attempts to start PostgreSQL again: the reason, such as a full disk, may last. */
const RETRY = 5_000

/** Milliseconds for one attempt. */
const RESTART_TIMEOUT = 60_000

/**
 * Starts PostgreSQL again after it stopped: at a full disk, for example, it ends itself (PANIC), as the files are no longer
 * what its memory says. What was acknowledged is in the files. A stopped engine is not used again, nor closed, because both
 * could write to the files.
 */
export function openRestarting(first: Postgres, { restart, close }: RestartingOptions): RestartingEngine {
  let current: Postgres | null = first
  let starting: Promise<void> | null = null
  let reason = ''
  let nextAttempt = 0
  let isClosed = false
  const stop = (why: string): EngineStopped => {
    if (current) {
      clearTimers(current.postgres)
      current.abandon()
    }
    current = null
    reason = why
    return new EngineStopped(`Connection terminated: the embedded database stopped: ${why}`)
  }
  const start = async (again: () => Promise<Postgres>) => {
    try {
      current = await again()
    } finally {
      starting = null
    }
  }
  const revive = async (): Promise<Postgres> => {
    if (restart === null || performance.now() < nextAttempt) throw stop(reason)
    try {
      // One that takes too long is awaited again: two would write to the same files.
      starting ??= start(restart)
      await withTimeout(RESTART_TIMEOUT, starting, undefined)
      if (current === null) throw new Error('it did not start again')
      return current
    } catch (error) {
      throw stop(messageWithCauses(error))
    } finally {
      nextAttempt = performance.now() + RETRY
    }
  }
  return {
    async execute(batch) {
      if (isClosed) throw closed()
      const { postgres } = current ?? (await revive())
      if (isClosed) throw closed()
      try {
        return await execute(postgres, batch)
      } catch (error) {
        throw stop(messageWithCauses(error))
      }
    },
    async close() {
      isClosed = true
      // Afterwards others may open its files.
      await starting?.catch(() => undefined)
      const last = current
      current = null
      if (last !== null) await close(last.postgres)
    },
  }
}

const closed = () => new EngineStopped('Connection terminated: the embedded database is closed')

/** Uses PGlite's streaming call: the other one also parses every answer. Rejects if PostgreSQL stopped: SQL errors are answers. */
async function execute(postgres: PGlite, batch: Buffer): Promise<Buffer> {
  const parts: Buffer[] = []
  // The bytes are in the engine's memory, which the next call overwrites.
  const onRawData = (bytes: Uint8Array) => void parts.push(Buffer.from(bytes))
  try {
    await postgres.execProtocolRawStream(batch, { syncToFs: false, onRawData })
  } catch (error) {
    // PostgreSQL's message says more than the error in which its process ends.
    throw new Error(stopReason(Buffer.concat(parts)) ?? messageWithCauses(error))
  }
  const answer = parts.length === 1 && parts[0] ? parts[0] : Buffer.concat(parts)
  const stopped = stopReason(answer)
  if (stopped !== null) throw new Error(stopped)
  return answer
}
