import type { Transaction } from '../database/database.ts'
import type { HttpResponse } from '../faults/http-exchange.ts'
import type { RequestKey } from './idempotency-key.ts'

const TABLE = 'plinth_idempotency'

/** The stored answer to the first request with a key. */
export interface IdempotencyRecord {
  /** Digest of that request. */
  readonly request: string
  readonly answer: string
}

/**
 * Locks a key until the transaction ends and reads its record, in one round trip. `held`: another transaction holds the
 * lock; null: there is no record.
 */
export async function lockKey(
  { digest }: RequestKey,
  transaction: Transaction,
): Promise<IdempotencyRecord | 'held' | null> {
  const [isMine, { rows }] = await Promise.all([
    transaction.tryLock(`idempotency ${digest}`),
    transaction.run({ name: 'find a remembered answer', text: FIND, values: [digest] }),
  ])
  if (!isMine) return 'held'
  const [request, answer] = rows[0] ?? []
  return rows.length === 0 ? null : { request: String(request), answer: String(answer) }
}

const FIND = `SELECT request, answer FROM ${TABLE} WHERE key = $1 AND expires_at > now()`

/** How long a key is valid. */
const RETENTION = '1 day'

/** Maximum number of expired records that a write deletes. */
const SWEEP_LIMIT = 20

export function writeRecord(
  transaction: Transaction,
  key: RequestKey,
  { request, answer }: IdempotencyRecord,
): void {
  transaction.send({ name: 'remember an answer', text: REMEMBER, values: [key.digest, request, answer] })
  transaction.send({ name: 'forget old answers', text: FORGET, values: [SWEEP_LIMIT] })
}

const REMEMBER = `INSERT INTO ${TABLE} AS r (key, request, answer, expires_at) VALUES ($1, $2, $3, now() + interval '${RETENTION}')
ON CONFLICT (key) DO UPDATE SET request = excluded.request, answer = excluded.answer, expires_at = excluded.expires_at`

const FORGET = `DELETE FROM ${TABLE} WHERE key IN
(SELECT key FROM ${TABLE} WHERE expires_at <= now() ORDER BY expires_at LIMIT $1::integer FOR UPDATE SKIP LOCKED)`

/** Serializes an answer, bytes as base64. */
export function serializeAnswer({ body, ...answer }: HttpResponse): string {
  return JSON.stringify(
    Buffer.isBuffer(body)
      ? { ...answer, body: body.toString('base64'), isBytes: true }
      : { ...answer, body, isBytes: false },
  )
}

export function deserializeAnswer(text: string): HttpResponse {
  const { isBytes, body, ...answer } = JSON.parse(text)
  return { ...answer, body: isBytes ? Buffer.from(body, 'base64') : body }
}
