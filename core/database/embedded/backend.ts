import { EngineStopped, type Execute } from './restarting.ts'
import { hasError, hasNotification, simpleQuery, statusOf } from './wire.ts'

/** The backend ends the client of an idle transaction (`idleLimit`), not PostgreSQL the session of all clients. */
export const OWN_IDLE_LIMIT = { idleInTransaction: 0 } as const

/** A client of the session. Compared by identity. */
export interface BackendClient {
  /** A client in another process. */
  readonly isForeign: boolean
  answer(bytes: Buffer): void
  /** Ends the client. */
  fail(error: Error): void
}

export interface BackendOptions {
  /** Milliseconds a transaction may stay open with nothing to do before it is rolled back. */
  readonly idleLimit: number
  /** SQL that undoes a foreign client's changes of the session. */
  readonly reset: string
  /** Called when a foreign client sent a NOTIFY that the session listens to. */
  readonly notified: () => void
}

interface QueuedBatch {
  readonly client: BackendClient
  readonly batch: Buffer
}

/**
 * Shares one PostgreSQL session between many clients. A client with an open transaction holds the session until the
 * transaction ends. Otherwise batches run in the order of arrival. The session is reset after the batches of a foreign client,
 * and after a client of this process has ended.
 */
export class EmbeddedBackend {
  readonly #execute: Execute
  readonly #options: BackendOptions
  readonly #gone = new WeakSet<BackendClient>()
  /** The clients that have sent a batch and not left. */
  readonly #clients = new Set<BackendClient>()
  #queue: QueuedBatch[] = []
  #holder: BackendClient | undefined
  #isScheduled = false
  #idleTimer: NodeJS.Timeout | undefined
  /** The client that may have changed the session, which is reset before another client's batch. */
  #lastChanger: BackendClient | undefined

  constructor(execute: Execute, options: BackendOptions) {
    this.#execute = execute
    this.#options = options
  }

  submit(client: BackendClient, batch: Buffer): void {
    this.#clients.add(client)
    this.#queue.push({ client, batch })
    this.#schedule()
  }

  /** Drops the client's queued batches and rolls back its open transaction. */
  leave(client: BackendClient): void {
    this.#gone.add(client)
    this.#clients.delete(client)
    this.#queue = this.#queue.filter(({ client: queued }) => queued !== client)
    // A connection of this process ends early if its session was changed.
    if (!client.isForeign) this.#lastChanger ??= client
    if (this.#holder === client) this.#rollBack()
  }

  /** One batch per event loop turn: a chain of fast statements must not starve sockets. */
  #schedule(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    setImmediate(() => void this.#runNext())
  }

  async #runNext(): Promise<void> {
    const next = this.#take()
    if (next) {
      clearTimeout(this.#idleTimer)
      await this.#run(next)
      this.#watchHolder()
    }
    this.#isScheduled = false
    if (next && this.#queue.length > 0) this.#schedule()
  }

  #take(): QueuedBatch | undefined {
    const holder = this.#holder
    const at = holder === undefined ? 0 : this.#queue.findIndex(({ client: queued }) => queued === holder)
    return at < 0 ? undefined : this.#queue.splice(at, 1)[0]
  }

  async #run({ client, batch }: QueuedBatch): Promise<void> {
    try {
      if (this.#lastChanger !== client && client !== ROLLBACK_CLIENT) await this.#enter(client)
      const answer = await this.#execute(batch)
      this.#holder = statusOf(answer) === 'I' ? undefined : client
      if (this.#holder && this.#gone.has(client)) this.#rollBack()
      if (client.isForeign && hasNotification(answer)) this.#options.notified()
      client.answer(answer)
    } catch (error) {
      if (error instanceof EngineStopped) this.#endAll(error)
      client.fail(error instanceof Error ? error : new Error(String(error)))
    }
  }

  /** The session is gone, with the open transaction and all prepared statements. */
  #endAll(error: EngineStopped): void {
    clearTimeout(this.#idleTimer)
    this.#holder = undefined
    for (const client of [...this.#clients]) client.fail(error)
  }

  async #enter(client: BackendClient): Promise<void> {
    if (this.#lastChanger) {
      const answer = await this.#execute(simpleQuery(this.#options.reset))
      if (hasError(answer)) throw new Error('Connection terminated: the session could not be reset')
    }
    this.#lastChanger = client.isForeign ? client : undefined
  }

  #rollBack(): void {
    this.#holder = ROLLBACK_CLIENT
    this.#queue.unshift({ client: ROLLBACK_CLIENT, batch: simpleQuery('ROLLBACK') })
    this.#schedule()
  }

  /** PostgreSQL's own timeout would end the session, which is the one of all clients. */
  #watchHolder(): void {
    const holder = this.#holder
    if (!holder) return
    const expire = () => holder.fail(new Error('Connection terminated: a transaction was left open'))
    this.#idleTimer = setTimeout(expire, this.#options.idleLimit)
    this.#idleTimer.unref()
  }
}

/** Holds the session while the transaction of a client that ended is rolled back. */
const ROLLBACK_CLIENT: BackendClient = { isForeign: false, answer: () => undefined, fail: () => undefined }
