import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { cpus, loadavg } from 'node:os'
import { join, resolve } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { promisify } from 'node:util'
import pg from 'pg'
import { freshDatabase } from '../tests/harness/database.ts'
import { temporaryFolder } from '../tests/harness/folder.ts'
import { freePort } from '../tests/harness/server.ts'
import { launch, type Running } from './process.ts'
import { pathsOf, ROW_NAMES, ROWS, type RowName } from './rows.ts'

// Plinth against a server written by hand, on one database, in one run. Needs TEST_DATABASE_URL and a build:
//   npm run build && bash scripts/with-postgres.sh npm run bench
const root = resolve(import.meta.dirname, '..')
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 5)
const SECONDS = Number(process.env.BENCH_SECONDS ?? 3)
const MANY_TYPES = 500
/** Above the number of processors, other work took part of them. */
const BUSY = loadavg()[0]?.toFixed(1)

interface Round {
  readonly total: number
  readonly perSecond: number
  readonly p50: number
  readonly p99: number
  readonly failed: number
  /** Microseconds of the server's processor time a request. */
  readonly cpu: number
}

async function main(): Promise<void> {
  assert(
    process.env.TEST_DATABASE_URL,
    'TEST_DATABASE_URL is not set: bash scripts/with-postgres.sh npm run bench',
  )
  const lines = [...(await measureSpeed()), '', ...(await measureManyTypes())]
  const report = [...(await head()), ...lines, ''].join('\n')
  process.stdout.write(report)
  writeFileSync(join(root, 'bench', 'RESULTS.md'), report)
}

async function measureSpeed(): Promise<readonly string[]> {
  const database = await freshDatabase()
  try {
    const first = await startPlinth(join(root, 'bench', 'project'), database.url)
    await first.stop()
    await seed(database.url)
    const plinth = await startPlinth(join(root, 'bench', 'project'), database.url)
    const floor = await startFloor(database.url)
    try {
      return [...(await resources(plinth)), '', ...(await compare(plinth, floor))]
    } finally {
      await plinth.stop()
      await floor.stop()
    }
  } finally {
    await database.drop()
  }
}

const startPlinth = async (project: string, url: string): Promise<Running> =>
  launch({
    command: [join(root, 'bin', 'plinth.js'), 'start', project],
    port: await freePort(),
    environment: {
      NODE_ENV: 'production',
      DATABASE_URL: url,
      JWT_SECRET: 'a-secret-for-the-benchmark-alone-0000',
    },
    probe: '/_health',
  })

const startFloor = async (url: string): Promise<Running> =>
  launch({
    command: ['--import=tsx', join(root, 'bench', 'floor.ts')],
    port: await freePort(),
    environment: { NODE_ENV: 'production', DATABASE_URL: url },
    probe: '/api/articles/article-1',
  })

async function seed(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const statements = readFileSync(join(root, 'bench', 'seed.sql'), 'utf8').split(/;\s*\n/)
  for (const statement of statements) if (statement.trim() !== '') await client.query(statement)
  await client.end()
}

async function resources(plinth: Running): Promise<readonly string[]> {
  await pause(3000)
  const memory = plinth.memory()
  return [
    '| | measured | goal |',
    '|---|---|---|',
    `| start on a migrated database | ${Math.round(plinth.startedIn)} ms | ≤ 1000 ms |`,
    `| memory when idle | ${Math.round(memory)} MB | ≤ 130 MB |`,
  ]
}

async function compare(plinth: Running, floor: Running): Promise<readonly string[]> {
  const lines: string[] = []
  for (const row of ROW_NAMES) {
    await assertSameAnswers(row, plinth, floor)
    lines.push(await compareRow(row, plinth, floor))
  }
  return [
    '| request | floor, a second | Plinth, a second | share | goal | CPU a request: floor | Plinth | p99: floor | Plinth |',
    '|---|---|---|---|---|---|---|---|---|',
    ...lines,
  ]
}

async function assertSameAnswers(row: RowName, plinth: Running, floor: Running): Promise<void> {
  for (const path of pathsOf(row).slice(0, 5)) {
    const [ours, theirs] = await Promise.all(
      [plinth, floor].map(async ({ base }) => (await fetch(base + path)).json()),
    )
    assert.deepEqual(ours, theirs, `the two answer ${path} differently`)
  }
}

/** Each in turn, so that what the machine does beside it meets both alike. */
async function compareRow(row: RowName, plinth: Running, floor: Running): Promise<string> {
  for (const server of [floor, plinth]) await runRound(server, row, 2)
  const ours: Round[] = []
  const theirs: Round[] = []
  for (let round = 0; round < ROUNDS; round++) {
    theirs.push(await runRound(floor, row, SECONDS))
    ours.push(await runRound(plinth, row, SECONDS))
  }
  const [high, low] = [medianOf(theirs), medianOf(ours)]
  const { title, goal } = ROWS[row]
  return (
    `| ${title} | ${Math.round(high.perSecond)} | ${Math.round(low.perSecond)} ` +
    `| ${(low.perSecond / high.perSecond).toFixed(2)} | ≥ ${goal} ` +
    `| ${Math.round(high.cpu)} µs | ${Math.round(low.cpu)} µs | ${high.p99} ms | ${low.p99} ms |`
  )
}

async function runRound(server: Running, row: RowName, seconds: number): Promise<Round> {
  const before = server.cpu()
  const command = ['--import=tsx', join(root, 'bench', 'load.ts'), server.base, row, String(seconds)]
  const { stdout } = await promisify(execFile)(process.execPath, command)
  const round = JSON.parse(stdout) as Omit<Round, 'cpu'>
  assert.equal(round.failed, 0, `${round.failed} requests failed`)
  return { ...round, cpu: ((server.cpu() - before) * 1000) / round.total }
}

function medianOf(rounds: readonly Round[]): Round {
  const sorted = rounds.toSorted((a, b) => a.perSecond - b.perSecond)
  const median = sorted[Math.floor(sorted.length / 2)]
  assert(median)
  return median
}

async function measureManyTypes(): Promise<readonly string[]> {
  const folder = temporaryFolder()
  const database = await freshDatabase()
  try {
    folder.write('project.yaml', manyTypes())
    const first = await startPlinth(folder.path, database.url)
    await first.stop()
    const second = await startPlinth(folder.path, database.url)
    await pause(2000)
    const memory = second.memory()
    await second.stop()
    return [
      `| ${MANY_TYPES} content-types | measured | goal |`,
      '|---|---|---|',
      `| first start, making the tables | ${Math.round(first.startedIn)} ms | |`,
      `| start on a migrated database | ${Math.round(second.startedIn)} ms | ≤ 5000 ms |`,
      `| memory when idle | ${Math.round(memory)} MB | |`,
    ]
  } finally {
    await database.drop()
    folder.remove()
  }
}

function manyTypes(): string {
  const type = (number: number) => `  thing-${number}:
    draftAndPublish: ${number % 2 === 0}
    attributes:
      name: { type: string, required: true }
      text: richtext
      count: integer
      price: decimal
      day: date
      kind: { type: enumeration, enum: [one, two] }
      next: { type: relation, relation: manyToOne, target: thing-${(number + 1) % MANY_TYPES} }
      others: { type: relation, relation: manyToMany, target: thing-${(number + 7) % MANY_TYPES} }`
  const types = Array.from({ length: MANY_TYPES }, (_, number) => type(number)).join('\n')
  return [
    'name: Many',
    'server: { host: 127.0.0.1, port: "${PORT}", logLevel: warn }',
    'database: { url: "${DATABASE_URL}" }',
    `contentTypes:\n${types}`,
    '',
  ].join('\n')
}

async function head(): Promise<readonly string[]> {
  const client = new pg.Client({ connectionString: process.env.TEST_DATABASE_URL })
  await client.connect()
  const { rows } = await client.query<{ server_version: string }>('SHOW server_version')
  await client.end()
  const processors = cpus()
  return [
    '# Benchmark',
    '',
    `${new Date().toISOString().slice(0, 10)}, Node ${process.versions.node}, PostgreSQL ${rows[0]?.server_version}, ` +
      `${processors.length} × ${processors[0]?.model.trim()}. 10,000 published articles with drafts; 10 connections; medians of ` +
      `${ROUNDS} rounds of ${SECONDS} s, in turn with the floor (bench/floor.ts), which answers the same from the same tables.`,
    `Server, load and PostgreSQL share the processors. Load average before the run: ${BUSY}.`,
    '',
  ]
}

await main()
