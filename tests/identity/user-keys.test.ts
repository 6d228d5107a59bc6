import { createHash } from 'node:crypto'
import test, { type ExecutionContext } from 'ava'
import type { TestApp } from '../../core/testing.ts'
import { openTestApp } from '../harness/test-app.ts'
import { attacksOn } from './attacks.ts'

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

test('a key whose record was changed by hand grants nothing, instead of failing', async t => {
  const app = await open(t)
  const { key } = await app.make(app.ann, { permissions: [FIND] })
  t.is(await app.get(key), 200)
  for (const [permissions, status] of [
    ['{"all": true}', 401],
    [`"${FIND}"`, 401],
    ['[7, null, {}]', 403],
    [`["${FIND}"]`, 200],
  ] as const) {
    await app.app.sequelize.query('UPDATE plinth_user_keys SET permissions = $1::jsonb', {
      bind: [permissions],
    })
    t.is(await app.get(key), status, permissions)
  }
})

test('a narrow key gets no stored answer of its user, who gets their own', async t => {
  const app = await open(t)
  const reader = await app.make(app.ann, { permissions: [FIND] })
  const write = (token: string) =>
    app.request('POST', '/api/notes', {
      token,
      headers: { 'idempotency-key': 'once' },
      body: { data: { text: 'x' } },
    })
  const made = await write(app.ann)
  t.is(made.status, 201)
  t.is((await write(reader.key)).status, 403)
  t.deepEqual((await write(app.ann)).body, made.body)
  t.is(await app.app.documents('note').count({ status: 'published' }), 1)
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

test('a key that creates publishes what it creates, and takes no published version back', async t => {
  const app = await open(t)
  const [creating, updating] = [
    await app.make(app.ann, { permissions: [CREATE] }),
    await app.make(app.ann, { permissions: [UPDATE, FIND] }),
  ]
  const made = await app.request('POST', '/api/notes', { token: creating.key, body: { data: { text: 'a' } } })
  t.like(made, { status: 201 })
  const { documentId } = (made.body as { data: { documentId: string } }).data
  const unpublish = (token: string) =>
    app.request('POST', `/api/actions/notes/${documentId}/unpublish`, { token, body: {} })
  t.is((await unpublish(creating.key)).status, 403)
  t.is((await unpublish(updating.key)).status, 200)
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
  const change = { token: app.ann, body: NEW_PASSWORD }
  t.is((await app.request('POST', '/api/auth/change-password', change)).status, 200)
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

test('keys that a new password ended are neither listed nor counted', async t => {
  const app = await open(t)
  const fill = () => Promise.all(['a', 'b', 'c'].map(name => app.create(app.ann, { name })))
  const list = async () => (await app.request('GET', app.keys, { token: app.ann })).body as readonly Key[]
  t.deepEqual(
    (await fill()).map(({ status }) => status),
    [201, 201, 201],
  )
  t.is((await list()).length, 3)
  await app.request('POST', '/api/auth/change-password', { token: app.ann, body: NEW_PASSWORD })
  t.deepEqual(await list(), [])
  t.deepEqual(
    (await fill()).map(({ status }) => status),
    [201, 201, 201],
  )
})

const NEW_PASSWORD = { currentPassword: 'secret1', password: 'secret2', passwordConfirmation: 'secret2' }

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
    // Proposals are the caller's own permissions.
    [{ name: 'a', permissions: ['api::note.note.delet'] }, /unknown permission (?!.*delete`)/],
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

interface Keys extends Awaited<ReturnType<typeof open>> {
  /** A session of another user. */
  readonly bob: string
  /** Of ann, with all of her permissions. */
  readonly whole: Key
  /** Of ann, with one permission. */
  readonly narrow: Key
}

type KeyAttack = (keys: Keys) => Promise<number>

const NOTE = { data: { text: 'x' } }

const ask =
  (method: string, path: string, body?: object, of: 'whole' | 'narrow' = 'narrow'): KeyAttack =>
  async ({ request, ...keys }) =>
    (await request(method, path, { token: keys[of].key, ...(body && { body }) })).status

const forged =
  (change: (key: Key) => string): KeyAttack =>
  ({ get, whole }) =>
    get(change(whole))

const PASSWORDS = { currentPassword: 'secret1', password: 'secret3', passwordConfirmation: 'secret3' }

/** Each is answered 400 to 404, and changes nothing. */
const ATTACKS_BY_KEY: Readonly<Record<string, KeyAttack>> = {
  'a narrow key that creates': ask('POST', '/api/notes', NOTE),
  'a narrow key that updates': ask('PUT', '/api/notes/a', NOTE),
  'a narrow key that reads drafts': ask('GET', '/api/notes?status=draft'),
  'a narrow key that reads its user': ask('GET', '/api/users/me'),
  'a narrow key that reads permissions': ask('GET', '/api/users/me/permissions'),
  'a narrow key that reads users': ask('GET', '/api/users'),
  'a narrow key that changes the password': ask('POST', '/api/auth/change-password', PASSWORDS),
  'a narrow key with another method': async ({ request, narrow }) =>
    (
      await request('GET', '/api/notes', {
        token: narrow.key,
        headers: { 'x-http-method-override': 'DELETE', 'x-requested-method': 'POST' },
      })
    ).status === 200
      ? 403
      : 200,
  'a narrow key that writes over GraphQL': async ({ graphql, narrow }) => {
    const answer = await graphql(
      'mutation { createNote(data: { text: "y" }) { data { id } } }',
      {},
      { token: narrow.key },
    )
    return JSON.stringify(answer).includes('Forbidden') ? 403 : 200
  },
  'a narrow key that reads its user over GraphQL': async ({ graphql, narrow }) => {
    const answer = await graphql('{ me { username } }', {}, { token: narrow.key })
    return JSON.stringify(answer).includes('"me":null') ? 403 : 200
  },
  'a key that creates a key': ask('POST', '/api/users/me/keys', { name: 'more' }, 'whole'),
  'a key that lists keys': ask('GET', '/api/users/me/keys', undefined, 'whole'),
  'a key that deletes itself': async ({ request, whole, keys }) =>
    (await request('DELETE', `${keys}/${whole.id}`, { token: whole.key })).status,
  'a key at the console': async ({ request, whole }) => {
    const headers = {
      ...{ host: 'site.example', origin: 'https://site.example', 'x-plinth-console': '1' },
      authorization: `Bearer ${whole.key}`,
    }
    return (await request('POST', '/console/session', { headers })).status
  },
  'a key at the views of the console': ask('GET', '/api/console/model', undefined, 'whole'),
  'a key as a code of a provider': async ({ request, whole }) =>
    (await request('GET', `/api/auth/company/callback?access_token=${whole.key}`)).status,
  'a key in the query': async ({ request, whole }) =>
    (await request('GET', `/api/notes?access_token=${whole.key}&token=${whole.key}`)).status,
  'a key in a cookie': async ({ request, whole }) =>
    (
      await request('GET', '/api/notes', {
        headers: { cookie: `jwt=${whole.key}; plinth_console=${whole.key}` },
      })
    ).status,
  'a key as a password': async ({ request, whole }) =>
    (await request('POST', '/api/auth/local', { body: { identifier: 'ann', password: whole.key } })).status,
  'a key with Basic': async ({ request, whole }) =>
    (
      await request('GET', '/api/notes', {
        headers: { authorization: `Basic ${Buffer.from(`ann:${whole.key}`).toString('base64')}` },
      })
    ).status,
  'the id of a key': forged(({ id }) => `plinth_key_${id}`),
  'the hash of a key': forged(
    ({ key }) => `plinth_key_${createHash('sha256').update(key).digest('base64url')}`,
  ),
  'a key with its prefix twice': forged(({ key }) => `plinth_key_${key}`),
  'a key without its prefix': forged(({ key }) => key.slice('plinth_key_'.length)),
  'a key with another prefix': forged(({ key }) => key.replace('plinth', 'PLINTH')),
  'a key with padding': forged(({ key }) => `${key}=`),
  'a key in other letters': forged(({ key }) => key.slice(0, -1) + (key.endsWith('A') ? 'B' : 'A')),
  'two keys': forged(({ key }) => `${key},${key}`),
  'a key with a claim': forged(({ key }) => `${key}.${Buffer.from('{"id":1}').toString('base64url')}.`),
  "another user's key is deleted": async ({ request, bob, keys, whole }) =>
    (await request('DELETE', `${keys}/${whole.id}`, { token: bob })).status,
  "another user's key is deleted by its text": async ({ request, bob, keys, whole }) =>
    (await request('DELETE', `${keys}/${whole.key}`, { token: bob })).status,
  'every key is deleted': async ({ request, ann, keys }) =>
    (await request('DELETE', `${keys}/%25`, { token: ann })).status,
  'a revoked key': async ({ request, make, get, ann, keys }) => {
    const { key, id } = await make(ann)
    await request('DELETE', `${keys}/${id}`, { token: ann })
    return get(key)
  },
  'an expired key': async ({ app, make, get, ann, request, keys }) => {
    const { key, id } = await make(ann)
    const text = "UPDATE plinth_user_keys SET expires_at = now() - interval '1 second' WHERE id = :id"
    await app.sequelize.query(text, { replacements: { id } })
    const status = await get(key)
    await request('DELETE', `${keys}/${id}`, { token: ann })
    return status
  },
  'a key of a blocked user': async ({ make, get, update, bob }) => {
    const { key } = await make(bob)
    await update('bob', { blocked: true })
    const status = await get(key)
    await update('bob', { blocked: false })
    return status
  },
  'a key of before a new password': async ({ make, get, update, bob }) => {
    const { key } = await make(bob)
    await update('bob', { password: 'secret2' })
    return get(key)
  },
}

/** Each is answered 400, and creates no key. */
const ATTACKS_ON_KEYS: Readonly<Record<string, object>> = {
  'for another user': { user: 2 },
  'for another document': { documentId: 'a' },
  'with a hash of its own': { hash: 'sha256:00' },
  'with a key of its own': { key: `plinth_key_${'A'.repeat(43)}` },
  'with an id of its own': { id: 'a' },
  'with a session of its own': { sessionVersion: 0 },
  'with a permission that the role lacks': { permissions: ['api::note.note.delete'] },
  'with every permission': { permissions: ['*'] },
  'with a pattern of permissions': { permissions: ['api::note.note.*'] },
  'with a permission in capitals': { permissions: [FIND.toUpperCase()] },
  'with a permission with a space': { permissions: [`${FIND} `] },
  'with a permission of every object': { permissions: ['__proto__'] },
  'with a permission that is an object': { permissions: [{ toString: FIND }] },
  'with a permission in a list': { permissions: [[FIND]] },
  'with permissions as an object': { permissions: { [FIND]: true } },
  'with an expiry in the past': { expiresAt: '2000-01-01T00:00:00Z' },
  'with an expiry beyond the lifetime': { expiresAt: '2999-01-01T00:00:00Z' },
  'with an expiry of no end': { expiresAt: 'infinity' },
  'with an expiry that is a number': { expiresAt: 9e15 },
  'with a name of NUL': { name: 'a\0' },
  'with a prototype': JSON.parse('{"__proto__":{"permissions":[]},"constructor":1}'),
}

test('attacks with keys and on keys are refused', async t => {
  const opened = await open(t, { keys: { enabled: true, most: 10 } })
  const bob = await register(opened, 'bob')
  const keys = {
    ...{ ...opened, bob },
    ...{
      whole: await opened.make(opened.ann),
      narrow: await opened.make(opened.ann, { permissions: [FIND] }),
    },
  }
  const succeeded: string[] = []
  for (const [name, attack] of attacksOn(t, 'API keys', ATTACKS_BY_KEY)) {
    const status = await attack(keys)
    if (![400, 401, 403, 404].includes(status)) succeeded.push(`${name}: ${status}`)
  }
  for (const [name, body] of attacksOn(t, 'requests for API keys', ATTACKS_ON_KEYS)) {
    const { status } = await opened.create(opened.ann, { name: 'evil', ...body })
    if (status !== 400) succeeded.push(`${name}: ${status}`)
  }
  t.deepEqual(succeeded, [])
  t.deepEqual([await keys.get(keys.whole.key), await keys.get(keys.narrow.key)], [200, 200])
  const list = (await opened.request('GET', opened.keys, { token: opened.ann })).body as readonly object[]
  t.is(list.length, 2)
  t.is((await opened.request('GET', '/api/users/me', { token: opened.ann })).status, 200)
})
