import { ok, type Result } from '../base/result.ts'
import type { Database } from '../database/database.ts'
import { countOutbox } from '../events/outbox-rows.ts'
import type { Responder } from '../faults/http-exchange.ts'
import { gauge, gauges, type MetricFamily } from '../observe/metrics/families.ts'
import type { Meters } from '../observe/metrics/meters.ts'
import type { ServerSettings } from '../project/settings/settings.ts'
import type { StartFault } from './start-fault.ts'

/** The metrics of this process and where they are served. */
export interface ProcessMetrics {
  readonly meters: Meters
  /** Serves them on the API's port; null: not configured. */
  readonly responder: Responder | null
  /** The URL on a separate port of this process; null: there is none. */
  readonly url: string | null
  close(): void
}

export interface ProcessMetricsOptions {
  /** With several workers: reads the metrics of all of them, as text, from the primary process. It serves the separate port. */
  readonly readAllMetrics?: () => Promise<string>
}

/** null: metrics are disabled. */
export async function openProcessMetrics(
  { host, metrics }: Pick<ServerSettings, 'host' | 'metrics'>,
  { readAllMetrics }: ProcessMetricsOptions,
): Promise<Result<ProcessMetrics | null, StartFault>> {
  if (!metrics.enabled) return ok(null)
  const [{ openMeters }, { printFamilies }, { openMetrics, serveMetrics }] = await Promise.all([
    import('../observe/metrics/meters.ts'),
    import('../observe/metrics/print-families.ts'),
    import('../http/metrics.ts'),
  ])
  const meters = openMeters()
  const read = readAllMetrics ?? (async () => printFamilies(await meters.read()))
  const { path, port } = metrics
  const nothing = { meters, responder: null, url: null, close: () => {} }
  if (port === null) return ok({ ...nothing, responder: openMetrics({ path, read }) })
  if (readAllMetrics) return ok(nothing)
  const server = await serveMetrics({ path, read, host, port })
  if (server.ok) return ok({ ...nothing, ...server.value })
  return { ok: false, reasons: server.reasons.map(message => ({ kind: 'other', message })) }
}

/** Adds the metrics that are read at each scrape. `inFlight`: the number of requests in flight. */
export function addAppMetrics(meters: Meters, database: Database, inFlight: () => number): void {
  meters.addSource(async () => [gauge(IN_FLIGHT, 'sum', inFlight()), ...poolFamilies(database)])
  meters.addSource(async () => {
    const { waiting, failed } = await countOutbox(database)
    return [gauges(OUTBOX, 'max', 'state', { waiting, failed })]
  })
}

function poolFamilies(database: Database): readonly MetricFamily[] {
  const { busy, idle, waiting } = database.connections()
  return [gauges(CONNECTIONS, 'sum', 'state', { busy, idle }), gauge(WAITING, 'sum', waiting)]
}

const IN_FLIGHT = { name: 'plinth_http_requests_in_flight', help: 'Requests that are being answered.' }
const CONNECTIONS = { name: 'plinth_database_connections', help: 'Connections to the database.' }
const WAITING = { name: 'plinth_database_waiting', help: 'Work that waits for a connection.' }
const OUTBOX = {
  name: 'plinth_outbox_events',
  help: 'Events that listeners have not heard of yet, and those that are kept after the last try.',
}
