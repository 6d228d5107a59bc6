import type { LineChart } from '../svg.ts'
import type { Counts } from './clients.ts'
import { lastThird, leastFrom, lineThrough, MEASURES, type Measure, type Sample } from './sample.ts'

export function printSoak(samples: readonly Sample[], counts: Counts, reloads: number): readonly string[] {
  const seconds = samples.at(-1)?.at ?? 0
  const total = [...counts.values()].reduce((sum, each) => sum + each, 0)
  return [
    `${total.toLocaleString('en')} requests and ${reloads} reloads in ${Math.round(seconds)} s, by 6 clients; a sample each`,
    '5 s: resident memory, then live memory after a full garbage collection. Each number is the least of half a minute, which',
    'excludes memory of requests in flight. Each reload (one a minute in the first half) empties the caches of responses',
    '(16 MB) and queries. They fill up again until the last third; the growth is the slope of a line through that third.',
    '',
    '![Memory](soak.svg)',
    '',
    '| | at the start | in the middle | after two thirds | at the end | most | growth an hour |',
    '|---|---|---|---|---|---|---|',
    ...MEASURES.map(measure => lineOf(samples, measure)),
    '',
    '| asked for | requests |',
    '|---|---|',
    ...Array.from(counts, ([kind, count]) => `| ${kind} | ${count.toLocaleString('en')} |`),
  ]
}

const NAMES: Readonly<Record<Measure, string>> = {
  resident: 'resident memory, MB',
  heap: 'live heap, MB',
  external: 'live buffers outside of the heap, MB',
  handles: 'open files and sockets',
  pending: 'timers, sockets and work under way',
  connections: 'connections to PostgreSQL',
  postgres: 'memory of PostgreSQL except shared memory, MB',
}

function lineOf(samples: readonly Sample[], measure: Measure): string {
  const least = [0, 1 / 2, 2 / 3, 1].map(part =>
    leastFrom(samples, Math.floor(samples.length * part), measure),
  )
  const most = Math.max(...samples.map(each => each[measure]))
  const growth = lineThrough(samples, measure).slope * 3600
  return `| ${[NAMES[measure], ...[...least, most].map(Math.round), growth.toFixed(1)].join(' | ')} |`
}

export const chartOfSoak = (samples: readonly Sample[]): LineChart => {
  const last = lastThird(samples)
  const { from, slope } = lineThrough(samples, 'resident')
  return {
    title: 'Memory of the server under a mix of requests',
    x: { label: 'seconds', scale: 'linear', mark: String },
    y: { label: 'MB', scale: 'linear', mark: String },
    series: [
      ...(['resident', 'heap', 'external'] as const).map(measure => ({
        name: NAMES[measure],
        points: samples.map(each => [each.at, each[measure]] as const),
      })),
      {
        name: 'the line through the last third of the resident memory',
        points: [last[0], last.at(-1)].flatMap(each => (each ? [[each.at, from + slope * each.at]] : [])),
      },
    ],
  }
}
