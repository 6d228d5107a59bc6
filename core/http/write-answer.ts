import type { ServerResponse } from 'node:http'
import type { HttpResponse } from '../faults/http-exchange.ts'

export const JSON_TYPE = 'application/json; charset=utf-8'

/** Sends an answer in one piece. Appends the answer's own headers to `headers`. */
export function writeAnswer(response: ServerResponse, answer: HttpResponse, headers: string[]): void {
  const { status, body } = answer
  if (body !== null) {
    headers.push('Content-Type', answer.type ?? JSON_TYPE)
    headers.push('Content-Length', String(Buffer.byteLength(body)))
  }
  for (const name in answer.headers) headers.push(name, answer.headers[name] ?? '')
  for (const cookie of answer.cookies ?? []) headers.push('Set-Cookie', cookie)
  // The rest of a body that is too large is not read.
  if (status === 413) headers.push('Connection', 'close')
  if (status === 503 && !answer.isOutcomeUnknown) headers.push('Retry-After', '1')
  response.writeHead(status, headers)
  response.end(body)
}

const TEXT = 'text/plain; charset=utf-8'

/** Allow of a path that no responder knows (reference/rest.md#1-envelope-and-status-codes). */
export const ALLOWED_ANYWHERE = 'HEAD, GET'

/** The answer to a method that is not implemented on any path (reference/rest.md#1-envelope-and-status-codes). */
export const notImplemented = (allow: string): HttpResponse => ({
  status: 501,
  body: 'Not Implemented',
  type: TEXT,
  headers: { Allow: allow },
})

/** The answer to a method that this path does not have. */
export const methodNotAllowed = (allow: string): HttpResponse => ({
  status: 405,
  body: 'Method Not Allowed',
  type: TEXT,
  headers: { Allow: allow },
})

/** The answer to OPTIONS on a path that no responder knows. */
export const OPTIONS_ANYWHERE: HttpResponse = {
  status: 200,
  body: '',
  type: TEXT,
  headers: { Allow: ALLOWED_ANYWHERE },
}
