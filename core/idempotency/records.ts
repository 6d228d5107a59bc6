import { createCipheriv, createDecipheriv, createHash, createHmac, hkdfSync, randomBytes } from 'node:crypto'
import type { Caller } from '../access/caller.ts'
import type { Transaction } from '../database/database.ts'
import { fault, RequestFault } from '../faults/fault.ts'
import type { HttpRequest, HttpResponse } from '../faults/http-exchange.ts'

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

export const HEADER = 'Idempotency-Key'

const MAX_LENGTH = 255

/** Parses the header: a quoted string, as in the IETF draft, or a bare one. Throws a RequestFault. */
export function parseKey(given: string | string[] | undefined): string {
  const text = String(given).trim()
  const key = /^".*"$/.test(text) ? text.slice(1, -1) : text
  if (key.length > 0 && key.length <= MAX_LENGTH && /^[ -~]*$/.test(key)) return key
  const expected = `1 to ${MAX_LENGTH} printable ASCII characters, such as a UUID`
  throw new RequestFault(
    fault('validation', `Invalid ${HEADER}: expected ${expected}, got ${key.length} characters`, {
      key: HEADER,
      expected,
    }),
  )
}

/** Secrets derived from a key. Without the key, stored data cannot be read or guessed from a low-entropy body. */
export interface RequestKey {
  /** The record's primary key; differs for each caller. */
  readonly digest: string
  /** Digest of the request, which detects another request with the same key. */
  digestOf(request: HttpRequest, body: Buffer): string
  seal(text: string): string
  open(sealed: string): string
}

export function openKey(key: string, caller: Caller): RequestKey {
  const name = JSON.stringify([callerName(caller), key])
  const secret = (purpose: string) => Buffer.from(hkdfSync('sha256', name, 'plinth idempotency', purpose, 32))
  const cipherKey = secret('answer')
  return {
    digest: createHash('sha256').update(secret('record')).digest('hex'),
    digestOf: (request, body) => digestRequest(secret('request'), request, body),
    seal: text => seal(cipherKey, text),
    open: sealed => open(cipherKey, sealed),
  }
}

const callerName = ({ kind, grants, user }: Caller): string =>
  JSON.stringify([kind, kind === 'user' ? user?.documentId : kind === 'token' ? grants.name : null])

/** Headers that change the meaning of a request. */
const RELEVANT_HEADERS = ['content-type', 'strapi-response-format', 'if-match', 'accept-language'] as const

function digestRequest(secret: Buffer, { method, path, search, headers }: HttpRequest, body: Buffer): string {
  const asked = JSON.stringify([method, path, search, ...RELEVANT_HEADERS.map(name => headers[name] ?? null)])
  return createHmac('sha256', secret).update(asked).update('\0').update(body).digest('hex')
}

const CIPHER = 'aes-256-gcm'
const IV_BYTES = 12
const TAG_BYTES = 16

function seal(key: Buffer, text: string): string {
  const iv = randomBytes(IV_BYTES)
  const cipher = createCipheriv(CIPHER, key, iv)
  const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
  return Buffer.concat([iv, cipher.getAuthTag(), sealed]).toString('base64')
}

function open(key: Buffer, sealed: string): string {
  const bytes = Buffer.from(sealed, 'base64')
  const decipher = createDecipheriv(CIPHER, key, bytes.subarray(0, IV_BYTES))
  decipher.setAuthTag(bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES))
  return decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES), undefined, 'utf8') + decipher.final('utf8')
}
