import type { IncomingMessage } from 'node:http'
import { failed, ok, type Result } from '../base/result.ts'
import { type Fault, fault } from '../faults/fault.ts'

/** Reads a request's body of at most `limit` bytes; what is longer is refused as soon as it shows. */
export function readBody(incoming: IncomingMessage, limit: number): Promise<Result<Buffer, Fault>> {
  // Then it will not come again: a global middleware took it.
  if (incoming.readableEnded) throw new Error('The body of the request was read before its turn came')
  if (Number(incoming.headers['content-length'] ?? 0) > limit) return Promise.resolve(failed(tooLarge()))
  return new Promise(resolve => {
    const parts: Buffer[] = []
    let size = 0
    incoming.on('data', (part: Buffer) => {
      size += part.length
      if (size <= limit) parts.push(part)
      else resolve(failed(tooLarge()))
    })
    incoming.on('end', () => resolve(ok(Buffer.concat(parts))))
    incoming.on('error', () => resolve(failed(cutOff())))
    incoming.on('close', () => resolve(failed(cutOff())))
  })
}

const tooLarge = (): Fault => fault('payloadTooLarge', 'request entity too large')

const cutOff = (): Fault => fault('badRequest', 'The request ended before its body did')
