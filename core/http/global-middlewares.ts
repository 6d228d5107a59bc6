import type { RequestListener, ServerResponse } from 'node:http'
import type { Request, RequestHandler } from 'express'
import { once } from '../base/memo.ts'
import { type Fault, fault } from '../faults/fault.ts'
import { isSafeMethod, toFaultResponse } from '../faults/http-exchange.ts'
import type { Observer } from '../observe/observation.ts'
import type { ExpressMiddleware } from '../plugins/middleware.ts'
import { errorAnswer } from './express-host.ts'
import { enter, leave, type Traffic } from './in-flight.ts'
import { toRequestId } from './incoming-request.ts'
import { unavailable } from './trouble.ts'
import { writeAnswer } from './write-answer.ts'

export interface AroundTerms {
  /** Milliseconds that they may take together before the server's turn comes. */
  readonly requestTimeout: number
  readonly observer: Observer
  /** Requests that are still with them count as under way. */
  readonly traffic: Traffic
}

/** The listener with Express middlewares round it, in order; itself where there are none. */
export async function aroundListener(
  middlewares: readonly ExpressMiddleware[],
  listener: RequestListener,
  terms: AroundTerms,
): Promise<RequestListener> {
  if (middlewares.length === 0) return listener
  const { default: express } = await import('express')
  const app = express().disable('x-powered-by').disable('etag')
  app.use(impatient(terms))
  // They are written for Express, and it is Express that calls them.
  for (const middleware of middlewares) app.use(middleware as RequestHandler)
  app.use((request, response) => {
    // Its time was over before the middlewares let it through: it was answered, and must not be carried out.
    if (!response.headersSent) listener(request, response)
    response.locals.pass()
  })
  app.use(errorAnswer(terms.observer))
  return app
}

/** A middleware that neither answers nor goes on holds its request for so long and no longer. */
const impatient =
  ({ requestTimeout, observer, traffic }: AroundTerms): RequestHandler =>
  (request, response, next) => {
    const id = toRequestId(request.headers['x-request-id'])
    request.headers['x-request-id'] = id
    response.setHeader('X-Request-Id', id)
    const patience = setTimeout(() => {
      observer.emit({ kind: 'timedOut', requestId: id, path: request.path })
      giveUp(request, response)
    }, requestTimeout)
    enter(traffic)
    const pass = once(() => {
      clearTimeout(patience)
      leave(traffic)
    })
    response.locals.pass = pass
    response.once('close', pass)
    next()
  }

function giveUp({ method }: Request, response: ServerResponse): void {
  if (response.headersSent) response.destroy()
  else writeAnswer(response, toFaultResponse(unansweredBy(method)), [])
}

/** What middlewares write on their own is not known here. */
const unansweredBy = (method: string): Fault =>
  isSafeMethod(method) ? unavailable() : fault('unavailable', 'Service Unavailable', { outcome: 'unknown' })
