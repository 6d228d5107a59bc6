import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createWriteStream, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { finished } from 'node:stream/promises'
import pg from 'pg'
import { compileModel } from '../core/model/compile-model.ts'
import { loadProject } from '../core/project/load-project.ts'
import { describe } from '../tools/transfer/describe.ts'
import { type ProcessorTime, timeOfPostgres } from './processor-time.ts'
import { SHAPES, type Shape } from './transfer/shapes.ts'

// 100,000 articles of each shape into an empty database and out again. Needs TEST_DATABASE_URL and a build:
//   npm run build && bash scripts/with-postgres.sh node --import=tsx bench/transfer.ts
// BENCH_PLINTH: other builds to compare, as paths to their bin/plinth.js, separated by commas. Each step runs with one after the other.

const ARTICLES = Number(process.env.BENCH_ARTICLES ?? 100_000)
const NAMES = process.env.BENCH_SHAPES?.split(',') ?? Object.keys(SHAPES)
const PLINTHS = process.env.BENCH_PLINTH?.split(',') ?? [
  resolve(import.meta.dirname, '..', 'bin', 'plinth.js'),
]

interface Ran {
  readonly seconds: number
  /** Seconds of processor time. */
  readonly cpu: number
  readonly postgres: number
  /** The most that it held at once, MB (10^6). */
  readonly memory: number
}

async function main(): Promise<void> {
  const server = process.env.TEST_DATABASE_URL
  assert(
    server,
    'TEST_DATABASE_URL is not set: bash scripts/with-postgres.sh node --import=tsx bench/transfer.ts',
  )
  const postgres = await timeOfPostgres(server)
  for (const [name, shape] of Object.entries(SHAPES))
    if (NAMES.includes(name)) await measure(shape, server, postgres)
}

async function measure(shape: Shape, server: string, postgres: ProcessorTime): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'plinth-bulk-'))
  try {
    const [made, again] = [join(folder, 'made.ndjson'), join(folder, 'again.ndjson')]
    await writeStream(made, shape)
    const urls: string[] = []
    for (const index of PLINTHS.keys()) urls.push(await emptyDatabase(server, `${process.pid}_${index}`))
    const steps: Record<string, readonly string[]> = {
      'import into an empty database': ['import', shape.project, made],
      'the same again: all of it is there': ['import', shape.project, made],
      'the same again with `--on-conflict update`': [
        'import',
        shape.project,
        made,
        '--on-conflict',
        'update',
      ],
      export: ['export', shape.project, '--out', again],
    }
    const lines: string[] = []
    for (const [what, command] of Object.entries(steps))
      for (const [index, url] of urls.entries())
        lines.push(lineOf(what, await run(PLINTHS[index] ?? '', { url, command, postgres }), shape))
    const megabytes = (statSync(again).size / 1e6).toFixed(0)
    const head = `${ARTICLES.toLocaleString('en')} articles: ${shape.about}; ${megabytes} MB of NDJSON`
    process.stdout.write([head, '', ...HEAD, ...lines, '', ''].join('\n'))
    for (const url of urls) await dropDatabase(server, url)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const HEAD = [
  '| | time | documents / s | rows / s | its processor time | of PostgreSQL | most memory |',
  '|---|---|---|---|---|---|---|',
]

function lineOf(what: string, { seconds, cpu, postgres, memory }: Ran, { rows }: Shape): string {
  const rate = (count: number) => Math.round(count / seconds).toLocaleString('en')
  const times = [seconds, cpu, postgres].map(each => `${each.toFixed(1)} s`)
  return `| ${[what, times[0], rate(ARTICLES), rate(ARTICLES * rows), times[1], times[2], `${memory.toFixed(0)} MB`].join(' | ')} |`
}

async function emptyDatabase(server: string, suffix: string): Promise<string> {
  const name = `plinth_bulk_${suffix}`
  await runSql(server, `CREATE DATABASE ${name} TEMPLATE template0`)
  const url = new URL(server)
  url.pathname = `/${name}`
  return url.href
}

const dropDatabase = (server: string, url: string): Promise<void> =>
  runSql(server, `DROP DATABASE ${new URL(url).pathname.slice(1)} WITH (FORCE)`)

async function runSql(server: string, text: string): Promise<void> {
  const client = new pg.Client({ connectionString: server })
  await client.connect()
  await client.query(text).finally(() => client.end())
}

interface Running {
  readonly url: string
  readonly command: readonly string[]
  readonly postgres: ProcessorTime
}

async function run(plinth: string, { url, command, postgres }: Running): Promise<Ran> {
  const before = postgres()
  const began = performance.now()
  const child = spawn(process.execPath, [plinth, ...command], {
    env: { ...process.env, DATABASE_URL: url, JWT_SECRET: 'a-secret-for-the-benchmark-alone-0000' },
    stdio: ['ignore', 'inherit', 'inherit'],
  })
  let last = { memory: 0, cpu: 0 }
  const watch = setInterval(() => {
    last = lookAt(child.pid) ?? last
  }, 100)
  const [code] = await once(child, 'exit')
  clearInterval(watch)
  assert.equal(code, 0, command.join(' '))
  return {
    seconds: (performance.now() - began) / 1000,
    postgres: (postgres() - before) / 1000,
    ...last,
  }
}

/** undefined where the process is over. */
function lookAt(pid: number | undefined): Pick<Ran, 'memory' | 'cpu'> | undefined {
  try {
    const peak = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]
    const [user = 0, system = 0] = readFileSync(`/proc/${pid}/stat`, 'utf8')
      .split(' ')
      .slice(13, 15)
      .map(Number)
    return peak === undefined
      ? undefined
      : { memory: (Number(peak) * 1024) / 1e6, cpu: (user + system) / 100 }
  } catch (error) {
    assert(error instanceof Error && 'code' in error)
    return undefined
  }
}

async function writeStream(path: string, shape: Shape): Promise<void> {
  const file = createWriteStream(path)
  const write = async (line: object) => {
    if (!file.write(`${JSON.stringify(line)}\n`)) await once(file, 'drain')
  }
  await write(await header(shape))
  for (const document of shape.documents(ARTICLES)) await write(document)
  file.end()
  await finished(file)
}

async function header({ project: folder }: Shape) {
  const project = await loadProject(folder, { JWT_SECRET: 'a-secret-for-the-benchmark-alone-0000' })
  assert(project.ok, JSON.stringify(project))
  const model = compileModel(project.value)
  assert(model.ok)
  const types = [...model.value.contentTypes.values()].filter(({ builtIn }) => !builtIn)
  return describe({ project: project.value, model: model.value, types, passwords: false })
}

await main()
