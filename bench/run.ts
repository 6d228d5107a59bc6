import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { cpus, loadavg } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { measureManyTypes } from './many-types.ts'
import { ROUNDS, SECONDS } from './rounds.ts'
import { measureSpeed } from './speed.ts'

// Plinth against a server written by hand, on one database, in one run. Needs TEST_DATABASE_URL and a build:
//   npm run build && DURABLE=1 bash scripts/with-postgres.sh npm run bench

/** Above the number of processors, other work took part of them. */
const load = () => loadavg()[0]?.toFixed(1)

async function main(): Promise<void> {
  const url = process.env.TEST_DATABASE_URL
  assert(url, 'TEST_DATABASE_URL is not set: DURABLE=1 bash scripts/with-postgres.sh npm run bench')
  const server = await aboutServer(url)
  const before = load()
  const lines = [...(await measureSpeed(process.env.BENCH_ROWS)), '', ...(await measureManyTypes())]
  const report = [...head(server, `${before} before the run, ${load()} after it`), ...lines, ''].join('\n')
  process.stdout.write(report)
  writeFileSync(join(import.meta.dirname, 'RESULTS.md'), report)
}

/** Its version. What is written has to reach the disk before it is acknowledged, on both sides. */
async function aboutServer(url: string): Promise<string> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const { rows } = await client.query<{ version: string; fsync: string; commit: string }>(
    `SELECT current_setting('server_version') AS version, current_setting('fsync') AS fsync,
      current_setting('synchronous_commit') AS commit`,
  )
  await client.end()
  const [row] = rows
  assert(row)
  assert.deepEqual([row.fsync, row.commit], ['on', 'on'], 'PostgreSQL does not wait for the disk: DURABLE=1')
  return row.version
}

function head(version: string, busy: string): readonly string[] {
  const processors = cpus()
  return [
    '# Benchmark',
    '',
    `${new Date().toISOString().slice(0, 10)}, Node ${process.versions.node}, PostgreSQL ${version} with fsync on, ` +
      `${processors.length} × ${processors[0]?.model.trim()}. 10,000 published articles with drafts; 10 connections; ` +
      `${ROUNDS} rounds of ${SECONDS} s, in turn with the floor (bench/floor.ts), which answers the same from the same ` +
      'tables and writes the same rows. Medians; shares are medians of the shares of the rounds.',
    `Server, load and PostgreSQL share the processors. Load average: ${busy}.`,
    '',
  ]
}

await main()
