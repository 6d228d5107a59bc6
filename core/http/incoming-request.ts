import { randomUUID } from 'node:crypto'
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import { RECEIVING } from '../base/byte-budget.ts'
import { ByteParts } from '../base/byte-parts.ts'
import { createTiming, type RequestOrigin, type RequestTiming, WriteScope } from '../base/request-context.ts'
import { fault, RequestFault, tooManyBodies } from '../faults/fault.ts'
import type { HttpRequest, IdentifiedCaller } from '../faults/http-exchange.ts'

/** The identity that fair queueing counts a request for: never a value that the caller can choose (reference/safety.md#s9-rate-limits). */
export type CallerOf = (request: Pick<HttpRequest, 'headers' | 'peer'>) => string

export interface IncomingRequestOptions {
  readonly callerOf: CallerOf
  /** Maximum size of a body in bytes. */
  readonly bodyLimit: number
  /** Takes the client's address from X-Forwarded-For. */
  readonly trustProxy: boolean
  /** Measures the phases of each request. */
  readonly sendsTimings?: boolean
}

/** Node's request as responders see it. A class, so that a request costs one object and no closures. */
export class IncomingRequest implements HttpRequest, RequestOrigin {
  readonly id: string
  readonly method: string
  readonly path: string
  readonly search: string
  readonly headers: IncomingHttpHeaders
  readonly timing: RequestTiming | null
  route = ''
  identified: IdentifiedCaller | null = null
  readonly #incoming: IncomingMessage
  readonly #options: IncomingRequestOptions
  #caller: string | null = null
  bytesRead = 0
  #writes: WriteScope | undefined

  constructor(incoming: IncomingMessage, options: IncomingRequestOptions, method = incoming.method ?? 'GET') {
    const url = toTarget(incoming.url ?? '/')
    const mark = url.indexOf('?')
    this.id = toRequestId(incoming.headers['x-request-id'])
    this.method = method
    this.path = mark < 0 ? url : url.slice(0, mark)
    this.search = mark < 0 ? '' : url.slice(mark + 1)
    this.headers = incoming.headers
    this.timing = options.sendsTimings ? createTiming() : null
    this.#incoming = incoming
    this.#options = options
  }

  get origin(): RequestOrigin {
    return this
  }

  get caller(): string {
    this.#caller ??= this.#options.callerOf(this)
    return this.#caller
  }

  get isDisconnected(): boolean {
    return this.#incoming.socket.destroyed
  }

  /** The last forwarded address: the only one that the nearest proxy wrote itself. */
  get peer(): string {
    const forwarded = this.#options.trustProxy ? this.headers['x-forwarded-for'] : undefined
    const last = typeof forwarded === 'string' ? forwarded.split(',').at(-1)?.trim() : undefined
    return last || (this.#incoming.socket.remoteAddress ?? '')
  }

  /** Created lazily: reads need none. */
  get writes(): WriteScope {
    this.#writes ??= new WriteScope()
    return this.#writes
  }

  /** The handler has returned: writes that it started without awaiting them no longer belong to the request. */
  endWrites(): void {
    if (this.#writes?.isClosed) this.#writes.detach()
  }

  body(): Promise<Buffer> {
    return readRequestBody(this.#incoming, this.#options.bodyLimit)
  }

  stream(): Readable {
    if (this.#incoming.readableEnded) throw alreadyRead()
    const refusal = codingRefusal(this.#incoming)
    if (refusal) throw refusal
    return this.#incoming
  }
}

/** Proxies may send an absolute URL (RFC 9112, 3.2.2). */
const toTarget = (url: string): string => (url.startsWith('/') ? url : url.replace(/^https?:\/\/[^/?]*/i, ''))

const SAFE_ID = /^[\w.:-]{1,128}$/

/** Keeps the id of a caller or proxy if it is safe in logs; otherwise generates one. */
export const toRequestId = (input: string | string[] | undefined): string =>
  typeof input === 'string' && SAFE_ID.test(input) ? input : randomUUID()

/** Reads a request's body of at most `limit` bytes; a longer one is refused as early as possible. */
function readRequestBody(incoming: IncomingMessage, limit: number): Promise<Buffer> {
  // A middleware has consumed it, so that no more events would arrive.
  if (incoming.readableEnded) return Promise.resolve(parsedBody(incoming, limit))
  const refusal = codingRefusal(incoming)
  if (refusal) return Promise.reject(refusal)
  if (Number(incoming.headers['content-length'] ?? 0) > limit) return Promise.reject(tooLarge())
  return new Promise((resolve, reject) => {
    let parts = new ByteParts()
    let size = 0
    const drop = (reason: RequestFault) => {
      parts = new ByteParts()
      size = Number.POSITIVE_INFINITY
      reject(reason)
    }
    const held = RECEIVING.hold(incoming, 0, () => drop(new RequestFault(tooManyBodies())))
    incoming.on('data', (part: Buffer) => {
      size += part.length
      if (size > limit) return drop(tooLarge())
      parts.add(part)
      held.add(part.length)
    })
    incoming.on('end', () => {
      held.release()
      resolve(parts.toBuffer())
    })
    incoming.on('error', () => drop(cutOff()))
    // Each request closes; an error is only made for one whose body did not end.
    incoming.on('close', () => {
      held.release()
      if (!incoming.readableEnded) reject(cutOff())
    })
  })
}

/** Nothing decodes a body: what a proxy reads as coded must not be taken as plain (RFC 9110, 8.4). null: it is plain. */
function codingRefusal({ headers }: IncomingMessage): RequestFault | null {
  const coding = headers['content-encoding']?.trim().toLowerCase() ?? ''
  if (coding === '' || coding === 'identity') return null
  return new RequestFault(fault('badRequest', `A body may have no Content-Encoding, got ${coding}`))
}

/** The body as body parsers of Express leave it: JSON, text or bytes. */
function parsedBody(incoming: IncomingMessage & { readonly body?: unknown }, limit: number): Buffer {
  const { body, headers } = incoming
  const bytes = Buffer.isBuffer(body)
    ? body
    : typeof body === 'string'
      ? Buffer.from(body)
      : body !== undefined && JSON_BODY.test(headers['content-type'] ?? '')
        ? Buffer.from(JSON.stringify(body))
        : null
  if (!bytes) throw alreadyRead()
  if (bytes.length > limit) throw tooLarge()
  return bytes
}

const JSON_BODY = /^application\/(?:[\w.+-]+\+)?json\b/i

/** Body parsers of forms and uploads leave nothing that the API could read. */
const alreadyRead = (): RequestFault =>
  new RequestFault(
    fault('badRequest', 'The application has read the body, and left neither JSON, text nor bytes of it'),
  )

const tooLarge = (): RequestFault => new RequestFault(fault('payloadTooLarge', 'request entity too large'))

const cutOff = (): RequestFault =>
  new RequestFault(fault('badRequest', 'The request ended before its body did'))
