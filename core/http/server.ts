import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { failed, ok, type Result } from '../base/result.ts'
import type { ExpressMiddleware } from '../plugins/middleware.ts'
import { aroundListener } from './global-middlewares.ts'
import { createListener, type ListenerTerms, type Traffic } from './listener.ts'
import { answerConnect, answerMalformed } from './malformed.ts'

export interface RunningServer {
  /** `http://127.0.0.1:1337` */
  readonly url: string
  /** Takes no more connections, answers what is under way for at most so many milliseconds, then cuts the rest. */
  close(milliseconds: number): Promise<void>
}

export interface ServerTerms extends ListenerTerms {
  /** Express middlewares round every request, the first outermost. */
  readonly middlewares?: readonly ExpressMiddleware[]
  /** When the process began, as of performance.now(). */
  readonly startedAt?: number
}

/** Milliseconds. Headers that take longer are somebody holding connections open. */
const HEADERS_TIMEOUT = 10_000
/** Longer than balancers keep theirs, so that none sends into a connection that is just being closed. */
const KEEP_ALIVE_TIMEOUT = 65_000

/** Listens; or says, in one sentence, why it cannot. */
export async function openServer(terms: ServerTerms): Promise<Result<RunningServer, string>> {
  const { settings, observer, middlewares = [], startedAt = 0 } = terms
  const traffic: Traffic = { waiting: 0, closing: false }
  const { requestTimeout } = settings
  const listener = createListener(terms, traffic)
  const server = createServer(
    {
      headersTimeout: Math.min(HEADERS_TIMEOUT, requestTimeout),
      requestTimeout,
      keepAliveTimeout: KEEP_ALIVE_TIMEOUT,
      connectionsCheckingInterval: Math.min(5_000, requestTimeout),
    },
    await aroundListener(middlewares, listener, { requestTimeout, observer }),
  )
  // Node drops the connection of a CONNECT that nobody listens to, without a word.
  server.on('connect', (_request, socket) => answerConnect(socket))
  server.on('clientError', (error: Error, socket) => answerMalformed(error, socket, observer))
  const trouble = await listen(server, settings.host, settings.port)
  if (trouble) return failed(trouble)
  const url = urlOf(server)
  observer.tell({ kind: 'listening', url, milliseconds: performance.now() - startedAt })
  return ok({ url, close: milliseconds => close(server, traffic, { milliseconds, observer }) })
}

async function listen(server: Server, host: string, port: number): Promise<string | undefined> {
  try {
    server.listen(port, host)
    await once(server, 'listening')
    return undefined
  } catch (reason) {
    return whyNot(reason, host, port)
  }
}

function whyNot(reason: unknown, host: string, port: number): string {
  const code = reason instanceof Error && 'code' in reason ? reason.code : undefined
  if (code === 'EADDRINUSE') return `Port ${port} of ${host} is in use: set server.port (PORT) to a free one`
  if (code === 'EACCES')
    return `Port ${port} of ${host} is not for this user: set server.port (PORT) above 1023`
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND')
    return `server.host ${host} is no address of this machine`
  return `Cannot listen on ${host}:${port}: ${reason instanceof Error ? reason.message : String(reason)}`
}

function urlOf(server: Server): string {
  const { address, family, port } = server.address() as AddressInfo
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`
}

interface Ending {
  readonly milliseconds: number
  readonly observer: ListenerTerms['observer']
}

async function close(server: Server, traffic: Traffic, { milliseconds, observer }: Ending): Promise<void> {
  if (traffic.closing) return
  traffic.closing = true
  observer.tell({ kind: 'stopping', waiting: traffic.waiting })
  let cut = 0
  const patience = setTimeout(() => {
    cut = traffic.waiting
    server.closeAllConnections()
  }, milliseconds)
  const closed = once(server, 'close')
  server.close()
  server.closeIdleConnections()
  await closed
  clearTimeout(patience)
  observer.tell({ kind: 'stopped', cut })
}
