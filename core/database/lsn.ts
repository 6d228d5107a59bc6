import type { Statement } from '../sql/statement.ts'

/** How far a server's log (WAL) has come, in bytes: PostgreSQL's LSN as a number. It only grows. */
export type Position = bigint

export const START: Position = 0n

/** After the commit of what this connection did before. */
export const OWN_POSITION: Statement = {
  name: 'tell a position',
  text: `SELECT (pg_current_wal_insert_lsn() - '0/0')::text`,
  values: [],
}

/** Whether a replica has come so far; null from a server that is none. */
export const hasReplayed = (position: Position): Statement => ({
  name: 'compare a position',
  text: `SELECT pg_last_wal_replay_lsn() - '0/0' >= $1::numeric`,
  values: [String(position)],
})

/** null: a server that does not tell. */
export const toPosition = (cell: unknown): Position | null =>
  typeof cell === 'string' && isPosition(cell) ? BigInt(cell) : null

/** An LSN has 64 bits. */
const LONGEST = 20

export const isPosition = (text: string): boolean => /^\d+$/.test(text) && text.length <= LONGEST

export function furthest(...positions: readonly Position[]): Position {
  let most = START
  for (const position of positions) if (position > most) most = position
  return most
}
