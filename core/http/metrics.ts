import { createServer } from 'node:http'
import { failed, ok, type Result } from '../base/result.ts'
import type { HttpResponse, Responder } from '../faults/http-exchange.ts'
import { METRICS_TYPE } from '../observe/metrics/print-families.ts'
import { SILENT } from '../observe/observation.ts'
import { handleErrors } from './handle-errors.ts'
import { listen, urlOf } from './listen.ts'

export interface MetricsTerms {
  readonly path: string
  /** All numbers as text. */
  readonly read: () => Promise<string>
}

/** The numbers at a path of the server's own port. */
export function openMetrics({ path, read }: MetricsTerms): Responder {
  return request => {
    if (request.path !== path || (request.method !== 'GET' && request.method !== 'HEAD')) return null
    request.route = 'metrics'
    return read().then(
      (body): HttpResponse => ({ status: 200, body, type: METRICS_TYPE, headers: NEVER_STORED }),
    )
  }
}

const NEVER_STORED = { 'Cache-Control': 'no-store' }

export interface MetricsServer {
  readonly url: string
  close(): void
}

/** The numbers on a port of their own, and nothing else; or why it cannot listen there. */
export async function serveMetrics({
  path,
  read,
  host,
  port,
}: MetricsTerms & { readonly host: string; readonly port: number }): Promise<Result<MetricsServer, string>> {
  const server = createServer((request, response) => {
    const isAsked = request.method === 'GET' && request.url?.split('?', 1)[0] === path
    if (!isAsked) return void response.writeHead(404).end()
    read().then(
      text => response.writeHead(200, { 'Content-Type': METRICS_TYPE }).end(text),
      () => response.writeHead(503).end(),
    )
  })
  // What keeps it from accepting connections keeps the server of the API, too, which tells it.
  handleErrors(server, () => SILENT)
  const trouble = await listen(server, { host, port, key: 'server.metrics.port' })
  if (trouble) return failed(trouble)
  return ok({
    url: urlOf(server) + path,
    close() {
      server.close()
      server.closeAllConnections()
    },
  })
}
