import test from 'ava'
import pg from 'pg'
import { FULL, openTwoApps } from '../cache/two-apps.ts'
import { testServer } from '../harness/test-database.ts'
import { until } from '../harness/until.ts'

const PROJECT = `
name: Live
server: { rateLimit: { api: false, auth: false } }
contentTypes:
  shelf:
    attributes:
      name: string
      notes: { type: relation, relation: oneToMany, target: note, mappedBy: shelf }
  note:
    attributes:
      title: string
      shelf: { type: relation, relation: manyToOne, target: shelf, inversedBy: notes }
apiTokens: { full: { type: full-access, secret: ${FULL} } }
`

test('a write that PostgreSQL cancels to resolve a deadlock is repeated', async t => {
  const { database, plain, close } = await openTwoApps(PROJECT)
  t.teardown(close)
  const { rows } = await database.run({ text: 'SELECT current_database()', values: [] })
  const url = Object.assign(new URL(testServer() ?? ''), { pathname: `/${rows[0]?.[0]}` }).href
  const other = new pg.Client({ connectionString: url })
  await other.connect()
  t.teardown(() => other.end())
  await other.query(`SET statement_timeout = '20s'`)
  const shelf = await plain.data('POST', '/api/shelves', { name: 'one' })
  const note = await plain.data('POST', '/api/notes', { title: 'one' })

  const body = { data: { name: 'ours', notes: [note.documentId] } }
  const isLocked = `SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`
  const meet = async () => {
    await other.query('BEGIN')
    await other.query(`UPDATE notes SET title = 'theirs'`)
    const put = plain.ask('PUT', `/api/shelves/${shelf.documentId}`, { as: FULL, body })
    await until('the write waits for the note', async () => {
      return (await database.run({ text: isLocked, values: [] })).rows.length > 0
    })
    // The write has the shelf.
    const wasVictim = await other.query(`UPDATE shelves SET name = 'theirs'`).then(
      () => true,
      ({ code }) => code !== '40P01',
    )
    await other.query('COMMIT')
    const { status, text } = await put
    t.is(status, 200, text)
    return wasVictim
  }
  // A session looks for deadlocks once, after a second of waiting. On a slow machine the write has looked too early.
  let tries = 1
  while (!(await meet())) t.true(tries++ < 10, 'the write was never the victim')
  const reported = await plain.ask('GET', '/api/shelves?populate=notes', { as: FULL })
  t.like(JSON.parse(reported.text).data[0], { name: 'ours', notes: [{ title: 'theirs' }] })
})
