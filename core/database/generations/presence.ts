import { hostname } from 'node:os'
import { setTimeout as pause } from 'node:timers/promises'
import { qualified } from '../../sql/ddl.ts'
import type { Database, DedicatedSession } from '../database.ts'
import { GENERATION_CHANNEL } from './generations.ts'
import { HEARTBEAT, printLives, printLockClass } from './processes.ts'

/** This process, as the database shows it to others who migrate. */
export interface Presence {
  /** Resolves once others can see it, or once the first try has failed. */
  readonly begun: Promise<void>
  /** It serves another version of the project from now on. */
  move(hash: string): Promise<void>
  close(): Promise<void>
}

export interface PresenceTerms {
  readonly hash: string
  /** Equal for processes that are replaced together. */
  readonly deployment: string
  /** Called when another process migrated, and now and then where that cannot be heard. */
  readonly migrated: () => void
  /** What keeps it from being shown, for the log; it is tried again. */
  readonly failed: (message: string) => void
}

/** Milliseconds before a lost connection is made again. */
const AGAIN = 2_000

/** A process with an embedded database that no other process can reach is not shown. */
export function openPresence(database: Database, terms: PresenceTerms): Presence {
  if (!database.isShared) return ALONE
  const presence = new ServerPresence(database, terms)
  presence.begin()
  return presence
}

const ALONE: Presence = { begun: Promise.resolve(), move: async () => {}, close: async () => {} }

class ServerPresence implements Presence {
  readonly #database: Database
  readonly #terms: PresenceTerms
  readonly #ending = new AbortController()
  #hash: string
  #id: number | null = null
  #session: DedicatedSession | null = null
  #entering: Promise<void> = Promise.resolve()
  #timer: NodeJS.Timeout | undefined

  constructor(database: Database, terms: PresenceTerms) {
    this.#database = database
    this.#terms = terms
    this.#hash = terms.hash
  }

  begin(): void {
    this.#entering = this.#enter().catch((error: unknown) => this.#again(error))
  }

  get begun(): Promise<void> {
    return this.#entering
  }

  async move(hash: string): Promise<void> {
    this.#hash = hash
    await this.#entering
    await this.#change('SET hash = $2', [hash]).catch((error: unknown) => this.#tell(error))
  }

  async close(): Promise<void> {
    this.#ending.abort()
    clearInterval(this.#timer)
    await this.#entering
    const text = `DELETE FROM ${this.#table()} WHERE id = $1`
    if (this.#id !== null)
      await this.#database.run({ text, values: [this.#id] }).catch((error: unknown) => this.#tell(error))
    await this.#session?.close()
  }

  async #enter(): Promise<void> {
    const session = await this.#database.openSession()
    if (this.#ending.signal.aborted) return session.close()
    this.#session = session
    await session.run({ text: `DELETE FROM ${this.#table()} AS p WHERE NOT ${this.#lives()}`, values: [] })
    const text = `INSERT INTO ${this.#table()} (hash, deployment, host, pid, heartbeat) VALUES ($1, $2, $3, $4, $5) RETURNING id`
    const { deployment } = this.#terms
    const values = [this.#hash, deployment, hostname(), process.pid, session.isPooled]
    const { rows } = await session.run({ text, values })
    this.#id = Number(rows[0]?.[0])
    await (session.isPooled ? this.#beat(session) : this.#stand(session, this.#id))
  }

  /** Its session shows that it lives, and hears of migrations. */
  async #stand(session: DedicatedSession, id: number): Promise<void> {
    const key = printLockClass(this.#database.schema)
    session.onNotice(this.#terms.migrated)
    session.onEnd(() => this.#again(new Error('the connection that shows this process to others was lost')))
    await session.run({ text: `SELECT pg_advisory_lock(${key}, $1::integer)`, values: [id] })
    await session.run({ text: `LISTEN ${GENERATION_CHANNEL}`, values: [] })
    this.#terms.migrated()
  }

  async #beat(session: DedicatedSession): Promise<void> {
    this.#session = null
    await session.close()
    const beat = () => {
      this.#terms.migrated()
      this.#change('SET seen_at = now()', []).catch((error: unknown) => this.#tell(error))
    }
    this.#timer ??= setInterval(beat, HEARTBEAT).unref()
  }

  #again(error: unknown): void {
    if (this.#ending.signal.aborted) return
    this.#tell(error)
    const session = this.#session
    this.#session = null
    this.#entering = pause(AGAIN, undefined, { ref: false, signal: this.#ending.signal })
      .then(() => session?.close())
      .then(
        () => this.begin(),
        () => session?.close(),
      )
  }

  async #change(change: string, values: readonly unknown[]): Promise<void> {
    if (this.#id === null) return
    const text = `UPDATE ${this.#table()} ${change} WHERE id = $1`
    await this.#database.run({ text, values: [this.#id, ...values] })
  }

  #tell(error: unknown): void {
    this.#terms.failed(error instanceof Error ? error.message : String(error))
  }

  #table(): string {
    return qualified(this.#database.schema, 'plinth_processes')
  }

  #lives(): string {
    return `(${printLives(this.#database.schema)})`
  }
}
