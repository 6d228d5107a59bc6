import { setTimeout as pause } from 'node:timers/promises'
import test, { type ExecutionContext } from 'ava'
import { temporaryFolder } from '../../harness/folder.ts'
import { type Server, startServer } from '../../harness/server.ts'
import { teardownOfFile } from '../../harness/test-app.ts'
import { until } from '../../harness/until.ts'
import { query } from '../cluster.ts'
import { type PatroniCluster, startPatroni } from './patroni.ts'

// A cluster of three nodes with synchronous replication, under writes over REST and GraphQL: whatever becomes of its
// primary, no process ends, nothing is answered with 500, nothing that was acknowledged is lost, no read is out of date.

const TOKEN = 'writer-of-a-patroni-cluster-000000000000'

const PROJECT = `name: Notes
server: { host: "\${HOST}", port: "\${PORT}", rateLimit: { api: false } }
database: { url: "\${DATABASE_URL}", statementTimeout: 4s, pool: { max: 6, acquire: 8s } }
contentTypes: { note: { attributes: { text: string } } }
apiTokens: { writer: { type: full-access, secret: ${TOKEN} } }
`

let cluster: PatroniCluster
let server: Server

const file = teardownOfFile(test.after.always)

test.before(async () => {
  cluster = await startPatroni(file)
  const folder = temporaryFolder()
  file.teardown(folder.remove)
  folder.write('project.yaml', PROJECT)
  server = await startServer({ project: folder.path, environment: { DATABASE_URL: cluster.url } })
  file.teardown(server.stop)
})

interface Sent {
  readonly status: number
  readonly body: {
    readonly data?: unknown
    readonly meta?: { readonly pagination: { readonly total: number } }
    readonly errors?: readonly {
      readonly message: string
      readonly extensions?: { error?: { name?: string } }
    }[]
  }
}

async function send(method: string, path: string, body?: unknown): Promise<Sent> {
  const answer = await fetch(server.base + path, {
    method,
    headers: { 'content-type': 'application/json', authorization: `Bearer ${TOKEN}` },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(40_000),
  })
  return { status: answer.status, body: (await answer.json()) as Sent['body'] }
}

/** Acknowledged or not; any answer other than these and unavailable is `wrong`. */
async function writeRest(text: string, wrong: string[]): Promise<boolean> {
  const { status, body } = await send('POST', '/api/notes', { data: { text } })
  if (status !== 201 && status !== 503) wrong.push(`REST ${status} ${JSON.stringify(body)}`)
  return status === 201
}

async function writeGraphql(text: string, wrong: string[]): Promise<boolean> {
  const operation = `mutation { createNote(data: { text: "${text}" }) { data { id } } }`
  const { status, body } = await send('POST', '/graphql', { query: operation })
  if (status === 200 && !body.errors) return true
  const names = body.errors?.map(({ extensions }) => extensions?.error?.name) ?? []
  if (names.length === 0 || names.some(name => name !== 'ServiceUnavailableError'))
    wrong.push(`GraphQL ${status} ${JSON.stringify(body)}`)
  return false
}

interface Load {
  readonly acknowledged: string[]
  /** Answers of another kind, and reads that lack what was acknowledged before. */
  readonly wrong: string[]
  stop(): Promise<void>
}

/** Writers of both kinds and readers, until it is stopped. */
function load(name: string): Load {
  const acknowledged: string[] = []
  const wrong: string[] = []
  let isOver = false
  const write = async (how: typeof writeRest, writer: string) => {
    for (let turn = 0; !isOver; turn++) {
      const text = `${name} ${writer} ${turn}`
      if (await how(text, wrong)) acknowledged.push(text)
      else await pause(100)
    }
  }
  const read = async () => {
    while (!isOver) {
      const before = acknowledged.length
      const path = `/api/notes?filters[text][$startsWith]=${encodeURIComponent(`${name} `)}&pagination[pageSize]=1`
      const { status, body } = await send('GET', path)
      if (status === 200 && (body.meta?.pagination.total ?? 0) < before)
        wrong.push(`a read of ${body.meta?.pagination.total} documents, ${before} were acknowledged`)
      if (status !== 200 && status !== 503) wrong.push(`GET ${status} ${JSON.stringify(body)}`)
      await pause(50)
    }
  }
  const all = Promise.all([
    write(writeRest, 'a'),
    write(writeRest, 'b'),
    write(writeGraphql, 'c'),
    read(),
    read(),
  ])
  return {
    acknowledged,
    wrong,
    async stop() {
      isOver = true
      await all
    },
  }
}

/** Milliseconds. On a busy machine the members of the cluster miss heartbeats, and elect a leader more than once. */
const ELECTIONS = 120_000

/** Load while something happens, and until writes have been acknowledged for a while after it. */
async function during(
  t: ExecutionContext,
  name: string,
  happen: (more: () => Promise<void>) => Promise<void>,
) {
  const { acknowledged, wrong, stop } = load(name)
  const more = async () => {
    const before = acknowledged.length
    await until('writes are acknowledged', () => acknowledged.length > before + 20, ELECTIONS)
  }
  try {
    await more()
    await happen(more)
    await more()
    await stop()
    t.deepEqual(wrong.slice(0, 10), [])
  } catch (error) {
    t.log(
      JSON.stringify(await cluster.members()),
      cluster.nodes.map(({ name, log }) => `${name}\n${log().split('\n').slice(-40).join('\n')}`).join('\n'),
    )
    t.log(server.log().split('\n').slice(-60).join('\n'))
    throw error
  } finally {
    await stop()
  }
  const leader = await cluster.leader()
  const url = `postgres://postgres:secret@127.0.0.1:${leader.port}/postgres`
  const rows = await query(url, `SELECT text FROM notes WHERE text LIKE '${name} %'`)
  const kept = new Set(rows.map(([text]) => text))
  t.deepEqual(
    acknowledged.filter(text => !kept.has(text)),
    [],
    'nothing that was acknowledged is lost',
  )
  t.notRegex(server.log(), /failed unexpectedly/)
  t.is((await send('GET', '/api/notes?pagination[pageSize]=1')).status, 200)
}

test.serial('acknowledged writes survive a switchover', t =>
  during(t, 'switchover', async () => {
    const [leader, members] = [await cluster.leader(), await cluster.members()]
    const standby = members.find(({ role }) => role === 'sync_standby')
    const next = cluster.nodes.find(({ name }) => name === standby?.name)
    if (!next) return t.fail('there is no synchronous standby')
    await cluster.switchOver(leader, next)
    await until('the other one is the leader', async () => (await cluster.leader()).name === next.name)
  }),
)

test.serial('acknowledged writes survive the end of the primary node', async t => {
  await cluster.untilWhole()
  const leader = await cluster.leader()
  await during(t, 'node', async () => {
    await leader.kill()
    await until('another one is the leader', () => isAnother(leader.name))
  })
  leader.start()
  await cluster.untilWhole()
})

test.serial('acknowledged writes survive the end of PostgreSQL on the primary node', async t => {
  await cluster.untilWhole()
  const leader = await cluster.leader()
  await during(t, 'postgres', async more => {
    leader.killPostgres()
    await more()
  })
  await cluster.untilWhole()
})

test.serial(
  'acknowledged writes survive a primary node that is paused, and resumes after a failover',
  async t => {
    await cluster.untilWhole()
    const leader = await cluster.leader()
    await during(t, 'still', async more => {
      leader.pause()
      await until('another one is the leader', () => isAnother(leader.name))
      await more()
      await leader.resume()
      await more()
      await pause(3_000)
      leader.start()
      await more()
    })
    await cluster.untilWhole()
  },
)

const isAnother = (name: string): Promise<boolean> =>
  cluster.leader().then(
    leader => leader.name !== name,
    () => false,
  )
