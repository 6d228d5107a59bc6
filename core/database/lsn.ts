import type { Statement } from '../sql/statement.ts'

/** How far a server's log (WAL) has come: PostgreSQL's LSN as a number of bytes. */
export type Lsn = bigint

export const FIRST_LSN: Lsn = 0n

/** Reads the primary's position. After a commit on the same connection, it is a position after that commit. */
export const READ_LSN: Statement = {
  name: 'read the WAL position',
  text: `SELECT (pg_current_wal_insert_lsn() - '0/0')::text`,
  values: [],
}

/** Reads whether a replica has replayed the position; null on a server that is not a replica. */
export const hasReplayed = (position: Lsn): Statement => ({
  name: 'compare the replayed WAL position',
  text: `SELECT pg_last_wal_replay_lsn() - '0/0' >= $1::numeric`,
  values: [String(position)],
})

/** null: the server did not report one. */
export const toLsn = (cell: unknown): Lsn | null =>
  typeof cell === 'string' && isLsn(cell) ? BigInt(cell) : null

/** Digits of a 64-bit LSN. */
const MAX_DIGITS = 20

export const isLsn = (text: string): boolean => /^\d+$/.test(text) && text.length <= MAX_DIGITS

export function furthest(...positions: readonly Lsn[]): Lsn {
  let most = FIRST_LSN
  for (const position of positions) if (position > most) most = position
  return most
}
