import type { IncomingHttpHeaders, RequestListener, ServerResponse } from 'node:http'
import type { ErrorRequestHandler, Express, RequestHandler } from 'express'
import { onceResolved } from '../base/memo.ts'
import { notFound } from '../faults/fault.ts'
import { type HttpResponse, toFaultResponse } from '../faults/http-exchange.ts'
import { toEndpointForm } from '../graphql/refusal.ts'
import { isHarmless } from '../media/file-type.ts'
import { cacheControlFor } from './response-headers.ts'
import {
  ALLOWED_ANYWHERE,
  clientFaultOf,
  type FailureOptions,
  faultOfError,
  methodNotAllowed,
  writeAnswer,
} from './write-answer.ts'

/**
 * An Express application for requests outside the API, created at the first of them (again if that failed). Unanswered requests and errors get
 * the same answers as in the API.
 */
export function openExpressFallback(
  mount: (app: Express) => void | Promise<void>,
  options: FailureOptions,
): () => Promise<RequestListener> {
  return onceResolved(() => load(mount, options))
}

async function load(
  mount: (app: Express) => void | Promise<void>,
  options: FailureOptions,
): Promise<Express> {
  const { default: express } = await import('express')
  const app = express().disable('x-powered-by').disable('etag')
  await mount(app)
  app.use(({ headers }, response) => refuse(response, toFaultResponse(notFound()), headers))
  app.use(errorHandler(options))
  return app
}

/** Answers errors passed to Express: an error with a client status (4xx) keeps it, any other is 500. */
export const errorHandler =
  (options: FailureOptions): ErrorRequestHandler =>
  (error: unknown, { path, headers }, response, _next) => {
    const fault =
      clientFaultOf(error) ?? faultOfError(error, String(response.getHeader('X-Request-Id')), options)
    if (response.headersSent) {
      response.destroy()
      return
    }
    removeContentHeaders(response)
    if (fault.code !== 'rangeNotSatisfiable') response.removeHeader('Content-Range')
    const answer = toFaultResponse(fault)
    const { graphql } = options
    refuse(response, graphql ? toEndpointForm(answer, { path, headers }, { graphql }) : answer, headers)
  }

function refuse(response: ServerResponse, answer: HttpResponse, headers: IncomingHttpHeaders): void {
  writeAnswer(response, answer, ['Cache-Control', cacheControlFor(answer, { headers }) ?? 'no-cache'])
}

/** Headers that describe the content which the error replaces. */
const CONTENT_HEADERS = [
  'Accept-Ranges',
  'Cache-Control',
  'Content-Disposition',
  'Content-Encoding',
  'Content-Length',
  'Content-Type',
  'ETag',
  'Last-Modified',
]

function removeContentHeaders(response: ServerResponse): void {
  for (const name of CONTENT_HEADERS) response.removeHeader(name)
}

/** Serves uploaded files under /uploads, without permission (reference/rest.md#15-upload). */
export async function mountUploads(app: Express, folder: string): Promise<void> {
  const { default: express } = await import('express')
  app.use(
    '/uploads',
    refuseWrites,
    express.static(folder, { index: false, redirect: false, dotfiles: 'ignore', setHeaders: setSafeHeaders }),
  )
}

/** Files are read-only: 405 for all methods but GET and HEAD. Only GET has ranges (RFC 9110, 14.2). */
export const refuseWrites: RequestHandler = (request, response, next) => {
  if (request.method === 'HEAD') delete request.headers.range
  if (READS.has(request.method)) next()
  else writeAnswer(response, methodNotAllowed(ALLOWED_ANYWHERE), [])
}

const READS: ReadonlySet<string> = new Set(['GET', 'HEAD'])

/** SVG, HTML and other active content is only offered as a download (reference/safety.md#s16-uploads). */
export function setSafeHeaders(response: ServerResponse, path: string): void {
  response.setHeader('X-Content-Type-Options', 'nosniff')
  response.setHeader('Content-Security-Policy', "default-src 'none'; style-src 'unsafe-inline'; sandbox")
  if (isHarmless(path)) return
  response.setHeader('Content-Disposition', 'attachment')
  // An <img> runs no script inside an SVG, so that SVG keeps its type. Other active types must not be executable.
  if (!/\.svg$/i.test(path)) response.setHeader('Content-Type', 'application/octet-stream')
}
