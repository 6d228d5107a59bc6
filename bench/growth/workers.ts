import { startPlinth } from '../process.ts'
import { memoryOfTree, type ProcessorTime } from '../processor-time.ts'
import { measure } from './measure.ts'
import { times } from './print.ts'
import { GROWING } from './requests.ts'

const CLIENTS = 8

interface WorkersOptions {
  readonly project: string
  readonly url: string
  readonly postgres: ProcessorTime
  readonly articles: number
}

/** One process and two, as many requests as are answered. */
export async function measureWorkers(options: WorkersOptions): Promise<readonly string[]> {
  const rows = GROWING.filter(({ hasFloor }) => hasFloor)
  const [one, two] = [await withWorkers(1, rows, options), await withWorkers(2, rows, options)]
  const lines = rows.map(({ title }, at) => {
    const [alone, both] = [one.taken[at], two.taken[at]]
    if (!alone || !both) return ''
    const each = [alone, both].map(
      ({ server, postgres }) => `${Math.round(server)} + ${Math.round(postgres)} µs`,
    )
    const rates = [alone.perSecond, both.perSecond].map(Math.round)
    return `| ${[title, ...rates, times(both.perSecond, alone.perSecond), ...each].join(' | ')} |`
  })
  return [
    '| request | 1 worker, a second | 2 workers | | CPU a request, server + PostgreSQL: 1 worker | 2 workers |',
    '|---|---|---|---|---|---|',
    ...lines,
    `| memory, all processes | ${Math.round(one.memory)} MB | ${Math.round(two.memory)} MB | ${times(two.memory, one.memory)} | | |`,
  ]
}

async function withWorkers(
  workers: number,
  rows: typeof GROWING,
  { project, url, postgres, articles }: WorkersOptions,
) {
  const server = await startPlinth(project, url, { WORKERS: String(workers) })
  try {
    const taken = []
    for (const { paths } of rows)
      taken.push(
        await measure(server, {
          paths: paths({ articles, cursorAt: () => [] }),
          postgres,
          clients: CLIENTS,
        }),
      )
    return { taken, memory: memoryOfTree(server.pid) }
  } finally {
    await server.stop()
  }
}
