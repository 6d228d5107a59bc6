import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http'
import type { Readable } from 'node:stream'
import type { RequestContext } from '../base/request-context.ts'
import { FAULTS, type Fault, RequestFault, toErrorBody } from './fault.ts'

/** A request, as the responders see it. */
export interface HttpRequest extends RequestContext {
  /** Appears in logs and in the response header X-Request-Id. */
  readonly id: string
  readonly method: string
  /** The raw path: not decoded, without the query string. */
  readonly path: string
  /** The query string without its question mark; empty if there is none. */
  readonly search: string
  /** The parameters as project code changed them; absent: `search` has them. */
  readonly query?: Readonly<Record<string, unknown>>
  readonly headers: IncomingHttpHeaders
  /** The client's network address. */
  readonly peer: string
  /** Reads the body up to the configured limit; rejects with a RequestFault. May be called once. */
  body(): Promise<Buffer>
  /**
   * The route, set by the responder for metrics and traces: an action of a content-type (`article.find`) or a route
   * pattern. From a closed set; never text of a client.
   */
  route?: string
  /** The caller, set by the responder for the log; absent or null: not identified. */
  identified?: IdentifiedCaller | null
  /** The body as a stream, instead of `body`. The consumer must limit its size. */
  stream(): Readable
}

/** The parts of a caller that the log names. */
export interface IdentifiedCaller {
  readonly kind: 'public' | 'token' | 'user' | 'external'
  readonly subject?: string
  /** `name`: the key of the role or token. */
  readonly grants: { readonly name: string }
  readonly user: Readonly<Record<string, unknown>> | null
}

/** `role editor, user 5`, `API token build`; null: not identified. */
export function describeCaller(caller: IdentifiedCaller | null | undefined): string | null {
  if (!caller) return null
  const { kind, grants, user, subject } = caller
  if (kind === 'token') return `API token ${grants.name}`
  if (kind === 'external') return `role ${grants.name}, ${subject}`
  return `role ${grants.name}${kind === 'user' ? `, user ${String(user?.id)}` : ''}`
}

export interface HttpResponse {
  readonly status: number
  /** JSON unless `type` says otherwise; null: no body and no Content-Type. */
  readonly body: string | Buffer | null
  readonly type?: string
  readonly headers?: Readonly<Record<string, string>>
  /** Values of `Set-Cookie`, one header each. */
  readonly cookies?: readonly string[]
  /** Adds an ETag of the body, and answers 304 if the client already has it. */
  readonly hasEtag?: boolean
  /** The write may have succeeded, so the response must not suggest a retry. */
  readonly isOutcomeUnknown?: boolean
  /** A read, or a failure that a retry may cure: not stored for idempotency keys. */
  readonly isTransient?: boolean
  /** The ETag without quotes, if already computed. */
  readonly etag?: string
  /** Why the request is refused: for the log, and for the response in development. */
  readonly reason?: string
  /** The refusal, if this is the answer to one: other protocols have their own form. */
  readonly fault?: Fault
  /** Answers the request itself, with Node's own objects; status and body are not used. Resolves when the response is closed. */
  readonly takeOver?: (incoming: IncomingMessage, response: ServerResponse) => Promise<void>
}

/** One part of the server. Returns null for requests that belong to other parts. */
export type Responder = (request: HttpRequest) => HttpResponse | Promise<HttpResponse> | null

/** The answer of the first responder that takes the request; null: none does. */
export function firstAnswer(responders: readonly Responder[], request: HttpRequest): ReturnType<Responder> {
  for (const responder of responders) {
    const answer = responder(request)
    if (answer) return answer
  }
  return null
}

/** A fault as an error response of the content API (reference/rest.md#2-errors). */
export const toFaultResponse = (fault: Fault): HttpResponse => ({
  status: FAULTS[fault.code].status,
  body: JSON.stringify(toErrorBody(fault)),
  fault,
  ...(fault.details.outcome === 'unknown' && { isOutcomeUnknown: true }),
  ...(fault.reason !== undefined && { reason: fault.reason }),
})

/**
 * The response of a thrown refusal, for code that adds headers to it or stores it. Rethrows failures of the server: the
 * listener answers them.
 */
export function refusalResponse(error: unknown): HttpResponse {
  if (error instanceof RequestFault && error.fault.code !== 'unavailable') return toFaultResponse(error.fault)
  throw error
}

/** Safe methods (RFC 9110, 9.2.1): they do not change data. */
export const isSafeMethod = (method: string): boolean =>
  method === 'GET' || method === 'HEAD' || method === 'OPTIONS'
