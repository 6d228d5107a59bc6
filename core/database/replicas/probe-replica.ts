import { withTimeout } from '../../base/with-timeout.ts'
import type { Pool } from '../connect/pool.ts'
import type { Cell } from '../database.ts'
import { toDatabaseFault } from '../database-fault.ts'
import { OWN_POSITION, type Position, toPosition } from '../lsn.ts'
import { ownRead, runStatement } from '../statements/run-statement.ts'

/** What one look at a replica found. */
export type Sight =
  | { readonly kind: 'replica'; readonly replayed: Position }
  | { readonly kind: 'away' | 'stranger'; readonly message: string }

/** Which database of which cluster a server has: a replica has it from its primary. null: not yet known. */
export type Identity = Cell

/** Milliseconds for an answer. */
const PATIENCE = 2_000

/** The first row; rejects where none comes in time. */
async function ask(pool: Pool, text: string): Promise<readonly Cell[]> {
  const answer = await withTimeout(
    PATIENCE,
    runStatement(pool, { text, values: [] }, ownRead(PATIENCE)),
    null,
  )
  if (answer === null) throw new Error('it does not answer in time')
  return answer.rows[0] ?? []
}

const IDENTITY = `(SELECT c.system_identifier || '/' || d.oid FROM pg_control_system() c, pg_database d WHERE d.datname = current_database())`

/** Where the primary is; null: it is away, or its address leads to no primary now. */
export async function readMark(
  primary: Pool,
): Promise<{ readonly position: Position; readonly identity: Identity } | null> {
  const row = await ask(primary, `${OWN_POSITION.text}, ${IDENTITY}`).catch(() => null)
  const position = toPosition(row?.[0])
  return position === null ? null : { position, identity: row?.[1] ?? null }
}

export async function lookAt(lookout: Pool, identity: Identity): Promise<Sight> {
  try {
    const [isReplica, replayed, own] = await ask(lookout, LOOK)
    const position = toPosition(replayed)
    if (isReplica !== true || position === null) return stranger('it is no replica (any more)')
    if (identity !== null && own !== identity) return stranger('it is the replica of another database')
    return { kind: 'replica', replayed: position }
  } catch (error) {
    return { kind: 'away', message: toDatabaseFault(error)?.message ?? String(error) }
  }
}

const LOOK = `SELECT pg_is_in_recovery(), (pg_last_wal_replay_lsn() - '0/0')::text, ${IDENTITY}`

const stranger = (message: string): Sight => ({ kind: 'stranger', message })
