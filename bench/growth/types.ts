import pg from 'pg'
import { temporaryFolder } from '../../tests/harness/folder.ts'
import { freshDatabase } from '../../tests/harness/test-database.ts'
import { manyTypes } from '../many-types.ts'
import { type Running, startPlinth } from '../process.ts'
import { memoryOfTree, type ProcessorTime } from '../processor-time.ts'
import { measure, type Taken } from './measure.ts'
import { times } from './print.ts'

const COUNTS = [1, 50, 500]

/** The same requests to the same rows, while the number of other content-types grows. */
export async function measureTypes(postgres: ProcessorTime): Promise<readonly string[]> {
  const measured: Measured[] = []
  for (const count of COUNTS) measured.push(await withTypes(count, postgres))
  const [first] = measured
  const lines = measured.map(of => {
    const cells = [of.made, of.started].map(each => `${Math.round(each)} ms`)
    const taken = first ? [costs(of.one, first.one), costs(of.list, first.list)] : []
    return `| ${[of.count, ...cells, `${Math.round(of.memory)} MB`, ...taken].join(' | ')} |`
  })
  return [
    '| content-types | first start, making the tables | start | memory afterwards | findOne: p50 / p99, server + PostgreSQL | list of 25 with total |',
    '|---|---|---|---|---|---|',
    ...lines,
  ]
}

interface Measured {
  readonly count: number
  /** Milliseconds. */
  readonly made: number
  readonly started: number
  /** MB (10^6). */
  readonly memory: number
  readonly one: Taken
  readonly list: Taken
}

const costs = ({ p50, p99, server, postgres }: Taken, first: Taken): string =>
  `${p50.toFixed(1)} / ${p99.toFixed(1)} ms, ${Math.round(server)} + ${Math.round(postgres)} µs (${times(server, first.server)})`

async function withTypes(count: number, postgres: ProcessorTime): Promise<Measured> {
  const folder = temporaryFolder()
  const database = await freshDatabase()
  let server: Running | undefined
  try {
    folder.write('project.yaml', manyTypes(count))
    const first = await startPlinth(folder.path, database.url)
    await first.stop()
    await seed(database.url)
    server = await startPlinth(folder.path, database.url)
    const one = await measure(server, { paths: documents, postgres })
    const list = await measure(server, { paths: pages, postgres })
    const memory = memoryOfTree(server.pid)
    return { count, made: first.startedIn, started: server.startedIn, memory, one, list }
  } finally {
    await server?.stop()
    await database.drop()
    folder.remove()
  }
}

const documents = Array.from({ length: 40 }, (_, at) => `/api/thing-0s/thing-${at * 25 + 1}`)
const pages = Array.from({ length: 40 }, (_, at) => `/api/thing-0s?pagination[page]=${at + 1}`)

async function seed(url: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query(
    `INSERT INTO thing_0s (id, document_id, document_key, status, created_at, updated_at, published_at, name, count)
    OVERRIDING SYSTEM VALUE
    SELECT 2 * n - 1 + later, 'thing-' || n, 2 * n - 1, status, now(), now(),
      CASE status WHEN 'published' THEN now() END, 'Thing ' || n, n
    FROM generate_series(1, 1000) AS n, (VALUES ('draft', 0), ('published', 1)) AS version (status, later)`,
  )
  await client.query('VACUUM ANALYZE thing_0s')
  await client.end()
}
