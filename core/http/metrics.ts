import { createServer } from 'node:http'
import { failed, ok, type Result } from '../base/result.ts'
import type { HttpResponse, Responder } from '../faults/http-exchange.ts'
import { METRICS_TYPE } from '../observe/metrics/print-families.ts'
import { SILENT } from '../observe/observation.ts'
import { listen, urlOf, watchConnections } from './listen.ts'

export interface MetricsOptions {
  readonly path: string
  /** All metrics in Prometheus' text format. */
  readonly read: () => Promise<string>
}

/** Serves metrics at a path of the API's port. */
export function openMetrics({ path, read }: MetricsOptions): Responder {
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

/** Serves only metrics, on a separate port; fails with a sentence if the port cannot be bound. */
export async function serveMetrics({
  path,
  read,
  host,
  port,
}: MetricsOptions & { readonly host: string; readonly port: number }): Promise<
  Result<MetricsServer, string>
> {
  const server = createServer((request, response) => {
    const isMetrics = request.method === 'GET' && request.url?.split('?', 1)[0] === path
    if (!isMetrics) return void response.writeHead(404).end()
    read().then(
      text => response.writeHead(200, { 'Content-Type': METRICS_TYPE }).end(text),
      () => response.writeHead(503).end(),
    )
  })
  // A failed accept is logged by the API's server, which fails for the same reason.
  watchConnections(server, () => SILENT)
  const problem = await listen(server, { host, port, key: 'server.metrics.port' })
  if (problem) return failed(problem)
  return ok({
    url: urlOf(server) + path,
    close() {
      server.close()
      server.closeAllConnections()
    },
  })
}
