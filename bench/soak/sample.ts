import { readdirSync } from 'node:fs'
import connect from 'chrome-remote-interface'
import type { Running } from '../process.ts'

/** What the server holds at a moment. Memory in MB (10^6). */
export interface Sample {
  /** Seconds since the first one. */
  readonly at: number
  readonly resident: number
  /** What is alive: after a full collection. */
  readonly heap: number
  /** Buffers and the like, alive too. */
  readonly external: number
  /** Open files and sockets. */
  readonly handles: number
  /** What keeps the process from ending: timers, sockets, work under way. */
  readonly pending: number
  /** Connections to PostgreSQL. */
  readonly connections: number
  /** What PostgreSQL's processes hold, each for itself. */
  readonly postgres: number
}

export const MEASURES = [
  'resident',
  'heap',
  'external',
  'handles',
  'pending',
  'connections',
  'postgres',
] as const
export type Measure = (typeof MEASURES)[number]

export interface SampleOptions {
  readonly at: number
  /** The port on which the server lets garbage be collected. */
  readonly inspector: number
  readonly postgres: () => number
}

export async function sample(
  { base, pid, memory }: Running,
  { at, inspector, postgres }: SampleOptions,
): Promise<Sample> {
  const resident = memory()
  const handles = readdirSync(`/proc/${pid}/fd`).length
  const pending = await collect(inspector)
  const text = await (await fetch(`${base}/metrics`)).text()
  const sum = (pattern: RegExp): number =>
    text
      .split('\n')
      .filter(line => pattern.test(line))
      .reduce((total, line) => total + Number(line.slice(line.lastIndexOf(' '))), 0)
  return {
    at,
    resident,
    heap: sum(/^plinth_memory_bytes\{.*"heapUsed"/) / 1e6,
    external: sum(/^plinth_memory_bytes\{.*"external"/) / 1e6,
    handles,
    pending,
    connections: sum(/^plinth_database_connections/),
    postgres: postgres(),
  }
}

/** Twice: what the first one finalizes the second one frees. Answers how much is pending. */
async function collect(port: number): Promise<number> {
  const client = await connect({ host: '127.0.0.1', port })
  await client.HeapProfiler.collectGarbage()
  await client.HeapProfiler.collectGarbage()
  const { result } = await client.Runtime.evaluate({ expression: 'process.getActiveResourcesInfo().length' })
  await client.close()
  return Number(result.value)
}

export interface Line {
  readonly from: number
  /** What it grows in a second. */
  readonly slope: number
}

/** Half a minute: pages that were freed go back to the system about as late. */
const TOGETHER = 6

/** The least that was measured in the half minute from a sample on, or before it where it is one of the last. */
export function leastFrom(samples: readonly Sample[], from: number, measure: Measure): number {
  const first = Math.max(0, Math.min(from, samples.length - TOGETHER))
  return Math.min(...samples.slice(first, first + TOGETHER).map(each => each[measure]))
}

/** Before it what is kept of answers and questions has filled up: the last reload was at the half. */
export const lastThird = (samples: readonly Sample[]): readonly Sample[] =>
  samples.slice(Math.floor((samples.length * 2) / 3))

/**
 * The line with the least squares through the least that was measured in each half minute of the last third: above it
 * lies what only the requests of the moment hold.
 */
export function lineThrough(samples: readonly Sample[], measure: Measure): Line {
  const last = lastThird(samples)
  const points = last.flatMap((sample, at) => {
    if (at % TOGETHER !== 0 || at + TOGETHER > last.length) return []
    return [[sample.at, leastFrom(last, at, measure)] as const]
  })
  const mean = (of: 0 | 1): number => points.reduce((sum, point) => sum + point[of], 0) / points.length
  const [middle, height] = [mean(0), mean(1)]
  const along = points.reduce((sum, [at, value]) => sum + (at - middle) * (value - height), 0)
  const across = points.reduce((sum, [at]) => sum + (at - middle) ** 2, 0)
  const slope = across === 0 ? 0 : along / across
  return { from: height - slope * middle, slope }
}
