import type { Database } from '../database/database.ts'
import { countOutbox } from '../events/outbox-rows.ts'
import { gauge, gauges, type MetricFamily } from '../observe/metrics/families.ts'
import type { Meters } from '../observe/metrics/meters.ts'

/** What is read of a running server whenever somebody asks for its numbers. `inFlight`: requests that are being answered. */
export function addAppFamilies(meters: Meters, database: Database, inFlight: () => number): void {
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
