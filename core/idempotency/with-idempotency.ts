import { createCipheriv, createDecipheriv, createHash, createHmac, hkdfSync, randomBytes } from 'node:crypto'
import { Readable } from 'node:stream'
import type { Caller } from '../access/caller.ts'
import type { Database, Transaction } from '../database/database.ts'
import { inRequestTransaction, type RequestTransaction } from '../database/request-scope.ts'
import { type Fault, fault, notFound, RequestFault } from '../faults/fault.ts'
import {
  firstAnswer,
  type HttpRequest,
  type HttpResponse,
  isSafeMethod,
  type Responder,
  refusalResponse,
  toFaultResponse,
} from '../faults/http-exchange.ts'
import type { Identify } from '../identity/identify.ts'

export interface IdempotencyOptions {
  readonly database: Pick<Database, 'transaction'>
  readonly identify: Identify
  /** Paths whose answers contain credentials, which must not be stored. */
  readonly excluded: readonly string[]
}

/** Wraps responders: a request with an Idempotency-Key is performed once, and its answer replayed for a day. */
export function withIdempotency(responders: readonly Responder[], options: IdempotencyOptions): Responder {
  return request =>
    request.headers['idempotency-key'] === undefined || isSafeMethod(request.method)
      ? firstAnswer(responders, request)
      : answerOnce(request, responders, options)
}

async function answerOnce(
  request: HttpRequest,
  responders: readonly Responder[],
  options: IdempotencyOptions,
): Promise<HttpResponse> {
  const { headers, writes } = request
  const text = parseKey(headers['idempotency-key'])
  checkIsAllowed(request, options)
  const caller = await options.identify(headers.authorization)
  const body = await request.body()
  if (!writes) throw new TypeError('a request that may write has its writes')
  const key = openKey(text, caller)
  const call = { request: withBody(request, body), caller, key, writes, responders }
  return runInTransaction({ ...call, digest: key.digestOf(request, body) }, options)
}

function checkIsAllowed({ path, headers }: HttpRequest, { excluded }: IdempotencyOptions): void {
  const below = path.toLowerCase()
  if (excluded.some(each => below === each || below.startsWith(`${each}/`)))
    throw notApplicable('signing in: its answers are never kept')
  if (/^\s*multipart\//i.test(headers['content-type'] ?? ''))
    throw notApplicable('multipart/form-data: each sending has another boundary')
}

const notApplicable = (to: string): RequestFault =>
  new RequestFault(fault('validation', `${HEADER} does not apply to ${to}`, { key: HEADER }))

/** The same request with its body already read. */
function withBody(request: HttpRequest, body: Buffer): HttpRequest {
  const { id, method, path, search, headers, peer, timing, origin, writes } = request
  return {
    ...{ id, method, path, search, headers, peer, origin },
    ...(timing !== undefined && { timing }),
    ...(writes && { writes }),
    get route() {
      return request.route ?? ''
    },
    set route(route: string) {
      request.route = route
    },
    body: async () => body,
    stream: () => Readable.from([body]),
  }
}

interface IdempotentRequest {
  readonly request: HttpRequest
  readonly caller: Caller
  readonly key: RequestKey
  /** Digest of the request. */
  readonly digest: string
  readonly writes: NonNullable<HttpRequest['writes']>
  readonly responders: readonly Responder[]
}

/** Rolls the transaction back and still answers. */
class RollbackWithAnswer extends Error {
  readonly answer: HttpResponse

  constructor(answer: HttpResponse) {
    super('undone')
    this.answer = answer
  }
}

/** Ends a transaction that has to run again. */
class DeadlockFound extends Error {}

/** The last attempt answers whatever it comes to. */
const ATTEMPTS = 6

/** After a deadlock the whole request runs again: its first savepoints hold the locks, and nothing has been written. */
async function runInTransaction(
  call: IdempotentRequest,
  { database }: IdempotencyOptions,
): Promise<HttpResponse> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await attemptInTransaction({ ...call, attempt }, database)
    } catch (error) {
      if (!(error instanceof DeadlockFound)) throw error
    }
  }
}

type Attempt = IdempotentRequest & { readonly attempt: number }

async function attemptInTransaction(
  call: Attempt,
  database: IdempotencyOptions['database'],
): Promise<HttpResponse> {
  const afterCommit: (() => unknown)[] = []
  const purpose = {
    requestContext: call.request,
    describe: () => ({ action: 'request with an idempotency key' }),
  }
  try {
    const answer = await database.transaction(
      transaction =>
        answerInTransaction(call, {
          transaction,
          afterCommit,
          boundsReads: true,
          isTouched: false,
          isOver: false,
        }),
      { purpose },
    )
    for (const work of afterCommit) await work()
    return answer
  } catch (error) {
    if (error instanceof RollbackWithAnswer) return error.answer
    throw error
  }
}

async function answerInTransaction(call: Attempt, whole: RequestTransaction): Promise<HttpResponse> {
  const { key, digest, request, responders, writes, attempt } = call
  const { transaction } = whole
  // One at a time, so that those that run again find no further deadlock with each other.
  if (attempt > 1) await transaction.lock('deadlocked requests')
  const record = await lockKey(key, transaction)
  if (record === 'held') throw new RollbackWithAnswer(inProgress())
  if (record)
    return record.request === digest ? replay(key.open(record.answer)) : toFaultResponse(anotherRequest())
  const isUnfinished = () => whole.isDeadlocked && attempt < ATTEMPTS
  try {
    const responded = await inRequestTransaction(writes, whole, async () =>
      firstAnswer(responders, request),
    ).catch(refusalResponse)
    if (isUnfinished()) throw new DeadlockFound()
    const answer = responded ?? toFaultResponse(notFound())
    if (answer.status >= 500) throw new RollbackWithAnswer(answer)
    if (whole.isTouched || isStored(answer, call)) storeAnswer(answer, call, transaction)
    return answer
  } catch (error) {
    throw isUnfinished() ? new DeadlockFound() : error
  } finally {
    whole.isOver = true
  }
}

const inProgress = (): HttpResponse => ({
  ...toFaultResponse(
    fault('conflict', `A request with this ${HEADER} is being carried out`, { key: HEADER }),
  ),
  headers: { 'Retry-After': '1' },
})

const anotherRequest = (): Fault =>
  fault('unprocessable', `This ${HEADER} was sent with another request: use a new one`, { key: HEADER })

const replay = (text: string): HttpResponse => {
  const answer = deserializeAnswer(text)
  return { ...answer, headers: { ...answer.headers, 'Idempotency-Replayed': 'true' } }
}

/** Refusals that a later retry may not get. They are not stored: nothing was written. */
const TRANSIENT: ReadonlySet<number> = new Set([401, 403, 405, 408, 409, 413, 415, 429])

const isStored = ({ status, isTransient: isPassing }: HttpResponse, { caller }: IdempotentRequest): boolean =>
  !TRANSIENT.has(status) && !isPassing && (status < 400 || caller.kind !== 'public')

/** Maximum size of a stored answer. */
const MAX_BYTES = 1_048_576

function storeAnswer(
  answer: HttpResponse,
  { key, digest }: IdempotentRequest,
  transaction: Transaction,
): void {
  const text = serializeAnswer(answer)
  const size = Buffer.byteLength(text)
  if (size > MAX_BYTES) throw new RollbackWithAnswer(toFaultResponse(tooLarge(size)))
  writeRecord(transaction, key, { request: digest, answer: key.seal(text) })
}

const tooLarge = (size: number): Fault =>
  fault(
    'validation',
    `With ${HEADER} an answer may have ${MAX_BYTES} bytes, this one has ${size}: ask for fewer fields. Nothing was written`,
    { key: HEADER },
  )

const TABLE = 'plinth_idempotency'

/** The stored answer to the first request with a key. */
interface IdempotencyRecord {
  /** Digest of that request. */
  readonly request: string
  readonly answer: string
}

/**
 * Locks a key until the transaction ends and reads its record, in one round trip. `held`: another transaction holds the
 * lock; null: there is no record.
 */
async function lockKey(
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

function writeRecord(
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
function serializeAnswer({ body, ...answer }: HttpResponse): string {
  return JSON.stringify(
    Buffer.isBuffer(body)
      ? { ...answer, body: body.toString('base64'), isBytes: true }
      : { ...answer, body, isBytes: false },
  )
}

function deserializeAnswer(text: string): HttpResponse {
  const { isBytes, body, ...answer } = JSON.parse(text)
  return { ...answer, body: isBytes ? Buffer.from(body, 'base64') : body }
}

const HEADER = 'Idempotency-Key'

const MAX_LENGTH = 255

/** Parses the header: a quoted string, as in the IETF draft, or a bare one. Throws a RequestFault. */
function parseKey(input: string | string[] | undefined): string {
  const text = String(input).trim()
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
interface RequestKey {
  /** The record's primary key; differs for each caller. */
  readonly digest: string
  /** Digest of the request, which detects another request with the same key. */
  digestOf(request: HttpRequest, body: Buffer): string
  seal(text: string): string
  open(sealed: string): string
}

function openKey(key: string, caller: Caller): RequestKey {
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

/** An API key with a part of the permissions must not get an answer that its user's session was given. */
const callerName = ({ kind, grants, user, subject, key }: Caller): string => {
  const names = { public: null, token: grants.name, user: user?.documentId, external: subject }
  return JSON.stringify([kind, names[kind], ...(key?.isNarrow ? [key.id] : [])])
}

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
