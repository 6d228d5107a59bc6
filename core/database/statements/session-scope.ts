import { AsyncLocalStorage } from 'node:async_hooks'
import { furthest, type Position } from '../lsn.ts'

/** What a request says about the writes that its sender has seen acknowledged, and what is to be told back to it. */
export interface Session {
  /** No read of the request may come from before it; null: the sender does not say what it has seen. */
  readonly after: Position | null
  /** Its reads are the primary's: replicas may be behind, and it must not notice. */
  onPrimary: boolean
  /** Of the last write of the request; null: it has written nothing. */
  written: Position | null
}

const sessions = new AsyncLocalStorage<Session>()

/** Runs a request's work; whatever it reads and writes on the way is the session's. */
export const inSession = <Value>(session: Session, work: () => Value): Value => sessions.run(session, work)

/** undefined: work that no request asked for. */
export const currentSession = (): Session | undefined => sessions.getStore()

/** From here on the request reads what it is about to change, or has changed. */
export function stayOnPrimary(): void {
  const session = currentSession()
  if (session) session.onPrimary = true
}

/** Who may write, and does not say what it has seen, reads what it wrote all the same. */
export function readOwnWrites(): void {
  if (currentSession()?.after === null) stayOnPrimary()
}

export function noteWrite(session: Session, position: Position): void {
  session.written = furthest(session.written ?? position, position)
}
