import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'
import test from 'ava'
import { temporaryFolder } from '../../harness/folder.ts'
import { freePort } from '../../harness/free-port.ts'
import { startServer } from '../../harness/server.ts'
import { teardownOfFile } from '../../harness/test-app.ts'
import { until } from '../../harness/until.ts'
import { query } from '../cluster.ts'
import { childrenOf, sendSignal } from '../own-process.ts'

// deploy/ha/start.sh, and what clients see when the primary node is lost behind HAProxy.

const START = join(import.meta.dirname, '../../../deploy/ha/start.sh')
const TOKEN = 'writer-of-a-cluster-behind-haproxy-00000'

const PROJECT = `name: Notes
server: { host: "\${HOST}", port: "\${PORT}", rateLimit: { api: false } }
database: { url: "\${DATABASE_URL}", statementTimeout: 4s, pool: { max: 4, acquire: 8s } }
contentTypes: { note: { attributes: { text: string } } }
apiTokens: { writer: { type: full-access, secret: ${TOKEN} } }
`

const file = teardownOfFile(test.after.always)

/** Runs the script until the tests end. */
async function startCluster(): Promise<string> {
  const env = { ...process.env, HA_PORT: String(await freePort(10)) }
  const child = spawn('bash', [START], { env, stdio: ['ignore', 'pipe', 'inherit'] })
  const exit = once(child, 'exit')
  file.teardown(async () => {
    child.kill('SIGTERM')
    await exit
  })
  let shown = ''
  child.stdout.on('data', part => {
    shown += String(part)
  })
  // Three nodes start at once: that takes long on a busy machine.
  const runs = () => child.exitCode !== null || shown.includes('Ctrl-C ends the cluster')
  await until('the cluster runs', runs, 400_000)
  return shown
}

interface Member {
  readonly name: string
  readonly role: string
}

test.serial('a node that fails ends the start at once, with the end of its log', async t => {
  const port = await freePort(10)
  const taken = createServer().listen(port + 7, '127.0.0.1')
  await once(taken, 'listening')
  t.teardown(() => taken.close())
  const env = { ...process.env, HA_PORT: String(port) }
  const child = spawn('bash', [START], { env, stdio: ['ignore', 'ignore', 'pipe'] })
  const [shown, [code]] = await Promise.all([text(child.stderr), once(child, 'close')])
  t.is(code, 1)
  t.regex(shown, /^one is not ready\. Its log:[\s\S]*Address already in use/m)
})

test('behind HAProxy, a lost primary costs seconds of 503, no acknowledged write and no restart', async t => {
  const shown = await startCluster()
  const url = /^primary +(\S+)$/m.exec(shown)?.[1] ?? ''
  const state = /^state +curl (\S+)$/m.exec(shown)?.[1] ?? ''
  const patronis = /^processes +(.*)$/m.exec(shown)?.[1]?.split(' ').slice(1, 4).map(Number) ?? []
  t.is(patronis.length, 3, shown)
  const ports = [0, 1, 2].map(number => Number(new URL(state).port) + number)
  const members = (): Promise<readonly Member[]> =>
    Promise.any(
      ports.map(async port => {
        const answer = await fetch(`http://127.0.0.1:${port}/cluster`, { signal: AbortSignal.timeout(5_000) })
        return ((await answer.json()) as { members: Member[] }).members
      }),
    )
  const hasStandby = async () => (await members()).some(({ role }) => role === 'sync_standby')
  await until('there is a synchronous standby', hasStandby, 120_000)
  const folder = temporaryFolder()
  file.teardown(folder.remove)
  folder.write('project.yaml', PROJECT)
  const server = await startServer({ project: folder.path, environment: { DATABASE_URL: url } })
  file.teardown(server.stop)

  const acknowledged: string[] = []
  const statuses = new Set<number>()
  let longest = 0
  let last = Date.now()
  let isOver = false
  const writer = (async () => {
    for (let turn = 0; !isOver; turn++) {
      const text = `note ${turn}`
      const answer = await fetch(`${server.base}/api/notes`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${TOKEN}` },
        body: JSON.stringify({ data: { text } }),
        signal: AbortSignal.timeout(40_000),
      })
      await answer.text()
      statuses.add(answer.status)
      if (answer.status !== 201) await pause(100)
      else {
        acknowledged.push(text)
        longest = Math.max(longest, Date.now() - last)
        last = Date.now()
      }
    }
  })()
  const more = async () => {
    const before = acknowledged.length
    await until('writes are acknowledged', () => acknowledged.length > before + 20, 120_000)
  }
  await more()
  const leader = (await members()).find(({ role }) => role === 'leader')?.name ?? ''
  const lost = patronis[['one', 'two', 'three'].indexOf(leader)] ?? 0
  t.true(lost > 0, leader)
  // As a loss of power: Patroni, PostgreSQL and its processes.
  const postgres = /postgres:\/\/.*@/.exec(url)?.[0] ?? ''
  const ownPort = /nodes +(.*)/
    .exec(shown)?.[1]
    ?.split(', ')
    .find(node => node.startsWith(`${leader} `))
  const [[pid = '0'] = []] = await query(
    `${postgres}${ownPort?.split(' ')[1]}/postgres`,
    "SELECT split_part(pg_read_file('postmaster.pid'), E'\\n', 1)",
  )
  for (const each of [lost, Number(pid), ...childrenOf(Number(pid))]) sendSignal(each, 'SIGKILL')
  await more()
  isOver = true
  await writer
  t.not((await members()).find(({ role }) => role === 'leader')?.name, leader)
  t.deepEqual(
    [...statuses].filter(status => status !== 201 && status !== 503),
    [],
  )
  const rows = await query(url, 'SELECT text FROM notes')
  const kept = new Set(rows.map(([text]) => text))
  t.deepEqual(
    acknowledged.filter(text => !kept.has(text)),
    [],
    'nothing that was acknowledged is lost',
  )
  t.notRegex(server.log(), /failed unexpectedly/)
  t.log(`${acknowledged.length} writes, the longest pause between two was ${longest} ms`)
})
