import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http'
import { duplexPair } from 'node:stream'
import type { ExpressMiddleware } from '../plugins/middleware.ts'
import { withGlobalMiddlewares } from './global-middlewares.ts'
import { openInFlight } from './in-flight.ts'
import { createListener, type ListenerOptions } from './listener.ts'
import { answerUnparsed } from './server.ts'

/** The whole HTTP server without a port: each request uses an in-memory connection. */
export interface MemoryServer {
  send(request: MemoryRequest): Promise<MemoryAnswer>
}

export interface MemoryRequest {
  readonly method: string
  /** Includes the query string. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array | null
}

export interface MemoryAnswer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
}

export interface MemoryOptions extends ListenerOptions {
  /** Express middlewares around every request, the first outermost. */
  readonly middlewares: readonly ExpressMiddleware[]
}

export async function openInMemory(options: MemoryOptions): Promise<MemoryServer> {
  const { middlewares, settings, observer, projectRoot, graphql } = options
  const inFlight = openInFlight()
  const around = { requestTimeout: settings.requestTimeout, observer, projectRoot, graphql, inFlight }
  const server = createServer(
    await withGlobalMiddlewares(middlewares, createListener(options, inFlight), around),
  )
  answerUnparsed(server, () => options)
  return {
    async send({ method, path, headers, body }) {
      const [near, far] = duplexPair()
      server.emit('connection', far)
      const length = body ? { 'content-length': String(body.length) } : {}
      const sent = request({
        method,
        path,
        headers: { host: 'localhost', connection: 'close', ...length, ...headers },
        createConnection: () => near,
      })
      // An error after the response has begun is reported by reading its body.
      sent.on('error', () => undefined)
      sent.end(body ?? undefined)
      const [answer]: IncomingMessage[] = await once(sent, 'response')
      if (!answer) throw new Error(`no answer to ${method} ${path}`)
      const read = Buffer.concat(await answer.toArray())
      near.destroy()
      return { status: answer.statusCode ?? 0, headers: answer.headers, body: read }
    },
  }
}
