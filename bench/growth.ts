import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { freshDatabase } from '../tests/harness/test-database.ts'
import { chartOfSizes, printLevels, printSizes } from './growth/report.ts'
import { grow } from './growth/seed.ts'
import { measureSize, type Size } from './growth/sizes.ts'
import { measureTypes } from './growth/types.ts'
import { measureWorkers } from './growth/workers.ts'
import { aboutMachine } from './machine.ts'
import { startPlinth } from './process.ts'
import { type ProcessorTime, timeOfPostgres } from './processor-time.ts'
import { drawLines } from './svg.ts'

// What a request costs as articles, content-types, populate levels and workers grow. Needs TEST_DATABASE_URL and a build:
//   npm run build && bash scripts/with-postgres.sh npm run bench:growth

const SIZES = [1000, 10_000, 100_000, 1_000_000]
const LARGEST = Number(process.env.GROWTH_LARGEST ?? 1_000_000)
const PROJECT = join(import.meta.dirname, 'growth')

async function main(): Promise<void> {
  const url = process.env.TEST_DATABASE_URL
  assert(url, 'TEST_DATABASE_URL is not set: bash scripts/with-postgres.sh npm run bench:growth')
  const machine = await aboutMachine(url)
  const postgres = await timeOfPostgres(url)
  const { sizes, workers } = await growArticles(postgres)
  const types = await measureTypes(postgres)
  const report = [
    '# Growth',
    '',
    ...machine(),
    '',
    ...printSizes(sizes),
    '',
    ...printLevels(sizes),
    '',
    '## Content-types',
    '',
    ...types,
    '',
    '## Workers',
    '',
    ...workers,
    '',
  ].join('\n')
  process.stdout.write(report)
  mkdirSync(PROJECT, { recursive: true })
  writeFileSync(join(PROJECT, 'RESULTS.md'), report)
  writeFileSync(join(PROJECT, 'growth.svg'), drawLines(chartOfSizes(sizes)))
}

async function growArticles(postgres: ProcessorTime) {
  const database = await freshDatabase()
  const { url } = database
  try {
    const first = await startPlinth(PROJECT, url)
    await first.stop()
    const sizes: Size[] = []
    let workers: readonly string[] = []
    let there = 0
    for (const articles of SIZES.filter(size => size <= LARGEST)) {
      await grow(url, { from: there, to: articles })
      there = articles
      tell(`${articles} articles`)
      sizes.push(await measureSize({ project: PROJECT, url, postgres, articles }))
      if (articles === 10_000) workers = await measureWorkers({ project: PROJECT, url, postgres, articles })
    }
    return { sizes, workers }
  } finally {
    await database.drop()
  }
}

const tell = (what: string): void => void process.stderr.write(`${Math.round(process.uptime())} s: ${what}\n`)

await main()
