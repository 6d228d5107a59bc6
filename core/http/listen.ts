import { once } from 'node:events'
import type { Server, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Observer } from '../observe/observation.ts'

export interface ListenOptions {
  readonly host: string
  readonly port: number
  /** The setting of the port, for messages: `server.port (PORT)`. */
  readonly key: string
}

/** Binds the port. Resolves to undefined, or to one sentence that says why it cannot. */
export async function listen(server: Server, options: ListenOptions): Promise<string | undefined> {
  try {
    server.listen(options.port, options.host)
    await once(server, 'listening')
    return undefined
  } catch (reason) {
    return describeListenError(reason, options)
  }
}

function describeListenError(reason: unknown, { host, port, key }: ListenOptions): string {
  const code = reason instanceof Error && 'code' in reason ? reason.code : undefined
  if (code === 'EADDRINUSE') return `Port ${port} of ${host} is in use: set ${key} to a free one`
  if (code === 'EACCES') return `Port ${port} of ${host} is not for this user: set ${key} above 1023`
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND')
    return `server.host ${host} is no address of this machine`
  return `Cannot listen on ${host}:${port}: ${reason instanceof Error ? reason.message : String(reason)}`
}

export function urlOf(server: Server): string {
  const { address, family, port } = server.address() as AddressInfo
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`
}

/** Milliseconds between two log lines about failed accepts: there may be thousands. */
const LOG_INTERVAL = 1_000

/**
 * Logs errors of a listening server and of its responses. Without a listener each of them would end the process:
 * `accept` fails when file descriptors run out, and a middleware may write to a response that has ended.
 */
export function handleErrors(server: Server, observer: () => Observer): void {
  let last = Number.NEGATIVE_INFINITY
  server.on('error', error => {
    if (!server.listening || performance.now() - last < LOG_INTERVAL) return
    last = performance.now()
    observer().emit({ kind: 'acceptFailed', message: error.message })
  })
  server.on('request', (_request, response: ServerResponse) => {
    response.on('error', error => observer().emit({ kind: 'pluginFailed', message: WRITTEN_LATE, error }))
  })
}

const WRITTEN_LATE = 'A response was written to after it had ended'
