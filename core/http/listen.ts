import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import type { Server, ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
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
 * `accept` fails when file descriptors run out, and a middleware may write to a response that has ended. Closes connections
 * beyond `most`; returns the open ones.
 */
export function watchConnections(
  server: Server,
  observer: () => Observer,
  most = connectionLimit(),
): ReadonlySet<Socket> {
  let last = Number.NEGATIVE_INFINITY
  const report = (message: string): void => {
    if (performance.now() - last < LOG_INTERVAL) return
    last = performance.now()
    observer().emit({ kind: 'acceptFailed', message })
  }
  const open = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    open.add(socket)
    socket.once('close', () => open.delete(socket))
    if (open.size <= most) return
    socket.destroy()
    report(`${most} connections are open, and the process may open no more files (ulimit -n)`)
  })
  server.on('error', error => {
    if (server.listening) report(error.message)
  })
  server.on('request', (_request, response: ServerResponse) => {
    response.on('error', error => observer().emit({ kind: 'pluginFailed', message: WRITTEN_LATE, error }))
  })
  return open
}

/** File descriptors that are not for clients: connections to the database, workers, and modules that are loaded when needed, many at once. */
const RESERVED = 256

/**
 * The connections that leave enough file descriptors for the rest of the process. Clients could take all of them otherwise, and
 * Node never loads a module again that it could not open once. A connection may send or store one file.
 */
function connectionLimit(): number {
  const limits = existsSync(LIMITS) ? readFileSync(LIMITS, 'utf8') : ''
  const [, most] = /^Max open files +(\d+)/m.exec(limits) ?? []
  return most === undefined
    ? Number.POSITIVE_INFINITY
    : Math.max(10, Math.floor((Number(most) - RESERVED) / 2))
}

/** Only Linux has it. */
const LIMITS = '/proc/self/limits'

const WRITTEN_LATE = 'A response was written to after it had ended'
