import type { Statement } from '../../sql/statement.ts'
import { cancelStatement } from '../connect/cancel.ts'
import { type AnswerLimits, type Connection, runBounded, settingsOf } from '../connection.ts'
import type { Rows } from '../database.ts'
import { toDatabaseFault, toFailure } from '../database-fault.ts'
import { hasReplayed, type Lsn } from '../lsn.ts'
import type { Work } from '../scheduling/scheduled-work.ts'
import { type Replica, takeOut } from './replica.ts'

export interface ReplicaTerms extends AnswerLimits {
  /**
   * The position that the read must see. The connection that answers checks it, because one address may lead to several
   * servers. null: any.
   */
  readonly after: Lsn | null
  readonly work: Work
  readonly signal?: AbortSignal | undefined
}

/** Runs one read. Resolves to null if this replica cannot answer it and the primary must. */
export async function runOnReplica(
  replica: Replica,
  statement: Statement,
  terms: ReplicaTerms,
): Promise<Rows | null> {
  const connection = await replica.pool.acquire(terms.work).catch((error: unknown) => {
    if (isFinal(error)) throw error
    recordFailure(replica, error)
    return null
  })
  if (connection === null) return null
  const cancel = () => cancelStatement(connection)
  terms.signal?.addEventListener('abort', cancel, { once: true })
  replica.busy.add(connection)
  try {
    const rows = await read(connection, statement, terms)
    replica.pool.release(connection)
    return rows
  } catch (error) {
    replica.pool.settle(connection, error)
    if (terms.signal?.aborted || isFinal(error)) throw toFailure(error)
    recordFailure(replica, error)
    return null
  } finally {
    replica.busy.delete(connection)
    terms.signal?.removeEventListener('abort', cancel)
  }
}

async function read(
  connection: Connection,
  statement: Statement,
  { after, ...limits }: ReplicaTerms,
): Promise<Rows | null> {
  const check = after === null ? [] : [hasReplayed(after)]
  const results = await runBounded(connection, [...settingsOf(connection), ...check, statement], limits)
  if (after !== null && results.at(-2)?.rows[0]?.[0] !== true) return null
  return results.at(-1) ?? null
}

/** The primary would be as slow and its answer as large. Moved load would block its writes, too. */
function isFinal(error: unknown): boolean {
  const kind = toDatabaseFault(error)?.kind
  return kind === 'timeout' || kind === 'busy' || kind === 'aborted' || kind === 'too-large'
}

/**
 * Takes the replica out if the server is gone. Other errors concern the statement only: its tables are not replayed yet, or
 * replay cancelled it.
 */
function recordFailure(replica: Replica, error: unknown): void {
  const fault = toDatabaseFault(error)
  if (fault?.kind === 'unavailable' && replica.state.kind === 'well')
    takeOut(replica, { kind: 'away', message: fault.message })
}
