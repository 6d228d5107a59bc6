import test, { type ExecutionContext } from 'ava'
import type { TestApp } from '../../core/testing.ts'
import { openTestApp } from '../harness/test-app.ts'

// API keys that users create for themselves.

const FIND = 'api::note.note.find'
const CREATE = 'api::note.note.create'
const UPDATE = 'api::note.note.update'

const project = (auth: object = {}) => ({
  contentTypes: {
    note: { draftAndPublish: true, attributes: { text: 'string', owner: 'string' } },
  },
  auth: { keys: { enabled: true, most: 3 }, ...auth },
  server: { rateLimit: { auth: false, account: false }, explainDenials: true },
  roles: {
    public: { permissions: { auth: ['login', 'register'] } },
    authenticated: {
      permissions: {
        users: ['me'],
        auth: ['changePassword'],
        note: {
          ...{ find: { where: { owner: { $eq: '$user.username' } } }, update: true },
          create: { set: { owner: '$user.username' } },
        },
      },
    },
    guest: { permissions: {} },
  },
})

interface Key {
  readonly id: string
  readonly key: string
}

async function register(app: TestApp, username: string) {
  const body = { username, email: `${username}@example.com`, password: 'secret1' }
  const answer = await app.request('POST', '/api/auth/local/register', { body })
  return (answer.body as { jwt: string }).jwt
}

async function open(t: ExecutionContext, auth: object = {}) {
  const app = await openTestApp(t, { project: project(auth) })
  const ann = await register(app, 'ann')
  const keys = '/api/users/me/keys'
  const create = (token: string, body: object) => app.request('POST', keys, { token, body })
  const make = async (token: string, body: object = {}) =>
    (await create(token, { name: 'script', ...body })).body as Key
  const get = async (token: string, path = '/api/notes') => (await app.request('GET', path, { token })).status
  const users = app.app.documents('plugin::users-permissions.user')
  const update = async (username: string, data: Record<string, unknown>) => {
    const user = await users.findFirst({ filters: { username } })
    await users.update({ documentId: String(user?.documentId), data })
  }
  return { ...app, ann, keys, create, make, get, users, update }
}

test('a key has the permissions of its user, over REST and GraphQL, until it is deleted', async t => {
  const app = await open(t)
  const { ann, keys } = app
  const made = await app.create(ann, { name: ' script ' })
  t.is(made.status, 201)
  t.is(made.headers['cache-control'], 'no-store')
  const { key, id } = made.body as Key
  t.regex(key, /^plinth_key_[\w-]{43}$/)
  t.is((await app.request('POST', '/api/notes', { token: key, body: { data: { text: 'a' } } })).status, 201)
  t.like(await app.app.documents('note').findFirst(), { text: 'a', owner: 'ann' })
  t.like((await app.request('GET', '/api/users/me', { token: key })).body, { username: 'ann' })
  t.like(await app.graphql('{ notes { data { attributes { text } } } }', {}, { token: key }), {
    data: { notes: { data: [{ attributes: { text: 'a' } }] } },
  })
  const list = (await app.request('GET', keys, { token: ann })).body as Readonly<Record<string, unknown>>[]
  t.deepEqual(Object.keys(list[0] ?? {}), ['id', 'name', 'permissions', 'createdAt', 'expiresAt'])
  t.like(list, [{ id, name: 'script', permissions: null }])

  const bob = await register(app, 'bob')
  t.deepEqual((await app.request('GET', keys, { token: bob })).body, [])
  t.is((await app.request('DELETE', `${keys}/${id}`, { token: bob })).status, 404)
  t.is(await app.get(key), 200)
  t.is((await app.request('DELETE', `${keys}/${id}`, { token: ann })).status, 204)
  t.is(await app.get(key), 401)
  t.is((await app.request('DELETE', `${keys}/${id}`, { token: ann })).status, 404)
  for (const odd of ['%00', '%E0%A4%A', 'a'.repeat(5_000)])
    t.is((await app.request('DELETE', `${keys}/${odd}`, { token: ann })).status, 404, odd.slice(0, 10))
})

test('a narrow key has a part of the permissions, and never more than the role', async t => {
  const app = await open(t)
  const { ann } = app
  const reader = await app.make(ann, { permissions: [FIND] })
  const writer = await app.make(ann, { permissions: [CREATE, UPDATE, FIND] })
  const write = async (token: string) =>
    (await app.request('POST', '/api/notes', { token, body: { data: { text: 'x' } } })).status
  t.deepEqual([await app.get(reader.key), await write(reader.key), await write(writer.key)], [200, 403, 201])
  t.is(await app.get(reader.key, '/api/users/me'), 403)
  t.is(await app.get(reader.key, '/api/notes?status=draft'), 403)
  t.is(await app.get(writer.key, '/api/notes?status=draft'), 200)
  const refused = await app.graphql(
    'mutation { createNote(data: { text: "y" }) { data { id } } }',
    {},
    { token: reader.key },
  )
  t.regex(JSON.stringify(refused), /Forbidden/)
  // A role that has less gives its keys less; a role that has more does not.
  await app.update('ann', { role: null })
  t.is(await app.get(reader.key), 200)
  const guest = await app.app
    .documents('plugin::users-permissions.role')
    .findFirst({ filters: { type: 'guest' } })
  await app.update('ann', { role: guest?.documentId })
  t.deepEqual([await app.get(reader.key), await write(writer.key)], [403, 403])
})

test('keys do not manage keys, nor open what is for signed-in users if they are narrow', async t => {
  const app = await open(t)
  const all = await app.make(app.ann)
  const narrow = await app.make(app.ann, { permissions: ['plugin::users-permissions.user.me'] })
  for (const { key, id } of [all, narrow]) {
    t.is((await app.create(key, { name: 'more' })).status, 403)
    t.is(await app.get(key, app.keys), 403)
    t.is((await app.request('DELETE', `${app.keys}/${id}`, { token: key })).status, 403)
  }
  t.is((await app.create('', { name: 'a' })).status, 403)
})

test('keys end with their time, a new password, and a blocked or deleted user', async t => {
  const app = await open(t)
  const soon = new Date(Date.now() + 600_000).toISOString()
  const short = await app.make(app.ann, { expiresAt: soon })
  const long = await app.make(app.ann)
  t.is(await app.get(short.key), 200)
  await app.update('ann', { blocked: true })
  t.is(await app.get(long.key), 401)
  await app.update('ann', { blocked: false })
  t.is(await app.get(long.key), 200)
  await app.app.sequelize.query(
    "UPDATE plinth_user_keys SET expires_at = now() - interval '1 second' WHERE id = :id",
    {
      replacements: { id: short.id },
    },
  )
  t.is(await app.get(short.key), 401)
  const change = { currentPassword: 'secret1', password: 'secret2', passwordConfirmation: 'secret2' }
  t.is((await app.request('POST', '/api/auth/change-password', { token: app.ann, body: change })).status, 200)
  t.is(await app.get(long.key), 401)
  const jwt = await register(app, 'carl')
  const { key } = await app.make(jwt)
  const carl = await app.users.findFirst({ filters: { username: 'carl' } })
  const [before] = await app.app.sequelize.query('SELECT count(*)::int AS n FROM plinth_user_keys')
  await app.users.delete({ documentId: String(carl?.documentId) })
  t.is(await app.get(key), 401)
  const [after] = await app.app.sequelize.query('SELECT count(*)::int AS n FROM plinth_user_keys')
  t.is(Number((after[0] as { n: number }).n), Number((before[0] as { n: number }).n) - 1)
})

test('wrong keys and wrong requests for keys are refused', async t => {
  const app = await open(t)
  const { key } = await app.make(app.ann)
  for (const forged of [
    ...['plinth_key_', `${key}x`, key.slice(0, -1), key.toUpperCase(), `plinth_key_${'A'.repeat(43)}`],
    ...[`plinth_key_${'A'.repeat(9_000)}`, "plinth_key_'OR(1=1)--", 'plinth_key_\u00e4'],
  ])
    t.is(await app.get(forged), 401, forged.slice(0, 30))
  for (const [body, fault] of [
    [{}, /name must be a text/],
    [{ name: '' }, /name must be a text/],
    [{ name: 'x'.repeat(101) }, /name must be a text/],
    [{ name: 5 }, /name must be a text/],
    [{ name: 'a', scopes: [] }, /Invalid key scopes/],
    [{ name: 'a', permissions: FIND }, /permissions must be a list/],
    [
      { name: 'a', permissions: ['api::note.note.fnd'] },
      /unknown permission api::note\.note\.fnd.*api::note\.note\.find/,
    ],
    [{ name: 'a', permissions: [null] }, /unknown permission/],
    [{ name: 'a', permissions: ['api::note.note.delete'] }, /you do not have the permission/],
    [{ name: 'a', expiresAt: '2000-01-01' }, /expiresAt must be a time in the future/],
    [{ name: 'a', expiresAt: '2999-01-01' }, /expiresAt must be a time/],
    [{ name: 'a', expiresAt: 'soon' }, /expiresAt must be a time/],
  ] as const) {
    const answer = await app.create(app.ann, body)
    t.is(answer.status, 400, JSON.stringify(body))
    t.regex(JSON.stringify(answer.body), fault)
  }
  const made = await Promise.all(Array.from({ length: 6 }, () => app.create(app.ann, { name: 'many' })))
  t.deepEqual(made.map(({ status }) => status).toSorted(), [201, 201, 400, 400, 400, 400])

  const off = await openTestApp(t, { project: project({ keys: { enabled: false } }) })
  const jwt = await register(off, 'ann')
  t.is((await off.request('POST', '/api/users/me/keys', { token: jwt, body: { name: 'a' } })).status, 404)
  t.is((await off.request('GET', '/api/notes', { token: key })).status, 401)
})
