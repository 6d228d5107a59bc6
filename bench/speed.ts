import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { freePort } from '../tests/harness/free-port.ts'
import { freshDatabase } from '../tests/harness/test-database.ts'
import { compareCustom } from './custom-field.ts'
import { compareKept } from './kept.ts'
import { launch, type Running, startPlinth } from './process.ts'
import { measured, median, type Side, type Turn, takeTurns } from './rounds.ts'
import { FULL, type PlanRequest, ROWS, RULED, RULED_GOAL, RULED_RATE } from './rows.ts'
import { assertSameAnswers } from './same-answers.ts'
import { runFile } from './sql-file.ts'
import { compareWithWrites } from './with-writes.ts'

/** `only`: part of the titles of rows to measure; absent: all. */
export async function measureSpeed(only = ''): Promise<readonly string[]> {
  const database = await freshDatabase()
  const project = join(import.meta.dirname, 'project')
  try {
    const first = await startPlinth(project, database.url)
    await first.stop()
    await runFile(database.url, join(import.meta.dirname, 'seed.sql'), { articles: 10_000 })
    await runFile(database.url, join(import.meta.dirname, 'seed-pages.sql'), {})
    await runFile(database.url, join(import.meta.dirname, 'seed-products.sql'), {})
    const plinth = await startPlinth(project, database.url)
    const floor = await startFloor(database.url)
    try {
      const idle = await resources(plinth)
      // Before the rows that create articles: a list takes longer, the more of them there are.
      const custom = await compareCustom(project, database.url, only)
      const ruled = await compareRuled(plinth, only)
      const written = await compareWithWrites(plinth, { project, url: database.url, only })
      const floored = await compare(plinth, floor, only)
      const kept = await compareKept(floor, { project, url: database.url, only })
      return [idle, floored, kept, written, custom, ruled].flatMap(part => [...part, '']).slice(0, -1)
    } finally {
      await plinth.stop()
      await floor.stop()
    }
  } finally {
    await database.drop()
  }
}

const startFloor = async (url: string): Promise<Running> =>
  launch({
    command: ['--import=tsx', join(import.meta.dirname, 'floor.ts')],
    port: await freePort(),
    environment: { NODE_ENV: 'production', DATABASE_URL: url },
    probe: '/api/articles/article-1',
  })

async function resources(plinth: Running): Promise<readonly string[]> {
  await pause(10_000)
  const memory = plinth.memory()
  return [
    '| | measured | goal |',
    '|---|---|---|',
    `| start on a migrated database | ${Math.round(plinth.startedIn)} ms | ≤ 450 ms |`,
    `| memory when idle | ${Math.round(memory)} MB | ≤ 80 MB |`,
  ]
}

async function compare(plinth: Running, floor: Running, only: string): Promise<readonly string[]> {
  const lines: string[] = []
  for (const { title, goal, asked } of ROWS) {
    if (!title.includes(only)) continue
    if (asked.every(each => each.method === undefined)) await assertSameAnswers(asked, [plinth, floor])
    const turns = await takeTurns([
      { server: floor, asked },
      { server: plinth, asked },
    ])
    lines.push(`| ${title} | ${share(turns).toFixed(2)} | ≥ ${goal} ${measured(turns)}`)
  }
  return [
    '| request | share of the floor’s throughput | goal | floor, a second | Plinth, a second | CPU a request: floor | Plinth | p99: floor | Plinth |',
    '|---|---|---|---|---|---|---|---|---|',
    ...lines,
  ]
}

/** One list asked for in several ways: what row conditions and field rules cost. */
async function compareRuled(plinth: Running, only: string): Promise<readonly string[]> {
  const lines: string[] = []
  for (const { title, asked } of RULED) {
    if (!title.includes(only)) continue
    await assertSameAnswers(FULL, [plinth, plinth], asked)
    const turns = await takeTurns(sides(plinth, asked))
    const even = await takeTurns(sides(plinth, asked, RULED_RATE))
    const cpu = median(even.map(([full, ruled]) => ruled.cpu / full.cpu))
    lines.push(`| ${title} | ${cpu.toFixed(2)} | ≤ ${RULED_GOAL} ${measured(turns)}`)
  }
  return [
    `| the same list of 25 with total | CPU of the server, of full access’s, at ${RULED_RATE} a second each | goal | full access, a second | ruled, a second | CPU a request: full | ruled | p99: full | ruled |`,
    '|---|---|---|---|---|---|---|---|---|',
    ...lines,
  ]
}

const sides = (server: Running, asked: readonly PlanRequest[], rate?: number): readonly [Side, Side] => {
  const offered = rate === undefined ? {} : { rate }
  return [
    { server, asked: FULL, ...offered },
    { server, asked, ...offered },
  ]
}

const share = (turns: readonly Turn[]): number =>
  median(turns.map(([floor, plinth]) => plinth.perSecond / floor.perSecond))
