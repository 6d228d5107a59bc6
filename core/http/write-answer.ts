import type { ServerResponse } from 'node:http'
import type { HttpResponse } from '../faults/http-exchange.ts'

export const JSON_TYPE = 'application/json; charset=utf-8'

/** Sends an answer with all its headers in one piece: `headers` and its own, which are put behind them. */
export function writeAnswer(response: ServerResponse, answer: HttpResponse, headers: string[]): void {
  const { status, body } = answer
  if (body !== null) {
    headers.push('Content-Type', answer.type ?? JSON_TYPE)
    headers.push('Content-Length', String(Buffer.byteLength(body)))
  }
  for (const name in answer.headers) headers.push(name, answer.headers[name] ?? '')
  for (const cookie of answer.cookies ?? []) headers.push('Set-Cookie', cookie)
  // What is left of a refused body is not read.
  if (status === 413) headers.push('Connection', 'close')
  if (status === 503 && !answer.isOutcomeUnknown) headers.push('Retry-After', '1')
  response.writeHead(status, headers)
  response.end(body)
}
