import type { Statement } from '../../sql/statement.ts'
import { abandon } from '../connect/cancel.ts'
import { type AnswerTerms, type Connection, runBounded, settingsOf } from '../connection.ts'
import type { Rows } from '../database.ts'
import { toDatabaseFault } from '../database-fault.ts'
import { hasReplayed, type Position } from '../lsn.ts'
import type { Work } from '../scheduling/scheduled-work.ts'
import { toFailure } from '../to-failure.ts'
import { type Replica, takeOut } from './replica.ts'

export interface ReplicaTerms extends AnswerTerms {
  /** Proved beside the read, by the connection that answers it: behind one address there may be several servers. null: need not be. */
  readonly after: Position | null
  readonly work: Work
  readonly signal?: AbortSignal | undefined
}

/** Runs one read; null: this replica cannot answer it, and the primary is to be asked. */
export async function runOnReplica(
  replica: Replica,
  statement: Statement,
  terms: ReplicaTerms,
): Promise<Rows | null> {
  const connection = await replica.pool.acquire(terms.work).catch((error: unknown) => {
    if (saysNothing(error)) throw error
    suspect(replica, error)
    return null
  })
  if (connection === null) return null
  const giveUp = () => abandon(connection)
  terms.signal?.addEventListener('abort', giveUp, { once: true })
  replica.busy.add(connection)
  try {
    const rows = await read(connection, statement, terms)
    giveBack(replica, connection)
    return rows
  } catch (error) {
    replica.pool.settle(connection, error)
    if (terms.signal?.aborted || saysNothing(error)) throw toFailure(error)
    suspect(replica, error)
    return null
  } finally {
    replica.busy.delete(connection)
    terms.signal?.removeEventListener('abort', giveUp)
  }
}

async function read(
  connection: Connection,
  statement: Statement,
  { after, ...terms }: ReplicaTerms,
): Promise<Rows | null> {
  const proof = after === null ? [] : [hasReplayed(after)]
  const outcomes = await runBounded(connection, [...settingsOf(connection), ...proof, statement], terms)
  if (after !== null && outcomes.at(-2)?.rows[0]?.[0] !== true) return null
  return outcomes.at(-1) ?? null
}

function giveBack({ pool }: Replica, connection: Connection): void {
  if (connection._invalid) pool.discard(connection)
  else pool.release(connection)
}

/** The primary would be as slow, its answer as large, and load that moves there would stop the writes, too. */
function saysNothing(error: unknown): boolean {
  const kind = toDatabaseFault(error)?.kind
  return kind === 'timeout' || kind === 'busy' || kind === 'too-large'
}

/** If the server is gone it gets no more reads. Other errors concern the statement alone: its tables are not replayed yet, or replay cancelled it. */
function suspect(replica: Replica, error: unknown): void {
  const fault = toDatabaseFault(error)
  if (fault?.kind === 'unavailable' && replica.state.kind === 'well')
    takeOut(replica, { kind: 'away', message: fault.message })
}
