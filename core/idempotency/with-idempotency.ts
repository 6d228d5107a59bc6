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
import {
  deserializeAnswer,
  HEADER,
  lockKey,
  openKey,
  parseKey,
  type RequestKey,
  serializeAnswer,
  writeRecord,
} from './records.ts'

export interface IdempotencyTerms {
  readonly database: Pick<Database, 'transaction'>
  readonly identify: Identify
  /** Paths whose answers contain credentials, which must not be stored. */
  readonly closed: readonly string[]
}

/** Wraps responders: a request with an Idempotency-Key is performed once, and its answer replayed for a day. */
export function withIdempotency(responders: readonly Responder[], terms: IdempotencyTerms): Responder {
  return request =>
    request.headers['idempotency-key'] === undefined || isSafeMethod(request.method)
      ? firstAnswer(responders, request)
      : answerOnce(request, responders, terms)
}

async function answerOnce(
  request: HttpRequest,
  responders: readonly Responder[],
  terms: IdempotencyTerms,
): Promise<HttpResponse> {
  const { headers, writes } = request
  const text = parseKey(headers['idempotency-key'])
  checkIsAllowed(request, terms)
  const caller = await terms.identify(headers.authorization)
  const body = await request.body()
  if (!writes) throw new TypeError('a request that may write has its writes')
  const key = openKey(text, caller)
  const call = { request: withBody(request, body), caller, key, writes, responders }
  return runInTransaction({ ...call, digest: key.digestOf(request, body) }, terms)
}

function checkIsAllowed({ path, headers }: HttpRequest, { closed }: IdempotencyTerms): void {
  const below = path.toLowerCase()
  if (closed.some(each => below === each || below.startsWith(`${each}/`)))
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

async function runInTransaction(
  call: IdempotentRequest,
  { database }: IdempotencyTerms,
): Promise<HttpResponse> {
  const afterCommit: (() => unknown)[] = []
  const purpose = { trail: call.request, describe: () => ({ action: 'request with an idempotency key' }) }
  try {
    const answer = await database.transaction(
      transaction => answerInTransaction(call, { transaction, afterCommit, isTouched: false, isOver: false }),
      { purpose },
    )
    for (const work of afterCommit) await work()
    return answer
  } catch (error) {
    if (error instanceof RollbackWithAnswer) return error.answer
    throw error
  }
}

async function answerInTransaction(
  call: IdempotentRequest,
  whole: RequestTransaction,
): Promise<HttpResponse> {
  const { key, digest, request, responders, writes } = call
  const { transaction } = whole
  const record = await lockKey(key, transaction)
  if (record === 'held') throw new RollbackWithAnswer(inProgress())
  if (record)
    return record.request === digest ? replay(key.open(record.answer)) : toFaultResponse(anotherRequest())
  try {
    const responded = await inRequestTransaction(writes, whole, async () =>
      firstAnswer(responders, request),
    ).catch(refusalResponse)
    const answer = responded ?? toFaultResponse(notFound())
    if (answer.status >= 500) throw new RollbackWithAnswer(answer)
    if (whole.isTouched || isStored(answer, call)) storeAnswer(answer, call, transaction)
    return answer
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
