import type { IncomingHttpHeaders } from 'node:http'
import type { Readable } from 'node:stream'
import type { Trail } from '../base/request-context.ts'
import type { Result } from '../base/result.ts'
import { FAULTS, type Fault, toErrorBody } from './fault.ts'

/** A request, as the rooms that answer see it. */
export interface HttpRequest extends Trail {
  /** What logs and the answer's X-Request-Id say. */
  readonly id: string
  readonly method: string
  /** As it was sent: not decoded, without the query string. */
  readonly path: string
  /** The query string without its question mark; empty where there is none. */
  readonly search: string
  readonly headers: IncomingHttpHeaders
  /** The address that the request came from. */
  readonly peer: string
  /** Reads the body, once, up to the limit of the settings. */
  body(): Promise<Result<Buffer, Fault>>
  /**
   * Who answers it, said by whoever takes it, for metrics and traces: a content-type's action (`article.find`), a
   * route's pattern. One of a closed set: never what a caller wrote.
   */
  route?: string
  /** The body as it arrives, instead of `body`: whoever takes it sets its bounds. */
  stream(): Readable
}

export interface HttpAnswer {
  readonly status: number
  /** JSON where `type` says nothing else; null: none, and no media type. */
  readonly body: string | Buffer | null
  readonly type?: string
  readonly headers?: Readonly<Record<string, string>>
  /** What `Set-Cookie` says, one header each. */
  readonly cookies?: readonly string[]
  /** Gets an ETag of its body, and 304 where the caller has it already. */
  readonly tagged?: boolean
  /** The request may have been carried out: its sender is not told to send it again. */
  readonly isUnclear?: boolean
  /** Nothing was asked to be written, or it may go well later: not to be remembered. */
  readonly isPassing?: boolean
  /** That tag, without quotes, where it is known. */
  readonly tag?: string
}

/** One part of the server: the answer to a request of its own, null to those of others. */
export type Responder = (request: HttpRequest) => HttpAnswer | Promise<HttpAnswer> | null

/** A fault in the form that the content API gives it (contract/rest.md 2). */
export const answerFault = (fault: Fault): HttpAnswer => ({
  status: FAULTS[fault.code].status,
  body: JSON.stringify(toErrorBody(fault)),
  ...(fault.details.outcome === 'unknown' && { isUnclear: true }),
})

/** Methods that change nothing. */
export const isReading = (method: string): boolean =>
  method === 'GET' || method === 'HEAD' || method === 'OPTIONS'
