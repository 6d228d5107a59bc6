import { STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import { answerFault } from '../faults/exchange.ts'
import { type Fault, fault } from '../faults/fault.ts'
import type { Observer } from '../observe/observation.ts'

/** What never became a request is answered all the same, and its connection ends. */
export function answerMalformed(
  error: Error & { readonly code?: string },
  socket: Duplex,
  observer: Observer,
): void {
  observer.tell({ kind: 'malformed', code: error.code ?? 'unknown' })
  if (!socket.writable) {
    socket.destroy()
    return
  }
  const { status, body } = answerFault(faultOf(error.code))
  const text = String(body)
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`,
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(text)}`,
    'Connection: close',
  ]
  socket.end(`${head.join('\r\n')}\r\n\r\n${text}`)
}

function faultOf(code: string | undefined): Fault {
  if (code === 'HPE_HEADER_OVERFLOW') return fault('headersTooLarge', 'Request Header Fields Too Large')
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return fault('requestTimeout', 'Request Timeout')
  return fault('badRequest', 'Bad Request')
}
