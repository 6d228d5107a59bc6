import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { freePort } from '../harness/free-port.ts'
import { until } from '../harness/until.ts'
import { type OwnProcess, ownFolder, runOwn, startOwn, type Test } from './own-process.ts'

/** A PostgreSQL of the test's own, which may be killed, stopped and started; it ends with the test. */
export interface Cluster {
  readonly folder: string
  readonly port: number
  /** The address of its database `postgres`. */
  readonly url: string
  start(): Promise<void>
  /** SIGINT: a fast shutdown; SIGKILL: a crash. */
  end(signal: 'SIGINT' | 'SIGKILL'): Promise<void>
  /** SIGSTOP and SIGCONT, to all of its processes. */
  signal(signal: 'SIGSTOP' | 'SIGCONT'): void
  query(text: string): Promise<readonly (readonly unknown[])[]>
  log(): string
}

const programs = (): string => {
  const { PG_BIN } = process.env
  if (!PG_BIN) throw new Error('PG_BIN does not name the folder of PostgreSQL’s programs')
  return PG_BIN
}

/** Commits wait for the log: what was acknowledged must outlive a crash. */
const SETTINGS = ['max_connections=60', 'wal_level=replica', 'max_wal_senders=5', 'full_page_writes=off']

/** `settings`: more of postgresql.conf. */
export async function startCluster(t: Test, settings: readonly string[] = []): Promise<Cluster> {
  const folder = ownFolder(t)
  const data = join(folder, 'data')
  const made = [
    '-D',
    data,
    '-U',
    'postgres',
    '--auth=trust',
    '--locale=C.UTF-8',
    '--encoding=UTF8',
    '--no-sync',
  ]
  runOwn(join(programs(), 'initdb'), made, folder)
  appendFileSync(join(data, 'pg_hba.conf'), 'host replication all 127.0.0.1/32 trust\n')
  return runCluster(t, folder, [...SETTINGS, ...settings])
}

/** A streaming replica of it. */
export async function startReplica(t: Test, primary: Cluster): Promise<Cluster> {
  const folder = ownFolder(t)
  const from = `host=127.0.0.1 port=${primary.port} user=postgres application_name=replica`
  const made = ['-D', join(folder, 'data'), '-R', '-c', 'fast', '-X', 'stream', '--no-sync', '-d', from]
  runOwn(join(programs(), 'pg_basebackup'), made, folder)
  return runCluster(t, folder, [
    ...SETTINGS,
    'hot_standby=on',
    'wal_receiver_status_interval=1',
    'log_statement=all',
  ])
}

async function runCluster(t: Test, folder: string, settings: readonly string[]): Promise<Cluster> {
  const port = await freePort()
  const own = ['listen_addresses=127.0.0.1', `port=${port}`, `unix_socket_directories=${folder}`]
  const args = [...own, ...settings].flatMap(setting => ['-c', setting])
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`
  let running: OwnProcess | null = null
  const cluster: Cluster = {
    folder,
    port,
    url,
    async start() {
      await until('PostgreSQL answers', () => {
        // It refuses to start while a process of a killed one still has its memory.
        if (!running || running.hasEnded())
          running = startOwn(t, join(programs(), 'postgres'), ['-D', join(folder, 'data'), ...args], folder)
        return answers(url)
      })
    },
    end: async signal => running?.end(signal),
    signal: signal => running?.signal(signal),
    query: text => query(url, text),
    log: () => running?.log() ?? '',
  }
  await cluster.start()
  return cluster
}

export const answers = (url: string): Promise<boolean> =>
  query(url, 'SELECT 1').then(
    () => true,
    () => false,
  )

export async function query(url: string, text: string): Promise<readonly (readonly unknown[])[]> {
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: 5_000,
    query_timeout: 20_000,
  })
  // Its server may be killed meanwhile.
  client.on('error', () => undefined)
  try {
    await client.connect()
    return (await client.query<unknown[]>({ text, rowMode: 'array' })).rows
  } finally {
    await client.end()
  }
}
