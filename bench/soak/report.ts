import type { LineChart } from '../svg.ts'
import type { Counts } from './clients.ts'
import { lineThrough, MEASURES, type Measure, type Sample } from './sample.ts'

export function printSoak(samples: readonly Sample[], counts: Counts, reloads: number): readonly string[] {
  const seconds = samples.at(-1)?.at ?? 0
  const total = [...counts.values()].reduce((sum, each) => sum + each, 0)
  return [
    `${total.toLocaleString('en')} requests and ${reloads} reloads in ${Math.round(seconds)} s, by 6 clients; a sample each`,
    '5 s, with a full collection, after which what is alive is counted; resident memory is looked at before it. Growth is that',
    'of the line through the least of each half minute of the second half.',
    '',
    '![Memory](soak.svg)',
    '',
    '| | at the start | in the middle | at the end | most | growth an hour |',
    '|---|---|---|---|---|---|',
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
  external: 'live buffers beside the heap, MB',
  handles: 'open files and sockets',
  connections: 'connections to PostgreSQL',
}

function lineOf(samples: readonly Sample[], measure: Measure): string {
  const values = samples.map(each => each[measure])
  const shown = [values[0], values[Math.floor(values.length / 2)], values.at(-1), Math.max(...values)]
  const growth = lineThrough(samples, measure).slope * 3600
  return `| ${[NAMES[measure], ...shown.map(value => Math.round(value ?? 0)), growth.toFixed(1)].join(' | ')} |`
}

export const chartOfSoak = (samples: readonly Sample[]): LineChart => {
  const second = samples.slice(Math.floor(samples.length / 2))
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
        name: 'the line through the second half of the resident memory',
        points: [second[0], second.at(-1)].flatMap(each => (each ? [[each.at, from + slope * each.at]] : [])),
      },
    ],
  }
}
