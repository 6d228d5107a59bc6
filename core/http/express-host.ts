import type { IncomingHttpHeaders, RequestListener, ServerResponse } from 'node:http'
import type { ErrorRequestHandler, Express } from 'express'
import { notFound } from '../faults/fault.ts'
import { type HttpResponse, toFaultResponse } from '../faults/http-exchange.ts'
import type { Observer } from '../observe/observation.ts'
import { cacheControlFor } from './cache-control.ts'
import { toHttpFault } from './http-error.ts'
import { toTrouble } from './trouble.ts'
import { writeAnswer } from './write-answer.ts'

/**
 * An Express application for what is not the API: loaded at the first request that needs it, made once. What it
 * leaves over or throws is answered as everywhere else.
 */
export function expressHost(
  mount: (app: Express) => void | Promise<void>,
  observer: Observer,
): () => Promise<RequestListener> {
  let loading: Promise<Express> | undefined
  return () => {
    loading ??= load(mount, observer)
    return loading
  }
}

async function load(mount: (app: Express) => void | Promise<void>, observer: Observer): Promise<Express> {
  const { default: express } = await import('express')
  const app = express().disable('x-powered-by').disable('etag')
  await mount(app)
  app.use(({ headers }, response) => refuse(response, toFaultResponse(notFound()), headers))
  app.use(errorAnswer(observer))
  return app
}

/** Answers what Express or a middleware passes on as an error: a refusal keeps its status, anything else is 500. */
export const errorAnswer =
  (observer: Observer): ErrorRequestHandler =>
  (error: unknown, { headers }, response, _next) => {
    const fault = toHttpFault(error) ?? toTrouble(error, String(response.getHeader('X-Request-Id')), observer)
    if (response.headersSent) {
      response.destroy()
      return
    }
    forgetContent(response)
    refuse(response, toFaultResponse(fault), headers)
  }

function refuse(response: ServerResponse, answer: HttpResponse, headers: IncomingHttpHeaders): void {
  writeAnswer(response, answer, ['Cache-Control', cacheControlFor(answer, { headers }) ?? 'no-cache'])
}

/** Headers that describe content which is not sent after all. */
const OF_CONTENT = [
  'Accept-Ranges',
  'Cache-Control',
  'Content-Disposition',
  'Content-Encoding',
  'Content-Length',
  'Content-Type',
  'ETag',
  'Last-Modified',
]

function forgetContent(response: ServerResponse): void {
  for (const name of OF_CONTENT) response.removeHeader(name)
}
