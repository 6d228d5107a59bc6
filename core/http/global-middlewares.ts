import type { RequestListener, ServerResponse } from 'node:http'
import type { Request, RequestHandler } from 'express'
import { once } from '../base/memo.ts'
import { type Fault, fault } from '../faults/fault.ts'
import { isSafeMethod, toFaultResponse } from '../faults/http-exchange.ts'
import { type GraphqlEndpoints, toEndpointForm } from '../graphql/refusal.ts'
import type { ExpressMiddleware } from '../plugins/middleware.ts'
import { errorHandler } from './express-fallback.ts'
import { type InFlight, requestEnded, requestStarted } from './in-flight.ts'
import { toRequestId } from './incoming-request.ts'
import { cutBody, type FailureOptions, unavailableFault, writeAnswer } from './write-answer.ts'

export interface GlobalMiddlewareOptions extends FailureOptions {
  /** Milliseconds that all middlewares together may take before they pass the request on. */
  readonly requestTimeout: number
  /** Requests inside a middleware count as in flight. */
  readonly inFlight: InFlight
}

/** Wraps a listener in Express middlewares, the first outermost; without any, returns it unchanged. */
export async function withGlobalMiddlewares(
  middlewares: readonly ExpressMiddleware[],
  listener: RequestListener,
  options: GlobalMiddlewareOptions,
): Promise<RequestListener> {
  if (middlewares.length === 0) return listener
  const { default: express } = await import('express')
  const app = express().disable('x-powered-by').disable('etag')
  app.use(limitTime(options))
  for (const middleware of middlewares) app.use(middleware as RequestHandler)
  app.use((request, response) => {
    // The middlewares passed it on after its timeout was answered: it must not be executed any more.
    if (!response.headersSent) listener(request, response)
    response.locals.pass()
  })
  app.use(errorHandler(options))
  return app
}

/** Times out requests whose middleware neither answers nor calls `next`. */
const limitTime =
  ({ requestTimeout, observer, inFlight, graphql }: GlobalMiddlewareOptions): RequestHandler =>
  (request, response, next) => {
    const id = toRequestId(request.headers['x-request-id'])
    request.headers['x-request-id'] = id
    response.setHeader('X-Request-Id', id)
    const timer = setTimeout(() => {
      observer.emit({ kind: 'timedOut', requestId: id, path: request.path })
      answerTimeout(request, response, graphql ?? {})
    }, requestTimeout)
    requestStarted(inFlight)
    const pass = once(() => {
      clearTimeout(timer)
      requestEnded(inFlight)
    })
    response.locals.pass = pass
    response.once('close', pass)
    next()
  }

function answerTimeout(request: Request, response: ServerResponse, graphql: GraphqlEndpoints): void {
  if (response.headersSent) {
    response.destroy()
    return
  }
  cutBody(request, response)
  writeAnswer(
    response,
    toEndpointForm(toFaultResponse(timeoutFault(request.method)), request, { graphql }),
    [],
  )
}

/** A middleware may have written something: the outcome is unknown. */
const timeoutFault = (method: string): Fault =>
  isSafeMethod(method)
    ? unavailableFault()
    : fault('unavailable', 'Service Unavailable', { outcome: 'unknown' })
