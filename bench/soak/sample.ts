import { readdirSync } from 'node:fs'
import type { Running } from '../process.ts'

/** What the server holds at a moment. Memory in MB (10^6). */
export interface Sample {
  /** Seconds since the first one. */
  readonly at: number
  readonly resident: number
  readonly heap: number
  /** Buffers and the like. */
  readonly external: number
  /** Open files and sockets. */
  readonly handles: number
  /** Connections to PostgreSQL. */
  readonly connections: number
}

export const MEASURES = ['resident', 'heap', 'external', 'handles', 'connections'] as const
export type Measure = (typeof MEASURES)[number]

export async function sample({ base, pid }: Running, at: number): Promise<Sample> {
  const text = await (await fetch(`${base}/metrics`)).text()
  const sum = (pattern: RegExp): number =>
    text
      .split('\n')
      .filter(line => pattern.test(line))
      .reduce((total, line) => total + Number(line.slice(line.lastIndexOf(' '))), 0)
  return {
    at,
    resident: sum(/^process_resident_memory_bytes/) / 1e6,
    heap: sum(/^plinth_memory_bytes\{.*"heapUsed"/) / 1e6,
    external: sum(/^plinth_memory_bytes\{.*"external"/) / 1e6,
    handles: readdirSync(`/proc/${pid}/fd`).length,
    connections: sum(/^plinth_database_connections/),
  }
}

export interface Line {
  readonly from: number
  /** What it grows in a second. */
  readonly slope: number
}

/** Half a minute: garbage waits about as long until it is collected. */
const TOGETHER = 6

/**
 * The line with the least squares through the least that was measured in each half minute of the second half: the first
 * half fills what is kept, and above the least lies what only waits to be collected.
 */
export function lineThrough(samples: readonly Sample[], measure: Measure): Line {
  const half = samples.slice(Math.floor(samples.length / 2))
  const points = half.flatMap((sample, at) => {
    if (at % TOGETHER !== 0) return []
    const least = Math.min(...half.slice(at, at + TOGETHER).map(each => each[measure]))
    return [[sample.at, least] as const]
  })
  const mean = (of: 0 | 1): number => points.reduce((sum, point) => sum + point[of], 0) / points.length
  const [middle, height] = [mean(0), mean(1)]
  const along = points.reduce((sum, [at, value]) => sum + (at - middle) * (value - height), 0)
  const across = points.reduce((sum, [at]) => sum + (at - middle) ** 2, 0)
  const slope = across === 0 ? 0 : along / across
  return { from: height - slope * middle, slope }
}
