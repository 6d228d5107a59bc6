import test from 'ava'
import pg from 'pg'
import { temporaryFolder } from '../harness/folder.ts'
import { freePort } from '../harness/free-port.ts'
import { startServer } from '../harness/server.ts'
import { createDatabase, testServer } from '../harness/test-database.ts'
import { until } from '../harness/until.ts'

const SECRET = 'a-value-that-must-stay-hidden'

const project = (metricsPort: number) => `name: Library
server:
  host: "\${HOST:-127.0.0.1}"
  port: "\${PORT:-1394}"
  slowQuery: 200ms
  metrics: { enabled: true, port: ${metricsPort} }
database: { url: "\${DATABASE_URL:-embedded}" }
auth: { jwtSecret: ${SECRET}-0123456789-0123456789 }
contentTypes:
  author: { attributes: { name: string } }
  book:
    draftAndPublish: true
    attributes:
      title: string
      pages: integer
      author: { type: relation, relation: manyToOne, target: author }
roles: { public: { permissions: { author: [find], book: [find, create] } } }
`

test('a separate port serves the metrics of all workers, slow statements are logged by query shape, and neither shows a value', async t => {
  const folder = temporaryFolder()
  t.teardown(folder.remove)
  const metricsPort = await freePort()
  folder.write('project.yaml', project(metricsPort))
  const url = await createDatabase(t, testServer() ?? '')
  const server = await startServer({
    project: folder.path,
    environment: { NODE_ENV: 'production', WORKERS: '2', DATABASE_URL: url },
  })
  t.teardown(() => server.stop())
  await until(
    'both workers listen',
    () => (server.log().match(/"worker":\d,"event":"listening"/g) ?? []).length === 2,
  )

  const client = new pg.Client({ connectionString: url })
  await client.connect()
  t.teardown(() => client.end())
  await client.query('BEGIN; LOCK TABLE books')
  const filters = `filters[$or][0][title][$containsi]=${SECRET}&filters[$or][1][author][name][$in][0]=${SECRET}`
  const asked = server.get(
    `/api/books?${filters}&sort=author.name:desc&populate[author][filters][name][$ne]=${SECRET}&pagination[page]=3`,
    { 'X-Request-Id': 'of-a-slow-one' },
  )
  await until('the read waits', () => isBlocked(client))
  await new Promise(resolve => setTimeout(resolve, 250))
  await client.query('COMMIT')
  t.is((await asked).headers.get('x-request-id'), 'of-a-slow-one')
  const [line = '{}'] = server.log().match(/\{.*"event":"slowWork".*of-a-slow-one.*\}/) ?? []
  const { level, requestId, milliseconds, work } = JSON.parse(line)
  t.deepEqual([level, requestId, milliseconds >= 200], [40, 'of-a-slow-one', true])
  t.deepEqual(work, {
    action: 'find',
    contentType: 'book',
    status: 'published',
    start: 50,
    limit: 25,
    total: true,
    filters: { $or: [{ title: '$containsi' }, { author: { name: '$in' } }] },
    sort: ['author.name:desc'],
    populate: { author: { filters: { name: '$ne' } } },
  })
  t.false(server.log().includes(SECRET))

  await Promise.all(Array.from({ length: 10 }, () => server.get(`/api/books?_q=${SECRET}`)))
  await server.get(`/${SECRET}`)
  await server.get(`/api/${SECRET}`)
  t.is((await server.get('/metrics')).status, 404, 'nothing of it on the port that everybody reaches')
  const metrics = `http://127.0.0.1:${metricsPort}`
  t.is((await fetch(`${metrics}/api/books`)).status, 404, 'and nothing else on the port of the numbers')
  const answer = await fetch(`${metrics}/metrics`)
  const text = await answer.text()
  t.is(answer.headers.get('content-type'), 'text/plain; version=0.0.4; charset=utf-8')
  t.regex(text, /^plinth_http_requests_total\{route="book\.find",status="200"\} 11$/m)
  t.regex(text, /^plinth_http_requests_total\{route="other",status="404"\} 3$/m)
  t.regex(text, /^plinth_http_request_duration_seconds_bucket\{route="book\.find",le="\+Inf"\} 11$/m)
  t.regex(text, /^plinth_database_work_seconds_count\{kind="read"\} \d+$/m)
  // On a slow machine, others are slow, too.
  const slow = server.log().match(/"event":"slowWork"/g) ?? []
  t.regex(text, new RegExp(`^plinth_events_total\\{event="slowWork"\\} ${slow.length}$`, 'm'))
  t.regex(text, /^plinth_info\{version="[^"]+"\} 2$/m)
  t.regex(text, /^plinth_outbox_events\{state="waiting"\} 0$/m)
  for (const worker of [1, 2])
    t.regex(text, new RegExp(`^process_resident_memory_bytes\\{worker="${worker}"\\} \\d+$`, 'm'))
  t.false(text.includes(SECRET))
  t.deepEqual(
    text.split('\n').filter(each => !/^(#.*|[a-z_]+(\{.*\})? [\d.e+-]+|)$/.test(each)),
    [],
  )
})

/** True if a session waits for the client's locks. */
async function isBlocked(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query(`SELECT count(*)::int AS n FROM pg_stat_activity
    WHERE datname = current_database() AND wait_event_type = 'Lock'`)
  return rows[0].n > 0
}
