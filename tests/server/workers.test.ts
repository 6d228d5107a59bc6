import { execFileSync } from 'node:child_process'
import { Agent, request as ask } from 'node:http'
import { text } from 'node:stream/consumers'
import { setTimeout as pause } from 'node:timers/promises'
import test from 'ava'
import { runToEnd } from '../end-to-end/run-to-end.ts'
import { temporaryFolder } from '../harness/folder.ts'
import { type Server, startServer } from '../harness/server.ts'

// One machine, several processes: `plinth start --workers`.

const project = (attributes: string) => `name: Notes
server: { host: "\${HOST:-127.0.0.1}", port: "\${PORT:-1393}" }
database: { url: "\${DATABASE_URL:-embedded}", pool: { max: 4 } }
auth: { jwtSecret: 0123456789-of-a-secret-for-a-test }
contentTypes: { note: { attributes: { ${attributes} } } }
roles: { public: { permissions: { note: [find, create] } } }
`

/** A route that is answered once the file `go` is there. */
const SLOW = `import { existsSync } from 'node:fs'
import { defineExtension } from 'plinth'
export default defineExtension({
  register({ rest, app }) {
    rest.route('GET', '/slow', async () => {
      app.log.info('slow began')
      while (!existsSync(new URL('../go', import.meta.url))) await new Promise(done => setTimeout(done, 20))
      return { done: true }
    }, { auth: false })
  },
})
`

const WORKERS = 2

/** The results of the clients. */
interface Seen {
  acknowledged: number
  /** Answers of any other status than a good one. */
  readonly refused: number[]
  /** Connections that broke. */
  readonly broken: string[]
}

/** Clients, each over its own connection, alternate between reads and writes until they are stopped. */
function load(server: Server, clients: number): { readonly seen: Seen; stop(): Promise<void> } {
  const seen: Seen = { acknowledged: 0, refused: [], broken: [] }
  let isOver = false
  const agent = new Agent({ keepAlive: true, maxSockets: clients })
  const client = async (number: number) => {
    for (let turn = number; !isOver; turn++) await (turn % 2 === 0 ? read() : write())
  }
  const read = () => exchange(`${server.base}/api/notes?sort=text`, { agent })
  const write = () => exchange(`${server.base}/api/notes`, { agent, body: '{"data":{"text":"x"}}' })
  const exchange = async (url: string, options: Parameters<typeof send>[1]) => {
    const status = await send(url, options).catch((error: Error) => error.message)
    if (typeof status === 'string') seen.broken.push(status)
    else if (status >= 300) seen.refused.push(status)
    else if (options.body) seen.acknowledged++
  }
  const all = Promise.all(Array.from({ length: clients }, (_, number) => client(number)))
  return {
    seen,
    async stop() {
      isOver = true
      await all
      agent.destroy()
    },
  }
}

function send(url: string, { agent, body }: { agent: Agent; body?: string }): Promise<number> {
  const method = body === undefined ? 'GET' : 'POST'
  return new Promise((resolve, reject) => {
    const headers = { 'Content-Type': 'application/json' }
    const request = ask(url, { agent, method, headers, signal: AbortSignal.timeout(120_000) })
    request.on('error', reject)
    request.on('response', answer => {
      text(answer).then(() => resolve(answer.statusCode ?? 0), reject)
    })
    request.end(body)
  })
}

/** Waits until the log has so many lines of this kind, not for ever. */
async function reported(server: Server, what: RegExp, count: number): Promise<readonly string[]> {
  const lines = () => server.log().match(new RegExp(what, 'g')) ?? []
  for (let tries = 0; lines().length < count && tries < 600; tries++) await pause(50)
  return lines()
}

const listening = (server: Server, count: number) =>
  reported(server, /"worker":\d,"event":"listening"/, count)

test.serial(
  'several workers share one port, reload without a failed request, survive a crash and finish requests',
  async t => {
    const folder = temporaryFolder()
    t.teardown(folder.remove)
    folder.write('project.yaml', project('text: string'))
    folder.write('extensions/slow.mjs', SLOW)
    const environment = { NODE_ENV: 'production', WORKERS: String(WORKERS) }
    const server = await startServer({ project: folder.path, environment })
    t.teardown(() => server.stop())
    const begun = await listening(server, WORKERS)
    t.deepEqual(
      begun.toSorted(),
      [1, 2].map(number => `"worker":${number},"event":"listening"`),
    )
    t.is(server.log().match(/Created \d+ tables/g)?.length, 2, 'one line: its sentence, and what it tells')

    const { seen, stop } = load(server, 8)
    t.teardown(stop)
    const reload = async (file: string, count: number) => {
      folder.write('project.yaml', file)
      process.kill(server.pid, 'SIGHUP')
      return (await reported(server, /"event":"reload(ed|Refused)"/, count)).length
    }
    t.is(await reload(project('text: string, size: integer'), 2), 2)
    t.is(await reload(project('text: strin'), 3), 3, 'the first alone looks at what is broken')
    t.is(await reload(project('text: string, width: { type: integer, renamedFrom: size }'), 5), 5)
    t.deepEqual([seen.refused, seen.broken], [[], []], complaints(server))
    t.is((await server.get('/api/notes?fields=width&pagination[pageSize]=1')).status, 200)

    const [victim = 0] = workersOf(server)
    process.kill(victim, 'SIGKILL')
    t.regex(
      (await reported(server, /Worker \d \(process \d+\) ended by SIGKILL/, 1)).join(),
      new RegExp(String(victim)),
    )
    t.is((await listening(server, WORKERS + 1)).length, WORKERS + 1, 'another took its place')
    await stop()
    t.deepEqual(seen.refused, [])
    t.true(seen.broken.length <= 8, `its own connections, each once: ${seen.broken}`)
    const kept = await server.get('/api/notes?pagination[pageSize]=1')
    const { total } = (kept.body as { meta: { pagination: { total: number } } }).meta.pagination
    t.true(total >= seen.acknowledged && total <= seen.acknowledged + seen.broken.length)

    const slow = Array.from({ length: 6 }, () => server.get('/api/slow'))
    await reported(server, /"msg":"slow began"/, 6)
    const ended = server.stop()
    await reported(server, /"event":"stopping"/, WORKERS)
    folder.write('go', '')
    t.deepEqual(
      (await Promise.all(slow)).map(({ status }) => status),
      Array(6).fill(200),
    )
    t.is(await ended, 0)
    t.deepEqual(workersOf(server), [])
  },
)

const complaints = (server: Server): string =>
  Array.from(server.log().matchAll(/.*"event":"failed".*/g), ([line]) => line.slice(0, 300)).join('\n')

const workersOf = ({ pid }: Server): readonly number[] => {
  const children = execFileSync('ps', ['-eo', 'pid=,ppid='], { encoding: 'utf8' })
  return children
    .split('\n')
    .map(line => line.trim().split(/\s+/).map(Number))
    .flatMap(([child = 0, parent]) => (parent === pid ? [child] : []))
}

/** A route that never answers, nor lets anything else be answered. */
const STALL = `import { defineExtension } from 'plinth'
export default defineExtension({
  register({ rest }) {
    rest.route('GET', '/stall', () => { for (;;); }, { auth: false })
  },
})
`

test.serial('a worker with a blocked event loop is killed and replaced, while others respond', async t => {
  const folder = temporaryFolder()
  t.teardown(folder.remove)
  folder.write('project.yaml', project('text: string').replace('server: { ', 'server: { stallTimeout: 3s, '))
  folder.write('extensions/stall.mjs', STALL)
  const server = await startServer({ project: folder.path, environment: { WORKERS: String(WORKERS) } })
  t.teardown(() => server.stop())
  await listening(server, WORKERS)
  const stalled = t.throwsAsync(fetch(`${server.base}/api/stall`))
  const agent = new Agent({ keepAlive: false })
  // One of them may have been handed to the stalled worker.
  const others = [1, 2, 3].map(() => send(`${server.base}/_health`, { agent }))
  t.is(await Promise.any(others), 204)
  await Promise.allSettled(others)
  await stalled
  t.is((await reported(server, /"event":"workerStalled"/, 1)).length, 1)
  t.is((await listening(server, WORKERS + 1)).length, WORKERS + 1)
  t.is(workersOf(server).length, WORKERS)
})

test.serial('a connection that a killed worker had not accepted is closed with it', async t => {
  const folder = temporaryFolder()
  t.teardown(folder.remove)
  folder.write('project.yaml', project('text: string'))
  const server = await startServer({ project: folder.path, environment: { WORKERS: String(WORKERS) } })
  t.teardown(() => server.stop())
  await listening(server, WORKERS)
  const [victim = 0] = workersOf(server)
  process.kill(victim, 'SIGSTOP')
  const agent = new Agent({ keepAlive: false })
  const answers = Array.from({ length: 6 }, () =>
    send(`${server.base}/_health`, { agent }).catch((error: Error) => error.message),
  )
  await Promise.any(answers)
  await pause(300)
  process.kill(victim, 'SIGKILL')
  const ended = await Promise.race([Promise.all(answers), pause(60_000, null)])
  t.truthy(ended, 'each request is answered, or its connection ends')
  t.true((ended ?? []).filter(status => status === 204).length >= 4, JSON.stringify(ended))
})

/** An extension whose bootstrap waits as long as the file `wait` is there. */
const WAITS = `import { existsSync } from 'node:fs'
import { defineExtension } from 'plinth'
export default defineExtension({
  async bootstrap() {
    while (existsSync(new URL('../wait', import.meta.url))) await new Promise(done => setTimeout(done, 20))
  },
})
`

test.serial('a worker that replaces another gets no requests before it is ready', async t => {
  const folder = temporaryFolder()
  t.teardown(folder.remove)
  folder.write('project.yaml', project('text: string'))
  folder.write('extensions/waits.mjs', WAITS)
  const server = await startServer({
    project: folder.path,
    environment: { WORKERS: String(WORKERS), NODE_ENV: 'production' },
  })
  t.teardown(() => server.stop())
  await listening(server, WORKERS)
  folder.write('wait', '')
  const [victim = 0] = workersOf(server)
  process.kill(victim, 'SIGKILL')
  await reported(server, /"event":"workerEnded"/, 1)
  const statuses = new Set<number>()
  const agent = new Agent({ keepAlive: false })
  for (const until = Date.now() + 3_000; Date.now() < until; )
    statuses.add(await send(`${server.base}/api/notes`, { agent }))
  t.deepEqual([...statuses], [200])
  t.is((await listening(server, WORKERS)).length, WORKERS, 'the replacement still starts')
})

test.serial('several workers without a database server are refused in one sentence', async t => {
  const folder = temporaryFolder()
  t.teardown(folder.remove)
  folder.write('project.yaml', project('text: string'))
  const { code, output } = await runToEnd(folder.path, { DATABASE_URL: 'embedded', WORKERS: '2' })
  t.is(code, 1)
  const [first = '', sentence = '', ...others] = output.trim().split('\n')
  t.regex(first, /^Plinth [\d.]+: starting 2 workers …$/)
  t.regex(sentence, /belongs to one process: set database\.url \(DATABASE_URL\)/)
  t.deepEqual(others, [])
})
