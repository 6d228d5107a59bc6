import type { Statement } from '../sql/statement.ts'

/** How far a server's log (WAL) has come: PostgreSQL's LSN as a number of bytes. */
export type Position = bigint

export const START: Position = 0n

/** Reads the primary's position. After a commit on the same connection, it is a position after that commit. */
export const OWN_POSITION: Statement = {
  name: 'tell a position',
  text: `SELECT (pg_current_wal_insert_lsn() - '0/0')::text`,
  values: [],
}

/** Reads whether a replica has replayed the position; null on a server that is not a replica. */
export const hasReplayed = (position: Position): Statement => ({
  name: 'compare a position',
  text: `SELECT pg_last_wal_replay_lsn() - '0/0' >= $1::numeric`,
  values: [String(position)],
})

/** null: the server did not report one. */
export const toPosition = (cell: unknown): Position | null =>
  typeof cell === 'string' && isPosition(cell) ? BigInt(cell) : null

/** Digits of a 64-bit LSN. */
const MAX_DIGITS = 20

export const isPosition = (text: string): boolean => /^\d+$/.test(text) && text.length <= MAX_DIGITS

export function furthest(...positions: readonly Position[]): Position {
  let most = START
  for (const position of positions) if (position > most) most = position
  return most
}
