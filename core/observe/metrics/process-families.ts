import { monitorEventLoopDelay } from 'node:perf_hooks'
import { PRODUCT_VERSION } from '../../base/product.ts'
import { type Family, gauge, gauges } from './family.ts'

/** How often the event loop is looked at, in milliseconds. */
const RESOLUTION = 20

/** Nanoseconds. */
const SECOND = 1e9

/** What the process takes, by the names that dashboards know. Lag: since the last time that somebody asked. */
export function openProcessFamilies(): () => readonly Family[] {
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

/** Beyond what it looks at; before the first look there is nothing. */
const seconds = (nanoseconds: number): number =>
  Number.isFinite(nanoseconds) ? Math.max(0, nanoseconds / SECOND - RESOLUTION / 1000) : 0

const INFO = { name: 'plinth_info', help: 'Processes that serve, by the version of Plinth.' }
const CPU = { name: 'process_cpu_seconds_total', help: 'CPU time that the process has taken, in seconds.' }
const RESIDENT = { name: 'process_resident_memory_bytes', help: 'Memory that the process holds.' }
const MEMORY = { name: 'plinth_memory_bytes', help: 'Memory of the JavaScript engine.' }
const LAG = {
  name: 'plinth_event_loop_lag_seconds',
  help: 'How late the event loop was since it was asked last.',
}
const START = { name: 'process_start_time_seconds', help: 'When the process started, in seconds since 1970.' }
