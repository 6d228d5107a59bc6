import type { IncomingHttpHeaders } from 'node:http'
import type { Span, SpanKind, Tracer } from '@opentelemetry/api'
import { PRODUCT_VERSION } from '../base/product.ts'

/** Traces of OpenTelemetry, where an SDK of it runs in the process. */
export interface Tracing {
  /** Begins the span of a request, as a part of the trace that its headers name. */
  request(request: TracedRequest): RequestSpan
  /** Begins the span of something that takes place within one; what is answered ends it. */
  part(name: string, attributes: Readonly<Record<string, string>>): EndPart
}

export interface TracedRequest {
  readonly id: string
  readonly method: string
  /** Without its query string. */
  readonly path: string
  readonly headers: IncomingHttpHeaders
}

export interface RequestSpan {
  /** What is begun by this is a part of it, whenever it takes place. */
  run<Value>(work: () => Value): Value
  end(route: string, status: number): void
}

/** `failure`: what kind it is of, never what it says. */
export type EndPart = (failure?: string) => void

type Api = typeof import('@opentelemetry/api')

/** null: no SDK has registered itself, so that nothing would become of spans; then the package is not even looked for. */
export async function openTracing(): Promise<Tracing | null> {
  if (!hasSdk()) return null
  return tracingOver(await import('@opentelemetry/api'))
}

/** All copies of the API's package meet at this symbol, so that it does not matter whose an SDK has. */
function hasSdk(): boolean {
  const shared: unknown = Reflect.get(globalThis, Symbol.for('opentelemetry.js.api.1'))
  return typeof shared === 'object' && shared !== null && 'trace' in shared
}

function tracingOver(api: Api): Tracing {
  const tracer = api.trace.getTracer('plinth', PRODUCT_VERSION)
  return {
    request: request => beginRequest(request, { api, tracer }),
    part(name, attributes) {
      const span = tracer.startSpan(name, { kind: CLIENT, attributes })
      return failure => {
        if (failure !== undefined) fail(span, failure, api)
        span.end()
      }
    },
  }
}

/** Of the API's own; its types are all that is known before it is loaded. */
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
  const within = api.trace.setSpan(parent, span)
  return {
    run: work => api.context.with(within, work),
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
