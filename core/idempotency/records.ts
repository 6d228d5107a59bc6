import type { Transaction } from '../database/database.ts'
import type { HttpAnswer } from '../faults/exchange.ts'
import type { RequestKey } from './request-key.ts'

const TABLE = 'plinth_idempotency'

/** What was answered to the first request with a key. */
export interface Remembered {
  /** The digest of that request. */
  readonly request: string
  readonly answer: string
}

/**
 * Holds a key until the transaction ends, and reads what is remembered of it, in one round trip. `held`: another
 * transaction holds it; null: nothing is remembered.
 */
export async function holdKey(
  { digest }: RequestKey,
  transaction: Transaction,
): Promise<Remembered | 'held' | null> {
  const [isMine, { rows }] = await Promise.all([
    transaction.tryLock(`idempotency ${digest}`),
    transaction.run({ name: 'find a remembered answer', text: FIND, values: [digest] }),
  ])
  if (!isMine) return 'held'
  const [request, answer] = rows[0] ?? []
  return rows.length === 0 ? null : { request: String(request), answer: String(answer) }
}

const FIND = `SELECT request, answer FROM ${TABLE} WHERE key = $1 AND expires_at > now()`

/** A request may have one of these keys for a day. */
const KEPT_FOR = '1 day'

/** Records that have expired go with new ones, a few at a time. */
const SWEPT = 20

export function writeRecord(
  transaction: Transaction,
  key: RequestKey,
  { request, answer }: Remembered,
): void {
  transaction.send({ name: 'remember an answer', text: REMEMBER, values: [key.digest, request, answer] })
  transaction.send({ name: 'forget old answers', text: FORGET, values: [SWEPT] })
}

const REMEMBER = `INSERT INTO ${TABLE} AS r (key, request, answer, expires_at) VALUES ($1, $2, $3, now() + interval '${KEPT_FOR}')
ON CONFLICT (key) DO UPDATE SET request = excluded.request, answer = excluded.answer, expires_at = excluded.expires_at`

const FORGET = `DELETE FROM ${TABLE} WHERE key IN
(SELECT key FROM ${TABLE} WHERE expires_at <= now() ORDER BY expires_at LIMIT $1::integer FOR UPDATE SKIP LOCKED)`

/** An answer as text, with bytes in base64. */
export function printAnswer({ body, ...answer }: HttpAnswer): string {
  return JSON.stringify(
    Buffer.isBuffer(body)
      ? { ...answer, body: body.toString('base64'), isBytes: true }
      : { ...answer, body, isBytes: false },
  )
}

export function readAnswer(text: string): HttpAnswer {
  const { isBytes, body, ...answer } = JSON.parse(text)
  return { ...answer, body: isBytes ? Buffer.from(body, 'base64') : body }
}
