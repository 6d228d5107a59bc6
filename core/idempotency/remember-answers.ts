import { Readable } from 'node:stream'
import type { Caller } from '../access/caller.ts'
import { ok } from '../base/result.ts'
import type { Database, Transaction } from '../database/database.ts'
import { type WholeTransaction, withWhole } from '../database/generations/write-storage.ts'
import {
  answerFault,
  type HttpAnswer,
  type HttpRequest,
  isReading,
  type Responder,
} from '../faults/exchange.ts'
import { type Fault, fault, forbidden, notFound } from '../faults/fault.ts'
import type { Identify } from '../identity/identify.ts'
import { holdKey, printAnswer, readAnswer, writeRecord } from './records.ts'
import { HEADER, openKey, parseKey, type RequestKey } from './request-key.ts'

export interface RememberTerms {
  readonly database: Pick<Database, 'transaction'>
  readonly identify: Identify
  /** Below these paths answers let somebody in, and are never kept. */
  readonly closed: readonly string[]
}

/** The same responders; what they answer to a request with an Idempotency-Key is answered once and for a day. */
export function rememberAnswers(responders: readonly Responder[], terms: RememberTerms): Responder {
  return request =>
    request.headers['idempotency-key'] === undefined || isReading(request.method)
      ? firstAnswer(responders, request)
      : answerOnce(request, responders, terms)
}

function firstAnswer(responders: readonly Responder[], request: HttpRequest): ReturnType<Responder> {
  for (const responder of responders) {
    const answer = responder(request)
    if (answer) return answer
  }
  return null
}

async function answerOnce(
  request: HttpRequest,
  responders: readonly Responder[],
  terms: RememberTerms,
): Promise<HttpAnswer> {
  const { headers, writes } = request
  const key = parseKey(headers['idempotency-key'])
  if (!key.ok) return refuse(key.reasons)
  const closed = refusalOf(request, terms)
  if (closed) return refuse([closed])
  const caller = await terms.identify(headers.authorization)
  if (!caller.ok) return refuse(caller.reasons)
  const body = await request.body()
  if (!body.ok) return refuse(body.reasons)
  if (!writes) throw new TypeError('a request that may write has its writes')
  const opened = openKey(key.value, caller.value)
  const asked = { request: withBody(request, body.value), caller: caller.value, key: opened }
  return carryOut({ ...asked, digest: opened.digestOf(request, body.value), writes, responders }, terms)
}

const refuse = (reasons: readonly Fault[]): HttpAnswer => answerFault(reasons[0] ?? forbidden())

function refusalOf({ path, headers }: HttpRequest, { closed }: RememberTerms): Fault | null {
  const below = path.toLowerCase()
  if (closed.some(each => below === each || below.startsWith(`${each}/`)))
    return fault('validation', `${HEADER} does not apply to signing in: its answers are never kept`, {
      key: HEADER,
    })
  if (/^\s*multipart\//i.test(headers['content-type'] ?? ''))
    return fault(
      'validation',
      `${HEADER} does not apply to multipart/form-data: each sending has another boundary`,
      {
        key: HEADER,
      },
    )
  return null
}

/** The same request, whose body was read. */
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
    body: async () => ok(body),
    stream: () => Readable.from([body]),
  }
}

interface Asked {
  readonly request: HttpRequest
  readonly caller: Caller
  readonly key: RequestKey
  /** Of the request. */
  readonly digest: string
  readonly writes: NonNullable<HttpRequest['writes']>
  readonly responders: readonly Responder[]
}

/** Undoes all that an answer came of, which is given all the same. */
class Undone extends Error {
  readonly answer: HttpAnswer

  constructor(answer: HttpAnswer) {
    super('undone')
    this.answer = answer
  }
}

async function carryOut(asked: Asked, { database }: RememberTerms): Promise<HttpAnswer> {
  const afterwards: (() => unknown)[] = []
  const purpose = { trail: asked.request, describe: () => ({ action: 'request with an idempotency key' }) }
  try {
    const answer = await database.transaction(
      transaction => answerIn(asked, { transaction, afterwards, isTouched: false, isOver: false }),
      { purpose },
    )
    for (const work of afterwards) await work()
    return answer
  } catch (error) {
    if (error instanceof Undone) return error.answer
    throw error
  }
}

async function answerIn(asked: Asked, whole: WholeTransaction): Promise<HttpAnswer> {
  const { key, digest, request, responders, writes } = asked
  const { transaction } = whole
  const held = await holdKey(key, transaction)
  if (held === 'held') throw new Undone(underWay())
  if (held) return held.request === digest ? replay(key.open(held.answer)) : answerFault(anotherRequest())
  try {
    const given = await withWhole(writes, whole, async () => firstAnswer(responders, request))
    const answer = given ?? answerFault(notFound())
    if (answer.status >= 500) throw new Undone(answer)
    if (whole.isTouched || isRemembered(answer, asked)) remember(answer, asked, transaction)
    return answer
  } finally {
    whole.isOver = true
  }
}

const underWay = (): HttpAnswer => ({
  ...answerFault(fault('conflict', `A request with this ${HEADER} is being carried out`, { key: HEADER })),
  headers: { 'Retry-After': '1' },
})

const anotherRequest = (): Fault =>
  fault('unprocessable', `This ${HEADER} was sent with another request: use a new one`, { key: HEADER })

const replay = (text: string): HttpAnswer => {
  const answer = readAnswer(text)
  return { ...answer, headers: { ...answer.headers, 'Idempotency-Replayed': 'true' } }
}

/** Answers to who may not ask, or may later, are made anew: nothing was written. */
const PASSING: ReadonlySet<number> = new Set([401, 403, 405, 408, 409, 413, 415, 429])

const isRemembered = ({ status, isPassing }: HttpAnswer, { caller }: Asked): boolean =>
  !PASSING.has(status) && !isPassing && (status < 400 || caller.kind !== 'public')

/** Bytes of an answer. */
const LARGEST = 1_048_576

function remember(answer: HttpAnswer, { key, digest }: Asked, transaction: Transaction): void {
  const text = printAnswer(answer)
  const size = Buffer.byteLength(text)
  if (size > LARGEST) throw new Undone(answerFault(tooLarge(size)))
  writeRecord(transaction, key, { request: digest, answer: key.seal(text) })
}

const tooLarge = (size: number): Fault =>
  fault(
    'validation',
    `With ${HEADER} an answer may have ${LARGEST} bytes, this one has ${size}: ask for fewer fields. Nothing was written`,
    { key: HEADER },
  )
