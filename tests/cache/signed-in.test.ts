import anyTest, { type TestFn } from 'ava'
import { type Asking, FULL, openTwoApps, type TwoApps } from './two-apps.ts'

const PROJECT = `
name: Signed in
server: { rateLimit: { api: false, auth: false } }
auth: { jwtSecret: 0123456789-of-a-secret-for-a-test }
contentTypes:
  note: { attributes: { title: string, writer: { type: relation, relation: manyToOne, target: user } } }
roles:
  authenticated:
    permissions:
      note:
        find: { where: { writer: { id: { $eq: $user.id } } } }
        findOne: { where: { writer: { id: { $eq: $user.id } } } }
        create: true
apiTokens: { full: { type: full-access, secret: ${FULL} } }
`

const test = anyTest as TestFn<TwoApps>

test.before(async t => {
  t.context = await openTwoApps(PROJECT)
})

test.after.always(t => t.context.close())

async function signUp({ plain, database }: TwoApps, name: string): Promise<{ as: string; id: number }> {
  const body = { username: name, email: `${name}@example.com`, password: 'a long passphrase' }
  const reported = await plain.ask('POST', '/api/auth/local/register', { body })
  if (reported.status !== 200) throw new Error(reported.text)
  const { jwt, user } = JSON.parse(reported.text)
  await database.run({
    text: `WITH made AS (INSERT INTO notes (document_id, title, created_at, updated_at, published_at) VALUES ($1, $1, now(), now(), now()) RETURNING id)
      SELECT id FROM made`,
    values: [`note-of-${name}`],
  })
  await plain.data('PUT', `/api/notes/note-of-${name}`, { writer: user.id })
  return { as: jwt, id: user.id }
}

const PATHS = [
  '/api/notes?sort=title',
  '/api/notes/note-of-ann',
  `/graphql?query=${encodeURIComponent('{ notes { data { id attributes { title } } } }')}`,
] as const

test.serial('a cached response costs a signed-in user one statement, which includes the session', async t => {
  const { cached, plain } = t.context
  const ann = await signUp(t.context, 'ann')
  for (const path of PATHS) {
    const right = await plain.ask('GET', path, { as: ann.as })
    t.is(right.status, 200, right.text)
    for (let time = 0; time < 4; time++) await cached.ask('GET', path, { as: ann.as })
    cached.statements()
    const reported = await cached.ask('GET', path, { as: ann.as })
    t.is(reported.text, right.text)
    t.deepEqual(cached.statements(), ['prove an answer'], path)
    if (!path.startsWith('/api/')) continue
    const headers = { 'if-none-match': String(reported.headers.etag) }
    t.is((await cached.ask('GET', path, { as: ann.as, headers })).status, 304)
    t.deepEqual(cached.statements(), ['prove an answer'], `${path}: 304`)
  }
})

test.serial('an API token adds no statement', async t => {
  const { cached } = t.context
  const asking: Asking = { as: FULL }
  for (let time = 0; time < 2; time++) await cached.ask('GET', PATHS[0], asking)
  cached.statements()
  const reported = await cached.ask('GET', PATHS[0], asking)
  t.deepEqual(cached.statements(), ['prove an answer'])
  const headers = { 'if-none-match': String(reported.headers.etag) }
  t.is((await cached.ask('GET', PATHS[0], { ...asking, headers })).status, 304)
  t.deepEqual(cached.statements(), ['prove an answer'])
})

test.serial('users never share a response, and a write shows at once', async t => {
  const { cached, plain, database } = t.context
  const [bob, eve] = [await signUp(t.context, 'bob'), await signUp(t.context, 'eve')]
  for (let time = 0; time < 4; time++)
    for (const { as } of [bob, eve]) {
      const reported = await cached.ask('GET', PATHS[0], { as })
      t.is(reported.text, (await plain.ask('GET', PATHS[0], { as })).text)
    }
  await database.run({
    text: `UPDATE notes SET title = 'of bob' WHERE document_id = 'note-of-bob'`,
    values: [],
  })
  t.regex((await cached.ask('GET', PATHS[0], { as: bob.as })).text, /of bob/)
  t.notRegex((await cached.ask('GET', PATHS[0], { as: eve.as })).text, /of bob/)
})

test.serial(
  'a blocked or deleted user, or one with a new password, is refused from the next request on',
  async t => {
    const { cached, database } = t.context
    const endings = [
      'UPDATE plinth_users SET blocked = true WHERE id = $1',
      'UPDATE plinth_users SET session_version = 7 WHERE id = $1',
      'DELETE FROM plinth_users WHERE id = $1',
    ]
    for (const [index, text] of endings.entries()) {
      const user = await signUp(t.context, `user${index}`)
      const asking: Asking = { as: user.as }
      for (let time = 0; time < 4; time++) t.is((await cached.ask('GET', PATHS[0], asking)).status, 200)
      await database.run({ text, values: [user.id] })
      t.is((await cached.ask('GET', PATHS[0], asking)).status, 401, text)
    }
  },
)
