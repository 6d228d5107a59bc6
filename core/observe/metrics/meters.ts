import { monitorEventLoopDelay } from 'node:perf_hooks'
import { PRODUCT_VERSION } from '../../base/product.ts'
import { withTimeout } from '../../base/with-timeout.ts'
import type { Observation, Observer } from '../observation.ts'
import { gauge, gauges, type MetricFamily, openCounter, openHistogram } from './families.ts'

/** The metrics of a process. They are kept across reloads. */
export interface Meters {
  /** Counts a response. `route` comes from a closed set. */
  onResponse(route: string, status: number, milliseconds: number): void
  /** Counts a statement or a transaction. */
  onDatabaseWork(kind: 'read' | 'write' | 'transaction', milliseconds: number, isGood: boolean): void
  /** Counts observations by kind. */
  onObservation(observation: Observation): void
  /** Adds families that are computed at each scrape. A source that fails or exceeds the timeout is left out. */
  addSource(read: () => Promise<readonly MetricFamily[]>): void
  read(): Promise<readonly MetricFamily[]>
}

export function openMeters(): Meters {
  const requests = openCounter(REQUESTS, ['route', 'status'])
  const durations = openHistogram(REQUEST_SECONDS, 'route')
  const work = openHistogram(WORK_SECONDS, 'kind')
  const failedWork = openCounter(WORK_FAILED, ['kind'], [['read'], ['write'], ['transaction']])
  const events = openCounter(
    EVENTS,
    ['event'],
    COUNTED_KINDS.map(kind => [kind]),
  )
  const steps = openCounter(STEPS, [], [[]])
  const processFamilies = openProcessFamilies()
  const counted = new Set<string>(COUNTED_KINDS)
  const sources: (() => Promise<readonly MetricFamily[]>)[] = []
  return {
    onResponse(route, status, milliseconds) {
      requests.add([route, String(status)])
      durations.add(route, milliseconds / 1000)
    },
    onDatabaseWork(kind, milliseconds, isGood) {
      work.add(kind, milliseconds / 1000)
      if (!isGood) failedWork.add([kind])
    },
    onObservation(observation) {
      if (counted.has(observation.kind)) events.add([observation.kind])
      if (observation.kind === 'migrated') steps.add([], observation.steps)
    },
    addSource: read => void sources.push(read),
    async read() {
      const more = await Promise.all(
        sources.map(read => withTimeout<readonly MetricFamily[]>(SOURCE_TIMEOUT, read(), []).catch(() => [])),
      )
      const own = [requests, durations, work, failedWork, events, steps].map(each => each.read())
      return [...own, ...more.flat(), ...processFamilies()]
    },
  }
}

/** Milliseconds. Sources query the database; if it hangs, the other metrics are needed most. */
const SOURCE_TIMEOUT = 1_000

/** Rare observations that are worth an alert. */
const COUNTED_KINDS = [
  'reloaded',
  'reloadRefused',
  'migrated',
  'failed',
  'unavailable',
  'timedOut',
  'malformed',
  'acceptFailed',
  'slowWork',
  'connectionLost',
  'mailFailed',
  'policyFailed',
  'pluginFailed',
  'eventPostponed',
  'eventFailed',
  'eventsStalled',
  'outdated',
] as const satisfies readonly Observation['kind'][]

const REQUESTS = { name: 'plinth_http_requests_total', help: 'Answered requests.' }
const REQUEST_SECONDS = {
  name: 'plinth_http_request_duration_seconds',
  help: 'Time from the request head to the response.',
}
const WORK_SECONDS = {
  name: 'plinth_database_work_seconds',
  help: 'Time of statements outside of transactions and of whole transactions, including the wait for a connection.',
}
const WORK_FAILED = {
  name: 'plinth_database_failures_total',
  help: 'Failed statements and transactions.',
}
const EVENTS = { name: 'plinth_events_total', help: 'Logged events by kind.' }
const STEPS = { name: 'plinth_migration_steps_total', help: 'Migration steps that this process applied.' }

/** An observer that also counts observations. */
export const meteredObserver = (observer: Observer, meters: Pick<Meters, 'onObservation'>): Observer => ({
  isEnabled: kind => observer.isEnabled(kind),
  emit(observation) {
    meters.onObservation(observation)
    observer.emit(observation)
  },
})

/** Sampling interval of the event loop delay, in milliseconds. */
const RESOLUTION = 20

/** In nanoseconds. */
const SECOND = 1e9

/** CPU, memory and event loop lag, under the usual Prometheus names. The lag covers the time since the previous scrape. */
function openProcessFamilies(): () => readonly MetricFamily[] {
  const lag = monitorEventLoopDelay({ resolution: RESOLUTION })
  lag.enable()
  const startedAt = Date.now() / 1000 - process.uptime()
  return () => {
    const { rss, heapUsed, heapTotal, external } = process.memoryUsage()
    const { user, system } = process.cpuUsage()
    const families = [
      gauges(INFO, 'sum', 'version', { [PRODUCT_VERSION]: 1 }),
      { ...gauge(CPU, 'each', (user + system) / 1e6), type: 'counter' as const },
      gauge(RESIDENT, 'each', rss),
      gauges(MEMORY, 'each', 'kind', { heapUsed, heapTotal, external }),
      gauges(LAG, 'each', 'quantile', {
        '0.5': seconds(lag.percentile(50)),
        '0.99': seconds(lag.percentile(99)),
        '1': seconds(lag.max),
      }),
      gauge(START, 'each', startedAt),
    ]
    lag.reset()
    return families
  }
}

/** Subtracts the sampling interval, which the measured delay includes. NaN before the first sample. */
const seconds = (nanoseconds: number): number =>
  Number.isFinite(nanoseconds) ? Math.max(0, nanoseconds / SECOND - RESOLUTION / 1000) : 0

const INFO = { name: 'plinth_info', help: 'Serving processes by Plinth version.' }
const CPU = { name: 'process_cpu_seconds_total', help: 'CPU time of the process in seconds.' }
const RESIDENT = { name: 'process_resident_memory_bytes', help: 'Resident memory of the process.' }
const MEMORY = { name: 'plinth_memory_bytes', help: 'Memory of the JavaScript engine.' }
const LAG = {
  name: 'plinth_event_loop_lag_seconds',
  help: 'Event loop delay since the previous scrape.',
}
const START = { name: 'process_start_time_seconds', help: 'Start time of the process in seconds since 1970.' }
