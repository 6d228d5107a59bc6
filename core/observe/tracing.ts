import type { IncomingHttpHeaders } from 'node:http'
import type { Span, SpanKind, Tracer } from '@opentelemetry/api'
import { PRODUCT_VERSION } from '../base/product.ts'

/** OpenTelemetry tracing. */
export interface Tracing {
  /** Starts the server span of a request, as a child of the trace context in its headers. */
  startRequest(request: TracedRequest): RequestSpan
  /** Starts a client span within the active span; the returned function ends it. */
  startSpan(name: string, attributes: Readonly<Record<string, string>>): EndSpan
}

export interface TracedRequest {
  readonly id: string
  readonly method: string
  /** Without its query string. */
  readonly path: string
  readonly headers: IncomingHttpHeaders
}

export interface RequestSpan {
  /** Runs `work` with this span as the active one, including its asynchronous continuations. */
  run<Value>(work: () => Value): Value
  end(route: string, status: number): void
}

/** `failure`: the error's kind (`error.type`), never its message. */
export type EndSpan = (failure?: string) => void

type Api = typeof import('@opentelemetry/api')

/** null: no SDK is registered, so spans would be discarded. The API package is not loaded then. */
export async function openTracing(): Promise<Tracing | null> {
  if (!hasSdk()) return null
  return createTracing(await import('@opentelemetry/api'))
}

/** All copies of the API package share this symbol, so it does not matter which copy the SDK uses. */
function hasSdk(): boolean {
  const shared: unknown = Reflect.get(globalThis, Symbol.for('opentelemetry.js.api.1'))
  return typeof shared === 'object' && shared !== null && 'trace' in shared
}

function createTracing(api: Api): Tracing {
  const tracer = api.trace.getTracer('plinth', PRODUCT_VERSION)
  return {
    startRequest: request => beginRequest(request, { api, tracer }),
    startSpan(name, attributes) {
      const span = tracer.startSpan(name, { kind: CLIENT, attributes })
      return failure => {
        if (failure !== undefined) fail(span, failure, api)
        span.end()
      }
    },
  }
}

/** Values of the API's SpanKind enum: only its types may be imported before the package is loaded. */
const SERVER: SpanKind.SERVER = 1
const CLIENT: SpanKind.CLIENT = 2

/** https://opentelemetry.io/docs/specs/semconv/http/http-spans/ */
function beginRequest(
  { id, method, path, headers }: TracedRequest,
  { api, tracer }: { readonly api: Api; readonly tracer: Tracer },
): RequestSpan {
  const parent = api.propagation.extract(api.ROOT_CONTEXT, headers)
  const attributes = { 'http.request.method': method, 'url.path': path, 'plinth.request_id': id }
  const span = tracer.startSpan(method, { kind: SERVER, attributes }, parent)
  const active = api.trace.setSpan(parent, span)
  return {
    run: work => api.context.with(active, work),
    end(route, status) {
      span.updateName(`${method} ${route}`)
      span.setAttributes({ 'http.route': route, 'http.response.status_code': status })
      if (status >= 500) fail(span, String(status), api)
      span.end()
    },
  }
}

function fail(span: Span, failure: string, { SpanStatusCode }: Api): void {
  span.setAttribute('error.type', failure)
  span.setStatus({ code: SpanStatusCode.ERROR })
}
