import { randomUUID } from 'node:crypto'
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import { createTiming, type RequestOrigin, type RequestTiming, WriteScope } from '../base/request-context.ts'
import type { Result } from '../base/result.ts'
import type { Fault } from '../faults/fault.ts'
import type { HttpRequest } from '../faults/http-exchange.ts'
import { readBody } from './body.ts'

/** Who a request counts for where callers share a resource: never something that a caller can choose (safety S9). */
export type CallerOf = (request: Pick<HttpRequest, 'headers' | 'peer'>) => string

export interface RequestTerms {
  readonly callerOf: CallerOf
  /** Bytes of a body. */
  readonly bodyLimit: number
  /** Believe the nearest proxy's word on where a request came from. */
  readonly trustProxy: boolean
  /** What requests spend their time on is told. */
  readonly tellsTimes?: boolean
}

/** Node's request as the rooms that answer see it. A class, so that a request costs one object and no closures. */
export class IncomingRequest implements HttpRequest, RequestOrigin {
  readonly id: string
  readonly method: string
  readonly path: string
  readonly search: string
  readonly headers: IncomingHttpHeaders
  readonly timing: RequestTiming | null
  route = ''
  readonly #incoming: IncomingMessage
  readonly #terms: RequestTerms
  #caller: string | null = null
  bytesRead = 0
  #writes: WriteScope | undefined

  constructor(incoming: IncomingMessage, terms: RequestTerms, method = incoming.method ?? 'GET') {
    const url = toTarget(incoming.url ?? '/')
    const mark = url.indexOf('?')
    this.id = toRequestId(incoming.headers['x-request-id'])
    this.method = method
    this.path = mark < 0 ? url : url.slice(0, mark)
    this.search = mark < 0 ? '' : url.slice(mark + 1)
    this.headers = incoming.headers
    this.timing = terms.tellsTimes ? createTiming() : null
    this.#incoming = incoming
    this.#terms = terms
  }

  get origin(): RequestOrigin {
    return this
  }

  get caller(): string {
    this.#caller ??= this.#terms.callerOf(this)
    return this.#caller
  }

  get isDisconnected(): boolean {
    return this.#incoming.socket.destroyed
  }

  /** Of forwarded addresses the last: the only one that the nearest proxy wrote itself. */
  get peer(): string {
    const forwarded = this.#terms.trustProxy ? this.headers['x-forwarded-for'] : undefined
    const last = typeof forwarded === 'string' ? forwarded.split(',').at(-1)?.trim() : undefined
    return last || (this.#incoming.socket.remoteAddress ?? '')
  }

  /** Made when it is first needed: reads have none. */
  get writes(): WriteScope {
    this.#writes ??= new WriteScope()
    return this.#writes
  }

  /** Its code has returned: what that has begun and not awaited does not belong to the request. */
  endWrites(): void {
    if (this.#writes?.isClosed) this.#writes.detach()
  }

  body(): Promise<Result<Buffer, Fault>> {
    return readBody(this.#incoming, this.#terms.bodyLimit)
  }

  stream(): Readable {
    return this.#incoming
  }
}

/** Proxies may send the whole address (RFC 9112, 3.2.2). */
const toTarget = (url: string): string => (url.startsWith('/') ? url : url.replace(/^https?:\/\/[^/?]*/i, ''))

const SANE_ID = /^[\w.:-]{1,128}$/

/** Ids that a caller or a proxy gives are kept where they can do no harm in logs. */
export const toRequestId = (given: string | string[] | undefined): string =>
  typeof given === 'string' && SANE_ID.test(given) ? given : randomUUID()
