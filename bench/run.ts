import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { aboutMachine, assertDurable } from './machine.ts'
import { measureManyTypes } from './many-types.ts'
import { ROUNDS, SECONDS } from './rounds.ts'
import { measureSpeed } from './speed.ts'

// Plinth against a server written by hand, on one database, in one run. Needs TEST_DATABASE_URL and a build:
//   npm run build && DURABLE=1 bash scripts/with-postgres.sh npm run bench

async function main(): Promise<void> {
  const url = process.env.TEST_DATABASE_URL
  assert(url, 'TEST_DATABASE_URL is not set: DURABLE=1 bash scripts/with-postgres.sh npm run bench')
  await assertDurable(url)
  const about = await aboutMachine(url)
  const only = process.env.BENCH_ROWS
  const speed = await measureSpeed(only)
  const types = only === undefined ? ['', ...(await measureManyTypes())] : []
  const report = [...head(about()), ...speed, ...types, ''].join('\n')
  process.stdout.write(report)
  if (only === undefined) writeFileSync(join(import.meta.dirname, 'RESULTS.md'), report)
}

const head = (about: readonly string[]): readonly string[] => [
  '# Benchmark',
  '',
  ...about,
  `10,000 published articles with drafts; 10 connections; ${ROUNDS} rounds of ${SECONDS} s, in turn with the floor ` +
    '(bench/floor.ts), which answers the same from the same tables and writes the same rows. Medians; shares are ' +
    'medians of the shares of the rounds.',
  '',
]

await main()
