import test from 'ava'
import pg from 'pg'
import { FULL, openTwoApps } from '../cache/two-apps.ts'
import { until } from '../harness/until.ts'

const PROJECT = `
name: Reads during writes
server: { rateLimit: { api: false, auth: false, account: false } }
auth: { jwtSecret: secret-of-the-tests-of-reads-during-writes }
contentTypes:
  note: { attributes: { title: string } }
roles:
  public: { permissions: { note: [find] } }
  authenticated: { permissions: { note: [find] } }
apiTokens: { full: { type: full-access, secret: ${FULL} } }
`

test('reads are not blocked by writes that wait for a lock: anonymous callers, users, tokens, REST and GraphQL', async t => {
  const apps = await openTwoApps(PROJECT)
  t.teardown(() => apps.close())
  const { database } = apps
  const site = apps.cached
  await site.data('POST', '/api/notes', { title: 'one' })
  const account = { username: 'ann', email: 'ann@example.com', password: 'ann-password' }
  const { text } = await site.ask('POST', '/api/auth/local/register', { body: account })
  const { jwt } = JSON.parse(text) as { jwt: string }
  const { rows } = await database.run({ text: 'SELECT current_database()', values: [] })
  const url = new URL(process.env.TEST_DATABASE_URL ?? '')
  url.pathname = `/${String(rows[0]?.[0])}`
  const keeper = new pg.Client({ connectionString: url.href })
  await keeper.connect()
  t.teardown(() => keeper.end())
  await keeper.query('BEGIN; LOCK TABLE notes IN SHARE MODE')
  const writes = Array.from({ length: 12 }, (_, number) =>
    site.ask('POST', '/api/notes', { as: FULL, body: { data: { title: `${number}` } } }),
  )
  await until('writes wait for connections', () => database.connections().waiting >= 5)
  for (const as of [undefined, jwt, FULL]) {
    const asked = as === undefined ? {} : { as }
    const rest = await site.ask('GET', '/api/notes', asked)
    t.is(rest.status, 200, rest.text)
    const query = '{ notes { data { attributes { title } } } }'
    const graphql = await site.ask('POST', '/graphql', { ...asked, body: { query } })
    t.regex(graphql.text, /"title":"one"/)
  }
  t.true((await database.ping()).ok)
  t.true(database.connections().waiting >= 5, 'the writes wait still')
  await keeper.query('COMMIT')
  for (const { status } of await Promise.all(writes)) t.is(status, 201)
})
