import { hasError, hasNotification, simpleQuery, statusOf } from './wire.ts'

/** Runs a batch of wire messages; the answer ends with ReadyForQuery. */
export type Execute = (batch: Buffer) => Promise<Buffer>

/** A client of the one session. Compared by identity. */
export interface Guest {
  /** A client in another process. */
  readonly isForeign: boolean
  answer(bytes: Buffer): void
  /** Ends the client. */
  fail(error: Error): void
}

export interface BackendTerms {
  /** Milliseconds a transaction may stay open with nothing to do before it is rolled back. */
  readonly idleLimit: number
  /** SQL that resets what a foreign client changed of the session. */
  readonly reset: string
  /** Called when a foreign client sent a NOTIFY that the session listens to. */
  readonly notified: () => void
}

interface Turn {
  readonly guest: Guest
  readonly batch: Buffer
}

/**
 * One PostgreSQL session for many clients. A client with an open transaction holds the session until it ends; the
 * others queue, first come, first served. Without a transaction open, batches of all clients take turns. The session is reset
 * behind the turns of a foreign client, and when a client of the process itself ends.
 */
export class EmbeddedBackend {
  readonly #execute: Execute
  readonly #terms: BackendTerms
  readonly #gone = new WeakSet<Guest>()
  #queue: Turn[] = []
  #holder: Guest | undefined
  #isScheduled = false
  #idleTimer: NodeJS.Timeout | undefined
  /** The client that may have changed the session: it is reset before the next one's turn; undefined: none has. */
  #former: Guest | undefined

  constructor(execute: Execute, terms: BackendTerms) {
    this.#execute = execute
    this.#terms = terms
  }

  submit(guest: Guest, batch: Buffer): void {
    this.#queue.push({ guest, batch })
    this.#schedule()
  }

  /** Forgets what the guest queued, and rolls back what it left open. */
  leave(guest: Guest): void {
    this.#gone.add(guest)
    this.#queue = this.#queue.filter(turn => turn.guest !== guest)
    // The process ends a connection of its own where the session was changed.
    if (!guest.isForeign) this.#former ??= guest
    if (this.#holder === guest) this.#rollBack()
  }

  /** One turn an event loop round: a chain of fast statements must not keep sockets waiting. */
  #schedule(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    setImmediate(() => void this.#runTurn())
  }

  async #runTurn(): Promise<void> {
    const turn = this.#take()
    if (turn) {
      clearTimeout(this.#idleTimer)
      await this.#run(turn)
      this.#watch()
    }
    this.#isScheduled = false
    if (turn && this.#queue.length > 0) this.#schedule()
  }

  #take(): Turn | undefined {
    const holder = this.#holder
    const at = holder === undefined ? 0 : this.#queue.findIndex(turn => turn.guest === holder)
    return at < 0 ? undefined : this.#queue.splice(at, 1)[0]
  }

  async #run({ guest, batch }: Turn): Promise<void> {
    try {
      if (this.#former !== guest && guest !== NOBODY) await this.#enter(guest)
      const answer = await this.#execute(batch)
      this.#holder = statusOf(answer) === 'I' ? undefined : guest
      if (this.#holder && this.#gone.has(guest)) this.#rollBack()
      if (guest.isForeign && hasNotification(answer)) this.#terms.notified()
      guest.answer(answer)
    } catch (error) {
      guest.fail(error instanceof Error ? error : new Error(String(error)))
    }
  }

  async #enter(guest: Guest): Promise<void> {
    if (this.#former) {
      const answer = await this.#execute(simpleQuery(this.#terms.reset))
      if (hasError(answer)) throw new Error('Connection terminated: the session could not be reset')
    }
    this.#former = guest.isForeign ? guest : undefined
  }

  #rollBack(): void {
    this.#holder = NOBODY
    this.#queue.unshift({ guest: NOBODY, batch: simpleQuery('ROLLBACK') })
    this.#schedule()
  }

  /** The embedded server's own idle_in_transaction_session_timeout does not fire: it has no clock. */
  #watch(): void {
    const holder = this.#holder
    if (!holder) return
    const giveUp = () => holder.fail(new Error('Connection terminated: a transaction was left open'))
    this.#idleTimer = setTimeout(giveUp, this.#terms.idleLimit)
    this.#idleTimer.unref()
  }
}

/** Stands for a guest that left a transaction open, while it is rolled back. */
const NOBODY: Guest = { isForeign: false, answer: () => undefined, fail: () => undefined }
