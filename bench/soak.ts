import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { temporaryFolder } from '../tests/harness/folder.ts'
import { freePort } from '../tests/harness/free-port.ts'
import { freshDatabase } from '../tests/harness/test-database.ts'
import { aboutMachine } from './machine.ts'
import { type Running, startPlinth } from './process.ts'
import { memoryOfPostgres } from './processor-time.ts'
import { soak } from './soak/clients.ts'
import { ARTICLES, SIGNED } from './soak/mix.ts'
import { chartOfSoak, printSoak } from './soak/report.ts'
import { type Sample, type SampleOptions, sample } from './soak/sample.ts'
import { runFile } from './sql-file.ts'
import { drawLines } from './svg.ts'

// Whether memory stays what it is under minutes of everything at once. Needs TEST_DATABASE_URL and a build:
//   npm run build && bash scripts/with-postgres.sh npm run bench:soak

const SECONDS = Number(process.env.SOAK_SECONDS ?? 600)
const CLIENTS = 6
const BETWEEN_SAMPLES = 5_000
const RESULTS = join(import.meta.dirname, 'soak')

/** Milliseconds. A reload opens a new app, whose caches have to fill up in the second half and then stay constant. */
const BETWEEN_RELOADS = 60_000

async function main(): Promise<void> {
  const url = process.env.TEST_DATABASE_URL
  assert(url, 'TEST_DATABASE_URL is not set: bash scripts/with-postgres.sh npm run bench:soak')
  assert(SECONDS >= 300, 'SOAK_SECONDS: 300 or more, for a line through the last third')
  const machine = await aboutMachine(url)
  const folder = temporaryFolder(RESULTS)
  const database = await freshDatabase()
  const servers: Running[] = []
  try {
    const first = await startPlinth(folder.path, database.url)
    await first.stop()
    await runFile(database.url, join(import.meta.dirname, 'seed.sql'), { articles: ARTICLES })
    const inspector = await freePort()
    const server = await startPlinth(folder.path, database.url, {
      NODE_OPTIONS: `--inspect=127.0.0.1:${inspector} --inspect-publish-uid=http`,
    })
    servers.push(server)
    await register(server)
    const report = await run(server, { inspector, postgres: await memoryOfPostgres(database.url) })
    writeReport(machine(), report)
  } finally {
    for (const server of servers) await server.stop()
    await database.drop()
    folder.remove()
  }
}

async function register({ base }: Running): Promise<void> {
  const { identifier, password } = SIGNED
  const answer = await fetch(`${base}/api/auth/local/register`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ username: identifier, email: 'soak@example.org', password }),
  })
  assert.equal(answer.status, 200, await answer.text())
}

async function run(server: Running, options: Omit<SampleOptions, 'at'>) {
  const began = performance.now()
  const passed = () => performance.now() - began
  const isOver = () => passed() >= SECONDS * 1000
  const asking = soak(server.base, CLIENTS, isOver)
  const samples: Sample[] = []
  let reloads = 0
  const watching = (async () => {
    while (!isOver()) {
      samples.push(await sample(server, { at: passed() / 1000, ...options }))
      const isLate = passed() > SECONDS * 500
      if (!isLate && passed() > (reloads + 1) * BETWEEN_RELOADS) {
        process.kill(server.pid, 'SIGHUP')
        reloads++
      }
      await pause(Math.min(BETWEEN_SAMPLES, Math.max(0, SECONDS * 1000 - passed())))
    }
    samples.push(await sample(server, { at: passed() / 1000, ...options }))
  })()
  const [counts] = await Promise.all([asking, watching])
  return { samples, counts, reloads }
}

function writeReport(
  machine: readonly string[],
  { samples, counts, reloads }: Awaited<ReturnType<typeof run>>,
): void {
  const report = ['# Soak', '', ...machine, '', ...printSoak(samples, counts, reloads), ''].join('\n')
  process.stdout.write(report)
  writeFileSync(join(RESULTS, 'RESULTS.md'), report)
  writeFileSync(join(RESULTS, 'soak.svg'), drawLines(chartOfSoak(samples)))
}

await main()
