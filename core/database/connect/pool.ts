import { withTimeout } from '../../base/with-timeout.ts'
import type { DatabaseSettings } from '../../project/settings/settings.ts'
import type { Connection } from '../connection.ts'
import type { PoolState } from '../database.ts'
import { DatabaseFailure, toDatabaseFault, toDriverError } from '../database-fault.ts'
import { SERVER_READ, type Work } from '../scheduling/scheduled-work.ts'
import { Scheduler } from '../scheduling/scheduler.ts'
import { cancelStatement } from './cancel.ts'
import type { Connect } from './open-connection.ts'
import { OpeningError } from './opening-fault.ts'
import { invalidateConnections, isSilent, type Primary } from './primary.ts'

export interface PoolOptions {
  readonly connect: Connect
  /** Bounds how many connections are in use, and decides whose work is next. */
  readonly scheduler: Scheduler
  /** Milliseconds after which an unused connection is closed. */
  readonly idle: number
  /** Milliseconds that work waits for a new connection. */
  readonly acquire: number
  /** The server that the connections lead to. Absent: it need not take writes. */
  readonly primary?: Primary | undefined
}

/** The pool of one server, with a scheduler of its own. */
export function createPool(
  connect: Connect,
  { pool, limits }: Pick<DatabaseSettings, 'pool' | 'limits'>,
  primary?: Primary,
): ConnectionPool {
  const { max, idle, acquire } = pool
  const scheduler = new Scheduler({ max, perRequest: limits.statements, acquire })
  return new ConnectionPool({ connect, scheduler, idle, acquire, primary })
}

/** Milliseconds between searches for connections that have been idle too long. */
const REAP_INTERVAL = 10_000

/** A server may end a new connection at once. So many are opened for one acquisition. */
const TRIES = 3

/** Milliseconds for which a server that refused a connection, because it has too many, is not asked for another. */
const FULL_TIME = 500

/**
 * Lends connections, keeps idle ones for reuse and closes those that stay idle. The scheduler admits no more work than
 * the pool may have connections, so nothing waits here except for a connection that is being opened.
 * Rejections are DatabaseFailures.
 */
export class ConnectionPool {
  readonly #options: PoolOptions
  readonly #scheduler: Scheduler
  readonly #primary: Primary | undefined
  /** The last one was used last. */
  readonly #idle: Connection[] = []
  /** All that are open, in use or not. */
  readonly #opened = new Set<Connection>()
  /** Connections that are being opened although the work that needed them gave up. The next work takes them. */
  readonly #unclaimed = new Set<Promise<Connection>>()
  readonly #ending = new Set<Promise<void>>()
  /** Work that the server refused a connection, because it has too many. It takes the next one that is returned. */
  readonly #refused = new Set<(connection: Connection | null) => void>()
  /** Until when the server counts as full, as of performance.now(). */
  #fullUntil = 0
  #busy = 0
  #reaper: NodeJS.Timeout | undefined
  #isClosed = false
  #drained: (() => void) | undefined

  constructor(options: PoolOptions) {
    this.#options = options
    this.#scheduler = options.scheduler
    this.#primary = options.primary
  }

  get state(): PoolState {
    return { busy: this.#busy, idle: this.#idle.length, waiting: this.#scheduler.waiting }
  }

  /** An idle connection if the work may run now. null: use `acquire`. */
  take(work: Work): Connection | null {
    const connection = this.#idle.at(-1)
    if (connection === undefined || connection.isInvalid || !this.#scheduler.tryEnter(work)) return null
    this.#idle.pop()
    connection.work = work
    this.#busy++
    return connection
  }

  /** Waits until the work may run and a connection is there. */
  async acquire(work: Work): Promise<Connection> {
    if (!this.#scheduler.tryEnter(work)) await this.#scheduler.wait(work)
    this.#busy++
    try {
      const connection = this.#takeIdle() ?? (await this.#open())
      connection.work = work
      return connection
    } catch (error) {
      this.#leave(work)
      throw error
    }
  }

  /** Returns a connection after use. One that must not be used again is closed. */
  release(connection: Connection): void {
    if (connection.isInvalid || connection.isSessionChanged) {
      this.discard(connection)
      return
    }
    const now = performance.now()
    if (connection.primary) connection.primary.lastAnswerAt = now
    this.#keep(connection, now)
    this.#leaveWith(connection)
  }

  /** Closes a connection instead of returning it. */
  discard(connection: Connection): void {
    this.#end(connection)
    this.#leaveWith(connection)
    // The server may have room for a new one.
    this.#fullUntil = 0
    this.#give(null)
  }

  /** Returns a connection after an error, or closes it if the error makes it unusable. */
  settle(connection: Connection, error: unknown): void {
    if (isUnanswered(connection, error)) cancelStatement(connection)
    const { primary } = connection
    if (primary && concernsServer(error, primary)) invalidateConnections(primary)
    if (isUnusable(connection, error)) this.discard(connection)
    else this.release(connection)
  }

  /**
   * For a session outside of the pool, after this error of its connection: a server that has too many gives no other, and
   * work uses those that it has as long as it lasts. So the pool cedes one, unless it is the only one.
   */
  async cede(error: unknown): Promise<Connection> {
    if (!isServerFull(error) || this.#opened.size < 2) throw error
    const connection = await this.acquire(SERVER_READ)
    this.#opened.delete(connection)
    this.#leaveWith(connection)
    return connection
  }

  /** Resolves when the work in progress has returned its connections and all are closed. */
  async close(): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#reaper)
    for (const connection of this.#idle.splice(0)) this.#end(connection)
    if (this.#busy > 0)
      await new Promise<void>(resolve => {
        this.#drained = resolve
      })
    await Promise.all(this.#ending)
  }

  #takeIdle(): Connection | undefined {
    for (;;) {
      const connection = this.#idle.pop()
      if (!connection?.isInvalid) return connection
      this.#end(connection)
    }
  }

  async #open(): Promise<Connection> {
    const deadline = performance.now() + this.#options.acquire
    for (let tries = 1; ; ) {
      const connection =
        (await this.#waitForReturned(deadline)) ??
        (await this.#openOne(deadline)) ??
        // Refused: another one may have become idle while the server answered.
        this.#takeIdle()
      if (!connection) continue
      if (!connection.isInvalid) return connection
      this.#end(connection)
      if (tries++ === TRIES) throw new DatabaseFailure(ENDED_AT_ONCE, connection.lostError)
    }
  }

  /**
   * Bounded by `acquire`: an attempt that takes longer goes on, for the next work. null: the server has too many
   * connections, so the work has to wait until one is returned or may be opened.
   */
  async #openOne(deadline: number): Promise<Connection | null> {
    if (this.#isClosed) throw new DatabaseFailure(CLOSED)
    const attempt = this.#claim() ?? this.#connect()
    const left = Math.max(1, deadline - performance.now())
    const opened = withTimeout<Connection | typeof LATE>(left, attempt, LATE)
    const connection = await opened.catch((error: unknown) => {
      if (!isServerFull(error) || performance.now() + FULL_TIME > deadline) return toUnavailable(error)
      this.#fullUntil = performance.now() + FULL_TIME
      return null
    })
    if (connection !== LATE) return connection
    this.#keepWhenOpen(attempt)
    throw new DatabaseFailure(this.#primary && isSilent(this.#primary) ? SILENT : BUSY)
  }

  /** The next connection that other work returns while the server is full. null: try to open one. */
  async #waitForReturned(deadline: number): Promise<Connection | null> {
    const now = performance.now()
    const wait = Math.min(this.#fullUntil, deadline) - now
    if (wait <= 0) return null
    return new Promise(resolve => {
      const take = (connection: Connection | null) => {
        clearTimeout(timer)
        this.#refused.delete(take)
        resolve(connection)
      }
      const timer = setTimeout(take, wait, null)
      this.#refused.add(take)
    })
  }

  /** Gives a connection to work that was refused one. False: there is none. null: it may try to open one. */
  #give(connection: Connection | null): boolean {
    const [take] = this.#refused
    take?.(connection)
    return take !== undefined
  }

  async #connect(): Promise<Connection> {
    const connection = await this.#options.connect()
    this.#opened.add(connection)
    connection.once('end', () => this.#forget(connection))
    return connection
  }

  /** An attempt that failed says nothing about the server as it is now. */
  #claim(): Promise<Connection> | undefined {
    for (const attempt of this.#unclaimed) {
      this.#unclaimed.delete(attempt)
      return attempt.catch(() => this.#connect())
    }
    return undefined
  }

  #keepWhenOpen(attempt: Promise<Connection>): void {
    this.#unclaimed.add(attempt)
    attempt.then(
      connection => {
        if (this.#unclaimed.delete(attempt)) this.#keep(connection, performance.now())
      },
      () => this.#unclaimed.delete(attempt),
    )
  }

  #keep(connection: Connection, now: number): void {
    if (this.#isClosed) {
      this.#end(connection)
      return
    }
    connection.idleSince = now
    if (this.#refused.size > 0 && this.#give(connection)) return
    this.#idle.push(connection)
    this.#reaper ??= this.#scheduleReaper()
  }

  #scheduleReaper(): NodeJS.Timeout {
    return setTimeout(() => this.#reap(), Math.min(this.#options.idle, REAP_INTERVAL)).unref()
  }

  /** Connections idle longest come first. */
  #reap(): void {
    const usedSince = performance.now() - this.#options.idle
    const kept = this.#idle.findIndex(({ idleSince }) => idleSince > usedSince)
    for (const connection of this.#idle.splice(0, kept < 0 ? this.#idle.length : kept)) this.#end(connection)
    this.#reaper = this.#idle.length > 0 ? this.#scheduleReaper() : undefined
  }

  #forget(connection: Connection): void {
    this.#opened.delete(connection)
    const at = this.#idle.indexOf(connection)
    if (at >= 0) this.#idle.splice(at, 1)
  }

  /** Not awaited: the server may never answer. `close` waits for it. */
  #end(connection: Connection): void {
    connection.isInvalid = true
    const ended: Promise<void> = connection
      .end()
      .catch(() => undefined)
      .then(() => void this.#ending.delete(ended))
    this.#ending.add(ended)
  }

  #leaveWith(connection: Connection): void {
    const { work } = connection
    connection.work = undefined
    if (work) this.#leave(work)
  }

  #leave(work: Work): void {
    this.#busy--
    this.#scheduler.leave(work)
    if (this.#busy === 0) this.#drained?.()
  }
}

/** The attempt took longer than work waits for a connection. */
const LATE = Symbol('late')

/** Too many connections of the server, the database or the role; the second is PgBouncer's. */
function isServerFull(error: unknown): boolean {
  const { code, message = '' } = toDriverError(error) ?? {}
  return code === '53300' || (code === '08P01' && message.includes('no more connections allowed'))
}

const CLOSED = { kind: 'unavailable', message: 'The database was closed' } as const
const BUSY = { kind: 'busy', message: 'No database connection became free in time' } as const
const SILENT = { kind: 'unavailable', message: 'The database did not answer in time' } as const
const ENDED_AT_ONCE = { kind: 'unavailable', message: 'The server ends each new connection at once' } as const

/** Whatever the reason, a connection that cannot be opened is unavailable. Login failures have SQLSTATEs of their own. */
export function toUnavailable(error: unknown): never {
  const message = toDatabaseFault(error)?.message ?? (error instanceof Error ? error.message : String(error))
  const isReadonly = error instanceof OpeningError && error.fault.kind === 'readonly'
  throw new DatabaseFailure({ kind: 'unavailable', message, isReadonly }, error)
}

/** The client timeout expired: PostgreSQL still executes the statement. */
function isUnanswered(connection: Connection, error: unknown): boolean {
  const fault = toDatabaseFault(error)
  return connection.isInvalid && fault?.kind === 'timeout' && fault.code === null
}

/** True if the error concerns the server, and thus its other connections as well. */
function concernsServer(error: unknown, primary: Primary): boolean {
  const fault = toDatabaseFault(error)
  if (fault?.kind === 'timeout') return fault.code === null && isSilent(primary)
  return fault?.kind === 'unavailable' && !OF_ONE_SESSION.test(String(toDriverError(causeOf(error))?.code))
}

/** Insufficient resources, an idle session, a failed transaction. */
const OF_ONE_SESSION = /^(53|25P|57P05)/

const causeOf = (error: unknown): unknown => (error instanceof DatabaseFailure ? error.cause : error)

/** Lost, left inside a transaction, or invalidated. */
function isUnusable(connection: Connection, error: unknown): boolean {
  if (connection.isInvalid || connection.getTransactionStatus() !== 'I') return true
  return toDatabaseFault(error)?.kind === 'unavailable'
}
