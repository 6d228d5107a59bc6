import { hostname } from 'node:os'
import { setTimeout as pause } from 'node:timers/promises'
import { qualified } from '../../sql/ddl.ts'
import type { Database, DedicatedSession } from '../database.ts'
import { GENERATION_CHANNEL } from './generations.ts'
import { HEARTBEAT, printIsAlive, printLockClass } from './processes.ts'

/** This process's entry in the table of serving processes, for others that migrate. */
export interface Presence {
  /** Resolves when other processes can see the entry, or when the first attempt has failed. */
  readonly begun: Promise<void>
  /** Records that the process now serves another version of the project. */
  move(hash: string): Promise<void>
  close(): Promise<void>
}

export interface PresenceOptions {
  readonly hash: string
  /** Equal for processes that are replaced together. */
  readonly deployment: string
  /** Called when another process may have migrated. Behind a pooler, which does not support LISTEN, called regularly. */
  readonly migrated: () => void
  /** Called with the reason when registration fails. It is retried. */
  readonly failed: (message: string) => void
}

/** Milliseconds before a lost connection is opened again. */
const RETRY_DELAY = 2_000

/** Registers this process, unless no other process can use its database. */
export function openPresence(database: Database, options: PresenceOptions): Presence {
  if (!database.isShared) return NOT_SHARED
  const presence = new ProcessPresence(database, options)
  presence.begin()
  return presence
}

const NOT_SHARED: Presence = { begun: Promise.resolve(), move: async () => {}, close: async () => {} }

const LOST = 'the connection that shows this process to others was lost'

const REMOVED =
  'another process removed the entry that shows this process to others, because it was not updated'

class ProcessPresence implements Presence {
  readonly #database: Database
  readonly #options: PresenceOptions
  readonly #table: string
  readonly #closing = new AbortController()
  #hash: string
  #id: number | null = null
  #session: DedicatedSession | null = null
  #registering: Promise<void> = Promise.resolve()
  #heartbeat: NodeJS.Timeout | undefined
  #isRetrying = false

  constructor(database: Database, options: PresenceOptions) {
    this.#database = database
    this.#options = options
    this.#table = qualified(database.schema, 'plinth_processes')
    this.#hash = options.hash
  }

  begin(): void {
    this.#registering = this.#register().catch((error: unknown) => this.#retry(error))
  }

  get begun(): Promise<void> {
    return this.#registering
  }

  async move(hash: string): Promise<void> {
    this.#hash = hash
    await this.#registering
    await this.#update('SET hash = $2', [hash]).catch((error: unknown) => this.#report(error))
  }

  async close(): Promise<void> {
    this.#closing.abort()
    clearInterval(this.#heartbeat)
    await this.#registering
    const text = `DELETE FROM ${this.#table} WHERE id = $1`
    if (this.#id !== null)
      await this.#database.run({ text, values: [this.#id] }).catch((error: unknown) => this.#report(error))
    await this.#session?.close()
  }

  async #register(): Promise<void> {
    const session = await this.#database.openSession()
    if (this.#closing.signal.aborted) return session.close()
    this.#session = session
    const { deployment } = this.#options
    const values = [this.#hash, deployment, hostname(), process.pid, session.isPooled]
    const { rows } = await session.run({ text: this.#printRegistration(), values })
    this.#id = Number(rows[0]?.[0])
    if (session.isPooled) await this.#startHeartbeat(session)
    else this.#listen(session).catch((error: unknown) => this.#retry(error))
  }

  /**
   * One statement: removes the entries of dead processes, adds this one, and takes the advisory lock that shows that the
   * process is alive for as long as the session lasts.
   */
  #printRegistration(): string {
    const { schema } = this.#database
    return `WITH dead AS (DELETE FROM ${this.#table} AS p WHERE NOT (${printIsAlive(schema)})),
      own AS (INSERT INTO ${this.#table} (hash, deployment, host, pid, heartbeat) VALUES ($1, $2, $3, $4, $5) RETURNING id, heartbeat)
      SELECT id, CASE WHEN NOT heartbeat THEN pg_advisory_lock(${printLockClass(schema)}, id) END FROM own`
  }

  /** Not part of `begun`: `migrated` is called once it listens. */
  async #listen(session: DedicatedSession): Promise<void> {
    session.onNotice(this.#options.migrated)
    session.onEnd(() => {
      if (this.#session === session) this.#retry(new Error(LOST))
    })
    await session.run({ text: `LISTEN ${GENERATION_CHANNEL}`, values: [] })
    this.#options.migrated()
  }

  async #startHeartbeat(session: DedicatedSession): Promise<void> {
    this.#session = null
    await session.close()
    const beat = () => {
      this.#options.migrated()
      this.#update('SET seen_at = now()', []).then(
        isFound => isFound || this.#retry(new Error(REMOVED)),
        (error: unknown) => this.#report(error),
      )
    }
    this.#heartbeat ??= setInterval(beat, HEARTBEAT).unref()
  }

  #retry(error: unknown): void {
    if (this.#closing.signal.aborted || this.#isRetrying) return
    this.#isRetrying = true
    this.#report(error)
    const session = this.#session
    this.#session = null
    this.#registering = pause(RETRY_DELAY, undefined, { ref: false, signal: this.#closing.signal })
      .then(() => session?.close())
      .then(
        () => {
          this.#isRetrying = false
          this.begin()
        },
        () => session?.close(),
      )
  }

  /** False: another process removed the entry, because this one was silent for too long. */
  async #update(change: string, values: readonly unknown[]): Promise<boolean> {
    if (this.#id === null) return true
    const text = `UPDATE ${this.#table} ${change} WHERE id = $1 RETURNING true`
    const { rows } = await this.#database.run({ text, values: [this.#id, ...values] })
    return rows.length > 0
  }

  #report(error: unknown): void {
    this.#options.failed(error instanceof Error ? error.message : String(error))
  }
}
