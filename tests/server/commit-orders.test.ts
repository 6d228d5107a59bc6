import anyTest, { type ExecutionContext, type TestFn } from 'ava'
import pg from 'pg'
import { temporaryFolder } from '../harness/folder.ts'
import { startServer } from '../harness/server.ts'
import { createDatabase, testServer } from '../harness/test-database.ts'

// Cached responses while transactions of other programs end in a given order.

const PROJECT = `name: Orders
server: { host: "\${HOST:-127.0.0.1}", port: "\${PORT:-1393}" }
database: { url: "\${DATABASE_URL:-embedded}", pool: { max: 4 } }
auth: { jwtSecret: 0123456789-of-a-secret-for-a-test }
contentTypes:
  counter: { attributes: { name: string, value: integer } }
roles: { public: { permissions: { counter: [find, findOne, create] } } }
`

interface Place {
  readonly url: string
  /** `first value, second value` as the list and both documents have them, and whether all came from the cache. */
  read(): Promise<{ readonly values: string; readonly hit: boolean }>
  /** Reads until all of it comes from the cache. */
  readCached(): Promise<string>
}

type Ends = Parameters<typeof createDatabase>[0]

async function open(t: Ends): Promise<Place> {
  const url = await createDatabase(t, testServer() ?? '')
  const folder = temporaryFolder()
  t.teardown(() => folder.remove())
  folder.write('project.yaml', PROJECT)
  const server = await startServer({ project: folder.path, environment: { DATABASE_URL: url } })
  t.teardown(() => server.stop())
  const ids: string[] = []
  for (const name of ['first', 'second']) {
    const body = JSON.stringify({ data: { name, value: 0 } })
    const headers = { 'content-type': 'application/json' }
    const made = await fetch(`${server.base}/api/counters`, { method: 'POST', body, headers })
    ids.push(((await made.json()) as { data: { documentId: string } }).data.documentId)
  }
  const read = async () => {
    const list = await ask(`${server.base}/api/counters?sort=name`)
    const [first, second] = await Promise.all(ids.map(id => ask(`${server.base}/api/counters/${id}`)))
    if (!first || !second) throw new Error('a counter is missing')
    if (list.values !== `${first.values},${second.values}`)
      throw new Error(`list: ${list.values}, documents: ${first.values},${second.values}`)
    return { values: list.values, hit: list.hit && first.hit && second.hit }
  }
  const readCached = async () => {
    for (let time = 0; time < 200; time++) {
      const { values, hit } = await read()
      if (hit) return values
    }
    throw new Error('nothing was cached')
  }
  return { url, read, readCached }
}

const test = anyTest as TestFn<Place>

const endings: (() => unknown)[] = []

test.before(async t => {
  t.context = await open({ teardown: end => void endings.unshift(end) })
})

test.after.always(async () => {
  for (const end of endings) await end()
})

/** Two connections of another program, and both counters at 0. */
async function begin(t: ExecutionContext<Place>): Promise<Place & Record<'early' | 'late', pg.Client>> {
  const [early, late] = [await connect(t), await connect(t)]
  await early.query('UPDATE counters SET value = 0')
  return { ...t.context, early, late }
}

async function connect(t: ExecutionContext<Place>): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: t.context.url })
  await client.connect()
  t.teardown(() => client.end())
  return client
}

async function ask(url: string): Promise<{ readonly values: string; readonly hit: boolean }> {
  const answer = await fetch(url)
  const { data } = (await answer.json()) as { data: { value: number } | { value: number }[] }
  const hit = (answer.headers.get('server-timing') ?? '').includes('cache;desc=hit')
  return { values: String([data].flat().map(({ value }) => value)), hit }
}

const set = (name: string, value: number): string =>
  `UPDATE counters SET value = ${value} WHERE name = '${name}'`

test.serial('a write shows after its commit, also if a later write was committed before it', async t => {
  const { early, late, read, readCached } = await begin(t)
  t.is(await readCached(), '0,0')
  await early.query('BEGIN')
  await early.query(set('first', 1))
  await late.query(set('second', 2))
  t.is((await read()).values, '0,2')
  t.is(await readCached(), '0,2', 'cached while the first write is not committed')
  await early.query('COMMIT')
  t.is((await read()).values, '1,2')
})

test.serial(
  'a write that is rolled back never shows, and what was cached before is served after it',
  async t => {
    const { early, late, read, readCached } = await begin(t)
    t.is(await readCached(), '0,0')
    await early.query('BEGIN')
    await early.query(set('first', 1))
    t.is(await readCached(), '0,0')
    await early.query('ROLLBACK')
    t.deepEqual(await read(), { values: '0,0', hit: true })
    await late.query('BEGIN')
    await late.query('SAVEPOINT half')
    await late.query(set('first', 3))
    await late.query('ROLLBACK TO half')
    await late.query(set('second', 4))
    t.is(await readCached(), '0,0')
    await late.query('COMMIT')
    t.is((await read()).values, '0,4')
  },
)

test.serial(
  'a prepared transaction shows from its second commit on, after its connection has ended',
  async t => {
    const { early, late, read, readCached } = await begin(t)
    const name = `orders of ${process.pid}`
    await early.query('BEGIN')
    await early.query(set('first', 1))
    await early.query(`PREPARE TRANSACTION '${name}'`)
    await early.end()
    await late.query(set('second', 2))
    t.is(await readCached(), '0,2')
    await late.query(`COMMIT PREPARED '${name}'`)
    t.is((await read()).values, '1,2')
  },
)

test.serial('values that ALTER TABLE changed show after the statement of docs/caching.md', async t => {
  const { early, read, readCached } = await begin(t)
  t.is(await readCached(), '0,0')
  await early.query('ALTER TABLE counters ALTER COLUMN value TYPE integer USING value + 7')
  await early.query(`INSERT INTO plinth_versions AS v (table_name, shard, version) VALUES ('*', 0, 1)
    ON CONFLICT (table_name, shard) DO UPDATE SET version = v.version + 1`)
  t.is((await read()).values, '7,7')
})
