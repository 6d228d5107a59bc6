import { STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import { type Fault, fault } from '../faults/fault.ts'
import { type HttpResponse, toFaultResponse } from '../faults/http-exchange.ts'
import type { Observer } from '../observe/observation.ts'
import { ALLOWED_ANYWHERE, notImplemented } from './not-implemented.ts'
import { JSON_TYPE } from './write-answer.ts'

/** What never became a request is answered all the same, and its connection ends. */
export function answerMalformed(
  error: Error & { readonly code?: string },
  socket: Duplex,
  observer: Observer,
): void {
  observer.emit({ kind: 'malformed', code: error.code ?? 'unknown' })
  if (!socket.writable) {
    socket.destroy()
    return
  }
  endWith(socket, toFaultResponse(faultOf(error.code)))
}

/** No proxy: CONNECT is one of the methods that are not implemented on any path (contract/rest.md 1). */
export function answerConnect(socket: Duplex): void {
  socket.on('error', () => socket.destroy())
  endWith(socket, notImplemented(ALLOWED_ANYWHERE))
}

function endWith(socket: Duplex, { status, body, type = JSON_TYPE, headers = {} }: HttpResponse): void {
  const text = String(body)
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`,
    `Content-Type: ${type}`,
    `Content-Length: ${Buffer.byteLength(text)}`,
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    'Connection: close',
  ]
  socket.end(`${head.join('\r\n')}\r\n\r\n${text}`)
}

function faultOf(code: string | undefined): Fault {
  if (code === 'HPE_HEADER_OVERFLOW') return fault('headersTooLarge', 'Request Header Fields Too Large')
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return fault('requestTimeout', 'Request Timeout')
  return fault('badRequest', 'Bad Request')
}
