import test from 'ava'
import pg from 'pg'
import { temporaryFolder } from '../harness/folder.ts'
import { type Server, startServer } from '../harness/server.ts'
import { createDatabase, testServer } from '../support/database.ts'

// Kept answers where several processes, and others, write to one database.

const PROJECT = `name: Counters
server: { host: "\${HOST:-127.0.0.1}", port: "\${PORT:-1393}" }
database: { url: "\${DATABASE_URL:-embedded}", pool: { max: 4 } }
auth: { jwtSecret: 0123456789-of-a-secret-for-a-test }
contentTypes:
  counter: { draftAndPublish: true, attributes: { name: string, value: integer, mark: { type: relation, relation: oneToOne, target: mark } } }
  mark: { attributes: { value: integer } }
roles: { public: { permissions: { counter: [find, findOne, create, update, publish], mark: [find] } } }
`

const ROUNDS = 15

/** What somebody was told is written; none of it may be missing from an answer that is asked for later. */
type Acknowledged = Map<string, number>

interface Row {
  readonly name?: string
  readonly documentId: string
  readonly value: number
}

async function ask(
  url: string,
  method = 'GET',
  data?: unknown,
): Promise<{ data: Row & Row[]; hit: boolean }> {
  const answer = await fetch(url, {
    method,
    signal: AbortSignal.timeout(20_000),
    ...(data === undefined
      ? {}
      : { body: JSON.stringify({ data }), headers: { 'content-type': 'application/json' } }),
  })
  if (!answer.ok) throw new Error(`${method} ${url}: ${answer.status} ${await answer.text()}`)
  const timing = answer.headers.get('server-timing') ?? ''
  return {
    data: ((await answer.json()) as { data: Row & Row[] }).data,
    hit: timing.includes('cache;desc=hit'),
  }
}

async function open(t: Parameters<typeof createDatabase>[0]): Promise<{ url: string; servers: Server[] }> {
  const url = await createDatabase(t, testServer() ?? '')
  const servers: Server[] = []
  for (let number = 0; number < 2; number++) {
    const folder = temporaryFolder()
    t.teardown(() => folder.remove())
    folder.write('project.yaml', PROJECT)
    const server = await startServer({ project: folder.path, environment: { DATABASE_URL: url } })
    t.teardown(() => server.stop())
    servers.push(server)
  }
  return { url, servers }
}

/** Counts one document up, through one of the processes. */
async function countUp(base: string, name: string, seen: Acknowledged): Promise<void> {
  const made = await ask(`${base}/api/counters`, 'POST', { name, value: 0 })
  for (let value = 1; value <= ROUNDS; value++) {
    await ask(`${base}/api/counters/${made.data.documentId}`, 'PUT', { value })
    seen.set(name, value)
  }
}

/** Puts all rows of a table in place of others, and counts a document up, past all of Plinth. */
async function countFromOutside(client: pg.Client, seen: Acknowledged): Promise<void> {
  const columns = '(document_id, value, created_at, updated_at, published_at)'
  for (let value = 1; value <= ROUNDS; value++) {
    await client.query('BEGIN')
    await client.query('TRUNCATE marks CASCADE')
    const row = ['only', value, ...Array<string>(3).fill('2026-01-01')].join(',')
    await client.query(`COPY marks ${columns} FROM PROGRAM 'echo ${row}' WITH (FORMAT csv)`)
    await client.query('COMMIT')
    seen.set('mark', value)
    const name = 'outside'
    await client.query('UPDATE counters SET value = $1 WHERE name = $2', [value, name])
    seen.set(name, value)
  }
}

test('no answer is older than the last commit before it was asked for, whoever wrote', async t => {
  const { url, servers } = await open(t)
  const [first, second] = servers
  if (!first || !second) return t.fail()
  const seen: Acknowledged = new Map()
  const outside = await ask(`${first.base}/api/counters`, 'POST', { name: 'outside', value: 0 })
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  t.teardown(() => client.end())

  let isOver = false
  const late: string[] = []
  let hits = 0
  const look = async (base: string, path: string, nameOf: (row: Row) => string) => {
    while (!isOver) {
      const before = new Map(seen)
      const { data, hit } = await ask(base + path)
      const found = new Map([data].flat().map(row => [nameOf(row), row.value]))
      const wanted = path.includes('marks') ? ['mark'] : found.keys()
      for (const name of wanted)
        if ((found.get(name) ?? -1) < (before.get(name) ?? 0))
          late.push(`${path}: ${name} is ${found.get(name)}, after ${before.get(name)}`)
      if (hit) hits++
    }
  }
  const byName = (row: Row) => row.name ?? ''
  const readers = servers.flatMap(({ base }) => [
    look(base, '/api/counters?sort=name&fields=name,value', byName),
    look(base, '/api/counters?sort=name&fields=name,value&pagination[withCount]=false', byName),
    look(base, `/api/counters/${outside.data.documentId}?populate=mark`, byName),
    look(base, '/api/marks', () => 'mark'),
  ])
  const writers = [
    countUp(first.base, 'one', seen),
    countUp(second.base, 'two', seen),
    countFromOutside(client, seen),
  ]
  const written = await Promise.allSettled(writers)
  isOver = true
  await Promise.all(readers)
  t.deepEqual(
    written.filter(({ status }) => status === 'rejected'),
    [],
  )
  t.deepEqual(late, [])
  t.is(seen.size, 4)
  t.true(hits > 0, 'some of it was kept')
})
