import { once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type IncomingMessage, request } from 'node:http'
import { duplexPair } from 'node:stream'
import type { ExpressMiddleware } from '../plugins/middleware.ts'
import { aroundListener } from './global-middlewares.ts'
import { openTraffic } from './in-flight.ts'
import { createListener, type ListenerTerms } from './listener.ts'

/** The whole server without a port: each request goes over a connection in memory. */
export interface MemoryServer {
  send(request: MemoryRequest): Promise<MemoryAnswer>
}

export interface MemoryRequest {
  readonly method: string
  /** With its query string. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array | null
}

export interface MemoryAnswer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
}

export interface MemoryTerms extends ListenerTerms {
  /** Express middlewares round every request, the first outermost. */
  readonly middlewares: readonly ExpressMiddleware[]
}

export async function openInMemory(terms: MemoryTerms): Promise<MemoryServer> {
  const { middlewares, settings, observer } = terms
  const traffic = openTraffic()
  const around = { requestTimeout: settings.requestTimeout, observer, traffic }
  const server = createServer(await aroundListener(middlewares, createListener(terms, traffic), around))
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
      // After the response has begun, its body is what fails.
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
