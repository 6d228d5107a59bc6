import assert from 'node:assert/strict'
import { cpus, loadavg } from 'node:os'
import pg from 'pg'

/** What a report says of where it was made; asked for again at the end, it tells how busy the machine was meanwhile. */
export async function aboutMachine(url: string): Promise<() => readonly string[]> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const { rows } = await client.query<{ version: string; fsync: string }>(
    `SELECT current_setting('server_version') AS version, current_setting('fsync') AS fsync`,
  )
  await client.end()
  const [row] = rows
  assert(row)
  const before = load()
  const processors = cpus()
  return () => [
    `${new Date().toISOString().slice(0, 10)}, Node ${process.versions.node}, PostgreSQL ${row.version} with fsync ` +
      `${row.fsync}, ${processors.length} × ${processors[0]?.model.trim()}. Server, load and PostgreSQL share the ` +
      `processors. Load average: ${before} before the run, ${load()} after it.`,
  ]
}

/** What is written has to reach the disk before it is acknowledged, on all sides. */
export async function assertDurable(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  const { rows } = await client.query<{ fsync: string; commit: string }>(
    `SELECT current_setting('fsync') AS fsync, current_setting('synchronous_commit') AS commit`,
  )
  await client.end()
  assert.deepEqual(rows, [{ fsync: 'on', commit: 'on' }], 'PostgreSQL does not wait for the disk: DURABLE=1')
}

/** Above the number of processors, other work took part of them. */
const load = (): string | undefined => loadavg()[0]?.toFixed(1)
