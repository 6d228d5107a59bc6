import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from '../../harness/free-port.ts'
import { until } from '../../harness/until.ts'
import { childrenOf, type OwnProcess, ownFolder, sendSignal, startOwn, type Test } from '../own-process.ts'

/** A PostgreSQL with the Patroni that looks after it. */
export interface Node {
  readonly name: string
  readonly port: number
  /** Starts its Patroni, which starts PostgreSQL. */
  start(): void
  /** Ends both at once, as a loss of power does. */
  kill(): Promise<void>
  /** Ends PostgreSQL alone. */
  killPostgres(): void
  /** Stops all of its processes (SIGSTOP), as a frozen virtual machine does. */
  pause(): void
  /**
   * PostgreSQL goes on, as the primary that it was, until `start`. Patroni is ended: one that goes on after a pause may take
   * back the lock of the new primary, whose documents are lost then. A watchdog keeps it from that (docs/deploy.md).
   */
  resume(): Promise<void>
  log(): string
}

export interface Member {
  readonly name: string
  readonly role: string
  readonly state: string
}

/** Three nodes with synchronous replication. All of it ends with the test. */
export interface PatroniCluster {
  readonly nodes: readonly Node[]
  /** The addresses of all nodes, for `database.url`. */
  readonly url: string
  /** The members as one running node reports them. */
  members(): Promise<readonly Member[]>
  leader(): Promise<Node>
  /** Waits until all nodes run, and one is a synchronous standby. */
  untilWhole(): Promise<void>
  switchOver(from: Node, to: Node): Promise<void>
}

interface Ports {
  readonly rest: number
  readonly postgres: number
}

export async function startPatroni(t: Test): Promise<PatroniCluster> {
  const etcd = await startEtcd(t)
  const all: { readonly node: Node; readonly ports: Ports }[] = []
  for (const name of ['one', 'two', 'three']) {
    const ports = { rest: await freePort(), postgres: await freePort() }
    all.push({ node: openNode(t, { name, etcd, ports }), ports })
  }
  const nodes = all.map(({ node }) => node)
  const ask = async (path: string, init: RequestInit = {}) => {
    const answers = all.map(async ({ ports }) => {
      const answer = await fetch(`http://127.0.0.1:${ports.rest}${path}`, {
        ...init,
        signal: AbortSignal.timeout(120_000),
      })
      if (!answer.ok) throw new Error(`${answer.status} ${await answer.text()}`)
      return answer.text()
    })
    return Promise.any(answers)
  }
  const members = async () => (JSON.parse(await ask('/cluster')) as { members: Member[] }).members
  const cluster: PatroniCluster = {
    nodes,
    url: `postgres://postgres:secret@${nodes.map(({ port }) => `127.0.0.1:${port}`).join()}/postgres?target_session_attrs=read-write`,
    members,
    async leader() {
      const known = await members()
      const node = nodes.find(({ name }) => known.some(each => each.name === name && each.role === 'leader'))
      if (!node) throw new Error('no node is the leader')
      return node
    },
    async untilWhole() {
      await until('all nodes run', async () => {
        const known = await members().catch(() => [])
        const roles = known
          .filter(({ state }) => state === 'running' || state === 'streaming')
          .map(({ role }) => role)
        return roles.toSorted().join() === 'leader,replica,sync_standby'
      })
    },
    async switchOver(from, to) {
      const body = JSON.stringify({ leader: from.name, candidate: to.name })
      await ask('/switchover', { method: 'POST', body })
    },
  }
  // The first one makes the database; the others copy it.
  nodes[0]?.start()
  await until('there is a leader', () => cluster.leader().then(isSo, isNotSo))
  for (const node of nodes.slice(1)) node.start()
  await cluster.untilWhole()
  return cluster
}

const isSo = () => true
const isNotSo = () => false

async function startEtcd(t: Test): Promise<string> {
  const [client, peer] = [await freePort(), await freePort()]
  const folder = ownFolder(t)
  const [own, others] = [`http://127.0.0.1:${client}`, `http://127.0.0.1:${peer}`]
  const args = {
    'data-dir': join(folder, 'data'),
    'listen-client-urls': own,
    'advertise-client-urls': own,
    'listen-peer-urls': others,
    'initial-advertise-peer-urls': others,
    'initial-cluster': `default=${others}`,
  }
  startOwn(
    t,
    process.env.ETCD ?? 'etcd',
    Object.entries(args).map(([name, value]) => `--${name}=${value}`),
    folder,
  )
  await until('etcd answers', () => fetch(`${own}/health`).then(({ ok }) => ok, isNotSo))
  return `127.0.0.1:${client}`
}

interface NodeOptions {
  readonly name: string
  readonly etcd: string
  readonly ports: Ports
}

function openNode(t: Test, options: NodeOptions): Node {
  const folder = ownFolder(t)
  const data = join(folder, 'data')
  writeFileSync(join(folder, 'patroni.json'), JSON.stringify(settingsOf(options, folder), null, 2))
  let patroni: OwnProcess | null = null
  const postmaster = (): number => {
    try {
      return Number(readFileSync(join(data, 'postmaster.pid'), 'utf8').split('\n')[0])
    } catch {
      return 0
    }
  }
  // Patroni starts it so that it outlives Patroni.
  const signalPostgres = (signal: NodeJS.Signals) => {
    const pid = postmaster()
    if (pid > 0) for (const each of [pid, ...childrenOf(pid)]) sendSignal(each, signal)
  }
  const kill = async () => {
    await patroni?.end('SIGKILL')
    signalPostgres('SIGKILL')
  }
  t.teardown(() => signalPostgres('SIGKILL'))
  return {
    name: options.name,
    port: options.ports.postgres,
    start() {
      patroni = startOwn(t, process.env.PATRONI ?? 'patroni', ['patroni.json'], folder)
    },
    kill,
    killPostgres: () => signalPostgres('SIGKILL'),
    pause() {
      // Patroni first, so that it does not react to a paused PostgreSQL.
      patroni?.signal('SIGSTOP')
      signalPostgres('SIGSTOP')
    },
    async resume() {
      await patroni?.end('SIGKILL')
      signalPostgres('SIGCONT')
    },
    log: () => patroni?.log() ?? '',
  }
}

const settingsOf = ({ name, etcd, ports }: NodeOptions, folder: string): object => ({
  scope: 'plinth',
  name,
  restapi: { listen: `127.0.0.1:${ports.rest}`, connect_address: `127.0.0.1:${ports.rest}` },
  etcd3: { host: etcd },
  bootstrap: {
    dcs: {
      // A node that is gone is replaced after `ttl`.
      ...{ ttl: 10, loop_wait: 1, retry_timeout: 3, maximum_lag_on_failover: 1_048_576 },
      synchronous_mode: true,
      postgresql: { use_pg_rewind: true, parameters: { max_connections: 60, wal_log_hints: 'on' } },
    },
    initdb: [{ encoding: 'UTF8' }, { locale: 'C.UTF-8' }],
  },
  postgresql: {
    listen: `127.0.0.1:${ports.postgres}`,
    connect_address: `127.0.0.1:${ports.postgres}`,
    data_dir: join(folder, 'data'),
    bin_dir: process.env.PG_BIN,
    pgpass: join(folder, 'pgpass'),
    authentication: {
      superuser: { username: 'postgres', password: 'secret' },
      replication: { username: 'replicator', password: 'secret' },
    },
    parameters: { unix_socket_directories: folder },
    pg_hba: ['local all all trust', 'host all all 127.0.0.1/32 md5', 'host replication all 127.0.0.1/32 md5'],
  },
  watchdog: { mode: 'off' },
})
