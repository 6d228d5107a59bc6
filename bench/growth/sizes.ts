import { join } from 'node:path'
import { freePort } from '../../tests/harness/free-port.ts'
import { launch, type Running, startPlinth } from '../process.ts'
import { memoryOfTree, type ProcessorTime } from '../processor-time.ts'
import { assertSameAnswers } from '../same-answers.ts'
import { measure, type Taken } from './measure.ts'
import { GROWING, type Growing, LEVELS, populated, prepareCursors } from './requests.ts'

/** What was asked for with so many articles there. */
export interface Size {
  readonly articles: number
  /** In the order of GROWING. */
  readonly rows: readonly Row[]
  /** In the order of LEVELS. */
  readonly levels: readonly Taken[]
  /** MB (10^6) that the server held at the end. */
  readonly memory: number
}

interface Row {
  readonly growing: Growing
  readonly taken: Taken
  /** Of the throughput of the floor; null: it does not answer this. */
  readonly share: number | null
}

interface SizeOptions {
  readonly project: string
  readonly url: string
  readonly postgres: ProcessorTime
  readonly articles: number
}

export async function measureSize({ project, url, postgres, articles }: SizeOptions): Promise<Size> {
  const servers: Running[] = []
  try {
    const plinth = await startPlinth(project, url)
    servers.push(plinth)
    const floor = await startFloor(url)
    servers.push(floor)
    const cursorAt = await prepareCursors(plinth.base, articles)
    const rows: Row[] = []
    for (const growing of GROWING) {
      const paths = growing.paths({ articles, cursorAt })
      const taken = await measure(plinth, { paths, postgres })
      const share = growing.hasFloor ? await shareOfFloor(taken, [plinth, floor], paths, postgres) : null
      rows.push({ growing, taken, share })
    }
    const levels: Taken[] = []
    for (const level of LEVELS)
      levels.push(await measure(plinth, { paths: populated(level).paths({ articles, cursorAt }), postgres }))
    return { articles, rows, levels, memory: memoryOfTree(plinth.pid) }
  } finally {
    for (const server of servers) await server.stop()
  }
}

async function shareOfFloor(
  taken: Taken,
  [plinth, floor]: readonly [Running, Running],
  paths: readonly string[],
  postgres: ProcessorTime,
): Promise<number> {
  await assertSameAnswers(
    paths.map(path => ({ path })),
    [plinth, floor],
  )
  return taken.perSecond / (await measure(floor, { paths, postgres })).perSecond
}

const startFloor = async (url: string): Promise<Running> =>
  launch({
    command: ['--import=tsx', join(import.meta.dirname, '..', 'floor.ts')],
    port: await freePort(),
    environment: { NODE_ENV: 'production', DATABASE_URL: url },
    probe: '/api/articles/article-1',
  })
