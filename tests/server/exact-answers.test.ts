import test from 'ava'
import pg from 'pg'
import { temporaryFolder } from '../harness/folder.ts'
import { type Server, startServer } from '../harness/server.ts'
import { createDatabase, testServer } from '../harness/test-database.ts'

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

/** Writes of each of the four writers; EXACT_ROUNDS=30000 compares about a million responses. */
const ROUNDS = Number(process.env.EXACT_ROUNDS ?? 12)

/** Acknowledged writes; none of them may be missing from a later answer. */
type Acknowledged = Map<string, number>

const byName = (row: Row): string => row.name ?? ''

interface Row {
  readonly name?: string
  readonly documentId: string
  readonly value: number
}

interface Reported {
  readonly data: Row & Row[]
  readonly meta: { readonly pagination?: { readonly total?: number } }
  readonly hit: boolean
}

async function ask(url: string, method = 'GET', data?: unknown): Promise<Reported> {
  const answer = await fetch(url, {
    method,
    signal: AbortSignal.timeout(120_000),
    ...(data === undefined
      ? {}
      : { body: JSON.stringify({ data }), headers: { 'content-type': 'application/json' } }),
  })
  if (!answer.ok) throw new Error(`${method} ${url}: ${answer.status} ${await answer.text()}`)
  return { ...((await answer.json()) as Omit<Reported, 'hit'>), hit: isHit(answer) }
}

const isHit = ({ headers }: Response): boolean =>
  (headers.get('server-timing') ?? '').includes('cache;desc=hit')

/** Asks as who has the last answer already. */
function asker(url: string): () => Promise<Reported> {
  let [tag, body] = ['', '']
  return async () => {
    const answer = await fetch(url, {
      headers: { 'if-none-match': tag },
      signal: AbortSignal.timeout(120_000),
    })
    const text = await answer.text()
    if (answer.status !== 304) [tag, body] = [answer.headers.get('etag') ?? '', text]
    return { ...(JSON.parse(body) as Omit<Reported, 'hit'>), hit: isHit(answer) }
  }
}

/** The same rows over GraphQL. */
async function askGraphql(base: string): Promise<Reported> {
  const query = '{ counters(sort: "name") { data { id attributes { name value } } } }'
  const answer = await fetch(`${base}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ query }),
    signal: AbortSignal.timeout(120_000),
  })
  const { data } = (await answer.json()) as { data: { counters: { data: { attributes: Row }[] } } }
  const rows = data.counters.data.map(({ attributes }) => attributes)
  return { data: rows as Row & Row[], meta: {}, hit: isHit(answer) }
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

/** Makes documents, through both processes by turns. */
async function grow(bases: readonly string[], seen: Acknowledged): Promise<void> {
  for (let total = 1; total <= ROUNDS; total++) {
    const base = bases[total % bases.length]
    await ask(`${base}/api/counters`, 'POST', { name: `zz ${total}`, value: 0 })
    seen.set('total', total)
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

test('no response is older than the last commit before its request, from any process', async t => {
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
  let [reads, hits] = [0, 0]
  const look = async (path: string, read: () => Promise<Reported>, nameOf = byName) => {
    while (!isOver) {
      const before = new Map(seen)
      const { data, meta, hit } = await read()
      const found = new Map([data].flat().map(row => [nameOf(row), row.value]))
      if (meta.pagination?.total !== undefined) found.set('total', meta.pagination.total)
      const wanted = path.includes('marks') ? ['mark'] : found.keys()
      for (const name of wanted)
        if ((found.get(name) ?? -1) < (before.get(name) ?? -1))
          late.push(`${path}: ${name} is ${found.get(name)}, after ${before.get(name)}`)
      reads++
      if (hit) hits++
    }
  }
  const one = `/api/counters/${outside.data.documentId}?populate=mark`
  const readers = servers.flatMap(({ base }) => [
    ...['/api/counters?sort=name&fields=name,value', '/api/counters?pagination[pageSize]=2', one].map(path =>
      look(path, () => ask(base + path)),
    ),
    look(
      '/api/marks',
      () => ask(`${base}/api/marks?pagination[withCount]=false`),
      () => 'mark',
    ),
    look('304', asker(`${base}/api/counters?sort=name&pagination[withCount]=false`)),
    look('GraphQL', () => askGraphql(base)),
  ])
  const writers = [
    countUp(first.base, 'one', seen),
    countUp(second.base, 'two', seen),
    countFromOutside(client, seen),
    grow(
      servers.map(({ base }) => base),
      seen,
    ),
  ]
  const written = await Promise.allSettled(writers)
  isOver = true
  await Promise.all(readers)
  t.deepEqual(
    written.filter(({ status }) => status === 'rejected'),
    [],
  )
  t.log(`${reads} responses, ${hits} from the cache, beside ${ROUNDS * 4} writes`)
  t.deepEqual(late, [])
  t.is(seen.size, 5)
  t.true(hits > 0, 'some of it was kept')
})
