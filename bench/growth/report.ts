import type { LineChart } from '../svg.ts'
import type { Taken } from './measure.ts'
import { short, times } from './print.ts'
import { GROWING, LEVELS } from './requests.ts'
import type { Size } from './sizes.ts'

/** From here on a list is to cost the same. */
const FLAT_FROM = 10_000

export const printSizes = (sizes: readonly Size[]): readonly string[] => [
  '## Articles',
  '',
  'Each article has a draft and a published version, an author and three categories; lists are of 25. CPU is that of the',
  'server and of PostgreSQL, a request. Growth is relative to the fewest articles; what has a goal is measured from 10 k to the',
  'most articles.',
  '',
  '![CPU a request](growth.svg)',
  '',
  `| request | articles | p50 | p99 | CPU: server | PostgreSQL | growth of CPU | of p50 | share of the floor’s throughput |`,
  '|---|---|---|---|---|---|---|---|---|',
  ...GROWING.flatMap((_, row) => linesOf(sizes, row)),
  '',
  `| from ${short(FLAT_FROM)} to ${short(sizes.at(-1)?.articles ?? 0)} articles | growth of CPU | of p50 | goal |`,
  '|---|---|---|---|',
  ...GROWING.flatMap((_, row) => goalOf(sizes, row)),
  '',
  `| articles | ${sizes.map(({ articles }) => short(articles)).join(' | ')} |`,
  `|---|${sizes.map(() => '---|').join('')}`,
  `| memory of the server afterwards | ${sizes.map(({ memory }) => `${Math.round(memory)} MB`).join(' | ')} |`,
]

const cpu = ({ server, postgres }: Taken): number => server + postgres

function linesOf(sizes: readonly Size[], row: number): readonly string[] {
  const first = sizes[0]?.rows[row]?.taken
  return sizes.flatMap(({ articles, rows }) => {
    const found = rows[row]
    if (!found || !first) return []
    const { growing, taken, share } = found
    const named = taken === first ? growing.title : ''
    const growth = [times(cpu(taken), cpu(first)), times(taken.p50, first.p50)]
    return [
      `| ${[named, short(articles), ...cells(taken), ...growth, share?.toFixed(2) ?? ''].join(' | ')} |`,
    ]
  })
}

const cells = ({ p50, p99, server, postgres }: Taken): readonly string[] => [
  `${p50.toFixed(2)} ms`,
  `${p99.toFixed(1)} ms`,
  `${Math.round(server)} µs`,
  `${Math.round(postgres)} µs`,
]

function goalOf(sizes: readonly Size[], row: number): readonly string[] {
  const from = sizes.find(({ articles }) => articles === FLAT_FROM)?.rows[row]
  const to = sizes.at(-1)?.rows[row]
  if (!from || !to || to.growing.goal === undefined) return []
  const { title, goal } = to.growing
  return [
    `| ${title} | ${times(cpu(to.taken), cpu(from.taken))} | ${times(to.taken.p50, from.taken.p50)} | ≤ × ${goal} |`,
  ]
}

export const printLevels = (sizes: readonly Size[]): readonly string[] => [
  '## Populate levels',
  '',
  'A page by cursor from the middle; growth is relative to one level.',
  '',
  '| populate | articles | p50 | p99 | CPU: server | PostgreSQL | growth of CPU |',
  '|---|---|---|---|---|---|---|',
  ...LEVELS.flatMap((level, at) =>
    sizes.flatMap(({ articles, levels }) => {
      const [first, taken] = [levels[0], levels[at]]
      if (!first || !taken) return []
      return [
        `| \`${level}\` | ${[short(articles), ...cells(taken), times(cpu(taken), cpu(first))].join(' | ')} |`,
      ]
    }),
  ),
]

export const chartOfSizes = (sizes: readonly Size[]): LineChart => ({
  title: 'CPU a request, of the server and of PostgreSQL',
  x: { label: 'articles', scale: 'log', mark: short },
  y: { label: 'milliseconds', scale: 'log', mark: String },
  series: GROWING.map(({ title }, row) => ({
    name: title,
    points: sizes.flatMap(({ articles, rows }) => {
      const taken = rows[row]?.taken
      return taken ? [[articles, cpu(taken) / 1000] as const] : []
    }),
  })),
})
