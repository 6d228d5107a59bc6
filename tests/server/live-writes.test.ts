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

test('a write that PostgreSQL ends as the victim of a deadlock is done all the same', async t => {
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

  await other.query('BEGIN')
  await other.query(`UPDATE notes SET title = 'theirs'`)
  const body = { data: { name: 'ours', notes: [note.documentId] } }
  const put = plain.ask('PUT', `/api/shelves/${shelf.documentId}`, { as: FULL, body })
  await until('the write waits for the note', async () => {
    const text = `SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`
    return (await database.run({ text, values: [] })).rows.length > 0
  })
  // It has the shelf. It waits for longer than this one, so that it is it who is ended.
  await other.query(`UPDATE shelves SET name = 'theirs'`)
  await other.query('COMMIT')
  const { status, text } = await put
  t.is(status, 200, text)
  const told = await plain.ask('GET', '/api/shelves?populate=notes', { as: FULL })
  t.like(JSON.parse(told.text).data[0], { name: 'ours', notes: [{ title: 'theirs' }] })
})
