import { cpSync } from 'node:fs'
import { resolve } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import test, { type ExecutionContext } from 'ava'
import pg from 'pg'
import { temporaryFolder } from '../../harness/folder.ts'
import { startServer } from '../../harness/server.ts'
import { until } from '../../harness/until.ts'
import { type Cluster, startCluster } from '../cluster.ts'
import { FILL } from '../scale/fill.ts'
import { type Ran, ranIn, type Scan } from '../scale/plan-log.ts'
import { REQUESTS, sender } from '../scale/requests.ts'

// The plans that PostgreSQL really ran for every kind of request, over 2.5 million rows: what an index can serve looks
// at few rows, however many there are. Rows and pages are counted, for times depend on the machine.

const SETTINGS = [
  ...['fsync=off', 'synchronous_commit=off', 'autovacuum=off', 'max_wal_size=4GB', 'shared_buffers=256MB'],
  ...['log_line_prefix=', 'shared_preload_libraries=auto_explain'],
]

const LOGGING = {
  ...{ log_format: 'json', log_analyze: 'on', log_buffers: 'on', log_timing: 'off' },
  ...{ log_nested_statements: 'on', log_min_duration: '0' },
}

/** Tables with fewer rows may be read whole. */
const BIG = 100_000

/** Rows that one scan of a big table looks at, at most: some for each document of a page. */
const MOST_ROWS = 1_000

/** Index pages of a search, in addition to those of each row. */
const MOST_BLOCKS = 300
const BLOCKS_A_ROW = 8

/** Often enough that PostgreSQL has settled on a plan for a prepared statement. */
const TIMES = 8

/** Requests that look through a table, and why no index can serve them. */
const LOOKS_THROUGH: Readonly<Record<string, string>> = {
  'total of a list': 'an exact total counts',
  'by an attribute without index': 'no index is declared',
  search: '`_q` looks for any part of any text',
  'by the title of a component': 'no index is declared',
  'by the slug of a long category': 'each article of the category is sorted',
  'by the slug of a long category, with total': 'each article of the category is counted',
  'a long category, counted': 'each article of the category is counted',
  'modified documents': 'both versions of a document are compared, and none differs',
  'never published documents': 'each draft is looked at, and each is published',
  'count of users': 'an exact total counts',
  roles: 'the users of each role are counted',
}

/** Lookups of one document that cost what findOne costs, within this factor. */
const FACTOR = 5
const LIKE_FIND_ONE = [
  ...['by slug', 'by slug of a draft', 'by slug in a locale', 'by documentId', 'by id'],
  ...['by a unique attribute', 'notes by an article', 'articles by a note', 'GraphQL one', 'GraphQL by slug'],
  ...['a file', 'a user', 'users by mail address', 'sign in by name', 'reset a password with a wrong code'],
]

test.serial('no request scans a table if an index can serve it', async t => {
  const cluster = await startCluster(t, SETTINGS)
  const ran = await runAll(t, cluster)
  const big = new Set(
    (
      await cluster.query(`SELECT relname FROM pg_class WHERE relkind = 'r' AND reltuples >= ${BIG * 0.9}`)
    ).map(([table]) => String(table)),
  )
  t.true(big.size >= 15, 'the tables are big')
  for (const { name } of REQUESTS) {
    const found = [...wideScans(ran.get(name) ?? [], big)]
    t.true((ran.get(name) ?? []).length > 0, `${name}: its statements are in the log`)
    if (name in LOOKS_THROUGH) t.not(found.length, 0, `${name} needs no exception any more`)
    else t.deepEqual(found, [], name)
  }
  const one = blocksOf(ran.get('one'))
  for (const name of LIKE_FIND_ONE) {
    const blocks = blocksOf(ran.get(name))
    t.true(blocks <= FACTOR * one, `${name} looks at ${blocks} pages, findOne at ${one}`)
  }
  const short = blocksOf(ran.get('link from a category'))
  const long = blocksOf(ran.get('link from a long category'))
  t.true(long <= FACTOR * short, `linking to a long list looks at ${long} pages, to a short one at ${short}`)
  t.deepEqual([...wideScans(ran.get(START) ?? [], big)].map(({ table }) => table).toSorted(), READ_AT_START)
})

const START = 'start'

/** Tables of content/ are read whole, and events of removed listeners are counted. */
const READ_AT_START = ['plinth_content', 'plinth_content', 'plinth_outbox']

/** The pages of the most expensive statement of a request. What reads the catalog runs at intervals, for no request. */
const blocksOf = (ran: readonly Ran[] = []): number =>
  Math.max(...ran.filter(({ scans }) => !scans.some(isOfCatalog)).map(({ blocks }) => blocks))

const isOfCatalog = ({ table }: Scan): boolean => table.startsWith('pg_')

interface Wide extends Scan {
  readonly text: string
}

function* wideScans(ran: readonly Ran[], big: ReadonlySet<string>): Generator<Wide> {
  for (const { scans, text } of ran) {
    for (const scan of scans) {
      if (!big.has(scan.table)) continue
      if (scan.rows > MOST_ROWS || scan.blocks > MOST_BLOCKS + BLOCKS_A_ROW * scan.rows)
        yield { ...scan, text }
    }
  }
}

async function runAll(t: ExecutionContext, cluster: Cluster): Promise<ReadonlyMap<string, readonly Ran[]>> {
  const folder = temporaryFolder()
  t.teardown(folder.remove)
  cpSync(resolve(import.meta.dirname, '../scale/project'), folder.path, { recursive: true })
  const environment = { DATABASE_URL: cluster.url }
  await startServer({ project: folder.path, environment }).then(server => server.stop())
  const client = new pg.Client({ connectionString: cluster.url })
  await client.connect()
  await fill(client)
  for (const [setting, value] of Object.entries(LOGGING))
    await client.query(`ALTER SYSTEM SET auto_explain.${setting} = '${value}'`)
  await client.query('SELECT pg_reload_conf()')
  await until('plans are logged', async () => {
    await mark(client, 'first')
    return cluster.log().includes('mark: first')
  })
  await mark(client, START)
  folder.write(
    'content/users.yaml',
    '[{ username: ann, email: ann@example.org, password: secret-of-ann, role: editor }]',
  )
  folder.write(
    'content/notes.yaml',
    '[{ documentId: n1, text: a, code: c1 }, { documentId: n2, text: b, code: c2 }]',
  )
  folder.write('content/articles.yaml', '[{ documentId: a1, title: A, notes: [n1, n2] }]')
  const server = await startServer({ project: folder.path, environment })
  const send = sender(server)
  for (const { name, run } of REQUESTS) {
    await mark(client, name)
    const answers = []
    for (let at = 0; at < TIMES; at++) answers.push(await run(send, at))
    const odd = answers.find(({ status, body }) => status >= 500 || status === 404 || body?.errors)
    if (odd) t.fail(`${name}: ${odd.status} ${JSON.stringify(odd.body).slice(0, 300)}`)
  }
  await server.stop()
  await mark(client, 'end')
  await client.end()
  await until('the log is written', async () => cluster.log().includes("SELECT 'mark: end'"))
  await pause(200)
  return ranIn(cluster.log())
}

const mark = (client: pg.Client, name: string) => client.query(`SELECT 'mark: ${name}'`)

/** Fills the tables in one session without triggers: all rows are new, and their references exist. */
async function fill(client: pg.Client): Promise<void> {
  await client.query(`SET session_replication_role = replica`)
  for (const statement of FILL) await client.query(statement)
  await client.query('VACUUM ANALYZE')
}
