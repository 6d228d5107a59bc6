import test from 'ava'
import { FULL, openPeople, type People, type Reported, said } from './people.ts'
import type { Body } from './reading-room.ts'

// reference/rest.md#14-access: users, bare and by numeric id; reference/safety.md
let people: People
const tokens: Record<string, string> = { full: FULL }
const ids: Record<string, number> = {}

test.before(async () => {
  people = await openPeople()
  for (const name of ['ann', 'bob', 'cleo', 'dora']) tokens[name] = await people.signIn(name)
  for (const user of listOf(await get('/api/users?fields=username', 'full')))
    ids[String(user.username)] = Number(user.id)
})
test.after.always(() => people?.close())

const get = (path: string, as?: string): Promise<Reported> =>
  people.call('GET', path, undefined, as && tokens[as])
const send = (method: string, path: string, body: unknown, as = 'full'): Promise<Reported> =>
  people.call(method, path, body, tokens[as])
const listOf = ({ body }: Reported): readonly Body[] => body as unknown as readonly Body[]
const namesOf = (reported: Reported) => listOf(reported).map(user => user.username)

const make = (name: string, more: object = {}, as = 'full') =>
  send(
    'POST',
    '/api/users',
    { username: name, email: `${name}@example.com`, password: `${name}-password`, ...more },
    as,
  )
const roleId = async (type: string): Promise<number> => {
  const { body } = await get('/api/users-permissions/roles', 'full')
  return Number((body.roles as readonly Body[]).find(role => role.type === type)?.id)
}

test('users have no envelope, are addressed by number, and can be counted', async t => {
  const { status, body } = await get(
    `/api/users/${ids.ann}?fields=username&populate[role][fields]=type`,
    'full',
  )
  t.is(status, 200)
  t.like(body, { id: ids.ann, username: 'ann' })
  t.is((body.role as Body).type, 'authenticated')
  t.deepEqual(
    namesOf(
      await get(
        '/api/users?filters[username][$in][0]=ann&filters[username][$in][1]=bob&sort=username:desc',
        'full',
      ),
    ),
    ['bob', 'ann'],
  )
  t.is((await get('/api/users/count?filters[username]=ann', 'full')).body as unknown, 1)
  const absent = await get('/api/users/2000000000', 'full')
  t.deepEqual([absent.status, absent.body], [204, null])
  for (const id of ['abc', '-1', '1e3', '0x1', '1%00', '%'])
    t.is((await get(`/api/users/${id}`, 'full')).status, 400, id)
})

test('me requires a signed-in user: API tokens and anonymous callers have none', async t => {
  t.is((await get('/api/users/me', 'ann')).body.username, 'ann')
  t.is((await get('/api/users/me?fields=nickname', 'ann')).body.username, undefined)
  t.is((await get('/api/users/me?populate=role', 'ann')).body.role, undefined)
  t.is(said(await get('/api/users/me', 'full')), '401 Unauthorized')
  t.is(said(await get('/api/users/me')), '403 Forbidden')
  t.is(said(await get('/api/users/me', 'cleo')), '403 Forbidden')
})

test('a filter or search that the caller does not match does not refuse the session', async t => {
  for (const query of ['filters[username]=bob', '_q=bob'])
    t.is((await get(`/api/users/me?${query}`, 'ann')).status, 204, query)
  t.is((await get('/api/users/me?filters[username]=ann', 'ann')).body.username, 'ann')
  t.is(said(await get('/api/users/me?filters[username]=ann', 'full')), '401 Unauthorized')
})

test('secret attributes are never returned, and cannot be selected, filtered, sorted or searched by any caller', async t => {
  for (const key of [
    'password',
    'resetPasswordToken',
    'confirmationToken',
    'sessionVersion',
    'keptSession',
    'motto',
  ]) {
    for (const query of [
      `fields=${key}`,
      `sort=${key}`,
      `filters[${key}][$notNull]=true`,
      `filters[role][users][${key}]=x`,
    ])
      t.is((await get(`/api/users?${query}`, 'full')).status, 400, query)
    t.is((await get(`/api/users/count?filters[${key}][$notNull]=true`, 'full')).status, 400, key)
    for (const user of listOf(await get('/api/users?populate=*', 'full'))) t.false(key in user, key)
  }
  t.deepEqual(listOf(await get('/api/users?_q=$2', 'full')), [])
})

test('a role sees only permitted users and permitted attributes', async t => {
  const [user] = listOf(await get(`/api/users?filters[username]=bob`, 'ann'))
  t.deepEqual(
    Object.keys(user ?? {})
      .filter(key => !/At$|^id$|^documentId$/.test(key))
      .sort(),
    ['nickname', 'username'],
  )
  t.is(said(await get('/api/users?filters[email][$startsWith]=b', 'ann')), '400 Invalid key email')
  t.is(said(await get('/api/users?sort=email', 'ann')), '400 Invalid key email')
  t.is(said(await get('/api/users/count?filters[email][$startsWith]=b', 'ann')), '400 Invalid key email')
  t.is((await get(`/api/users/${ids.ann}`, 'ann')).body.username, 'ann')
  t.is((await get(`/api/users/${ids.bob}`, 'ann')).status, 204)
  t.is(said(await get('/api/users')), '403 Forbidden')
})

test('a user changes only the own account, within the permission', async t => {
  const put = (id: number | undefined, body: object) => send('PUT', `/api/users/${id}`, body, 'ann')
  t.is((await put(ids.ann, { nickname: 'Annie' })).body.nickname, 'Annie')
  t.is(said(await put(ids.bob, { nickname: 'Bobby' })), '403 Forbidden')
  for (const key of [
    'role',
    'confirmed',
    'blocked',
    'provider',
    'motto',
    'sessionVersion',
    'keptSession',
    'resetPasswordToken',
    'confirmationToken',
    'id',
    'documentId',
    'createdAt',
  ]) {
    const changed = await put(ids.ann, { [key]: 1 })
    t.is(changed.status, 400, `${key}: ${said(changed)}`)
  }
  const { body } = await get(`/api/users/${ids.ann}?populate=role`, 'full')
  t.like(body, { confirmed: true, blocked: false, provider: 'local' })
  t.is((body.role as Body).type, 'authenticated')
})

test('credentials cannot be written even with full access', async t => {
  for (const key of ['sessionVersion', 'keptSession', 'resetPasswordToken', 'confirmationToken'])
    t.is((await send('PUT', `/api/users/${ids.bob}`, { [key]: 5 })).status, 400, key)
  t.is(said(await get('/api/users/me', 'bob')), '200')
})

test('a caller creates users only of roles that it may assign, and the server sets the rest', async t => {
  const [authenticated, clerk] = await Promise.all(['authenticated', 'clerk'].map(roleId))
  const made = await make('made-by-cleo', { role: authenticated, confirmed: false, motto: 'mine' }, 'cleo')
  t.is(made.status, 201, said(made))
  t.like(made.body, { username: 'made-by-cleo', confirmed: true, provider: 'local' })
  t.is(said(await make('promoted', { role: clerk }, 'cleo')), '403 Forbidden')
  t.is(said(await send('PUT', `/api/users/${ids.bob}`, { role: clerk }, 'cleo')), '403 Forbidden')
  t.is(said(await send('PUT', `/api/users/${ids.cleo}`, { nickname: 'Chief' }, 'cleo')), '403 Forbidden')
  t.is(said(await make('refused', { role: authenticated }, 'ann')), '403 Forbidden')
  t.deepEqual(
    listOf(
      await get('/api/users?filters[username][$in][0]=promoted&filters[username][$in][1]=refused', 'full'),
    ),
    [],
  )
  t.is((await people.signIn('made-by-cleo')).split('.').length, 3)
})

test('a role is accepted by its key or its id, over REST and GraphQL', async t => {
  const made = await make('keyed', { role: 'authenticated' }, 'full')
  t.is(made.status, 201)
  const { id, role } = made.body as { id: number; role: Body }
  t.is(role.type, 'authenticated')
  const put = (input: unknown) => send('PUT', `/api/users/${id}`, { role: input }, 'full')
  for (const input of ['clerk', { set: ['authenticated'] }, { connect: ['clerk'] }, ['authenticated']]) {
    const { status, body } = await put(input)
    t.is(status, 200, JSON.stringify(body))
    const wanted = JSON.stringify(input).includes('clerk') ? 'clerk' : 'authenticated'
    t.is((body.role as Body).type, wanted, JSON.stringify(input))
  }
  const unknown = await put('clerc')
  t.is(said(unknown), '400 Unknown role `clerc`: did you mean `clerk`?')
  t.deepEqual((unknown.body.error as Body).details, {
    key: 'role',
    path: 'role',
    expected: 'the key or the id of a role',
  })
  t.regex(said(await put('nothing-like-it')), /^400 Unknown role `nothing-like-it`: expected one of /)
  t.is((await put(role.documentId)).status, 200, 'a documentId is still taken')
  const query = `mutation { user: updateUsersPermissionsUser(id: "${id}", data: { username: "keyed", email: "keyed@example.com", role: "clerk" }) { data { attributes { role { data { attributes { type } } } } } } }`
  const { body } = await send('POST', '/graphql', { query }, 'full')
  t.deepEqual(body.errors, undefined, JSON.stringify(body))
  t.regex(JSON.stringify(body), /"type":"clerk"/)
})

test('a new user requires a valid and unused name and address, a password and a known role', async t => {
  const role = await roleId('authenticated')
  t.is(said(await send('POST', '/api/users', {})), '400 4 errors occurred')
  t.is(said(await make('no-role')), '400 role is a required field')
  t.is(said(await make('ann', { role, email: 'new@example.com' })), '400 This attribute must be unique')
  t.is(said(await make('new', { role, email: 'ANN@example.com' })), '400 Email already taken')
  t.is(said(await make('new', { role, password: 'x'.repeat(73) })).slice(0, 3), '400')
  t.is(said(await make('new', { role: 2_000_000_000 })).slice(0, 3), '400')
  t.is(said(await send('PUT', `/api/users/${ids.bob}`, { username: 'ann' })), '400 Username already taken')
  t.is(
    said(await send('PUT', `/api/users/${ids.bob}`, { email: 'Ann@Example.com' })),
    '400 Email already taken',
  )
  const short = await send('PUT', `/api/users/${ids.bob}`, { username: 'b' })
  t.is(said(short), '400 username must be at least 3 characters')
  t.is((short.body as { error: { name: string } }).error.name, 'ValidationError')
  t.is(said(await send('PUT', '/api/users/2000000000', { nickname: 'x' })), '404 User not found')
  t.deepEqual(listOf(await get('/api/users?filters[username]=new', 'full')), [])
})

test('no user gets a name that is the address of another one, or an address that is a name', async t => {
  const role = await roleId('authenticated')
  const made = await make('Named@Example.com', { role, email: 'other@example.com' })
  t.is(made.status, 201, said(made))
  const put = (values: object) => send('PUT', `/api/users/${ids.bob}`, values)
  t.is(said(await put({ email: 'Other@example.com' })), '400 Email already taken')
  t.is(said(await put({ username: 'OTHER@example.com' })), '400 Username already taken')
  t.is(
    said(await make('OTHER@example.com', { role, email: 'new@example.com' })),
    '400 This attribute must be unique',
  )
  const lower = await send('PUT', `/api/users/${made.body.id}`, { username: 'named@example.com' })
  t.is(lower.status, 200, said(lower))
  t.is(said(await put({ email: 'Named@example.com' })), '400 Email already taken')
  t.is(said(await make('late', { role, email: 'NAMED@example.com' })), '400 Email already taken')
  const data = 'username: "bob", email: "named@example.com", password: "a-long-password"'
  const query = `mutation { updateUsersPermissionsUser(id: "${ids.bob}", data: { ${data} }) { data { id } } }`
  t.regex(JSON.stringify((await send('POST', '/graphql', { query }, 'full')).body), /Email already taken/)
  const own = await send('PUT', `/api/users/${made.body.id}`, { email: 'NAMED@example.com' })
  t.is(own.status, 200, said(own))
  t.is(said(await send('DELETE', `/api/users/${made.body.id}`, undefined)), '200')
})

test('no form of a body leaves a user without a role', async t => {
  const role = await roleId('clerk')
  for (const input of [
    {},
    [],
    [null],
    { set: [] },
    { connect: [] },
    { connect: null },
    { disconnect: [role] },
  ])
    t.is(said(await make('roleless', { role: input })), '400 role is a required field', JSON.stringify(input))
  const { body } = await make('roled', { role })
  const put = (input: unknown) => send('PUT', `/api/users/${String(body.id)}`, { role: input }, 'full')
  for (const input of [[], [null], { set: [] }, { connect: null }, { connect: [], disconnect: [role] }])
    t.is(said(await put(input)), '400 role cannot be removed: each user has a role', JSON.stringify(input))
  for (const input of [{}, { connect: [] }, { disconnect: [role], connect: [role] }])
    t.is(((await put(input)).body.role as Body).type, 'clerk', JSON.stringify(input))
  t.deepEqual(listOf(await get('/api/users?filters[role][$null]=true', 'full')), [])
})

test('a change of a user that cannot be read is refused', async t => {
  const { body } = await make('unread', { role: await roleId('clerk') })
  const path = `/api/users/${String(body.id)}`
  const list = await send('PUT', path, [{ blocked: true }], 'full')
  t.regex(said(list), /^400 this must be a `object` type/)
  const answer = await fetch(`${people.server.base}${path}`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${FULL}` },
    body: '{"blocked":true}',
  })
  t.is(answer.status, 400)
  t.is(said(await send('PUT', path, { blocked: true }, 'full')), '200')
})

test('a password that an admin sets ends the sessions of its user, and is valid at once', async t => {
  t.is(said(await get('/api/users/me', 'dora')), '200')
  const { status, body } = await send('PUT', `/api/users/${ids.dora}`, { password: 'dora-password-2' })
  t.is(status, 200)
  t.false('password' in body)
  t.is(said(await get('/api/users/me', 'dora')), '401 Missing or invalid credentials')
  t.is(said(await send('PUT', `/api/users/${ids.dora}`, { password: '' })), '400 password.notNull')
  await people.signIn('dora', 'dora-password-2')
})

test('a changed role applies from the next request on', async t => {
  const role = await roleId('clerk')
  await make('riser', { role: await roleId('authenticated') })
  const token = await people.signIn('riser')
  const me = () => people.call('GET', '/api/users/me', undefined, token)
  const { body } = await me()
  t.is(body.username, 'riser')
  t.is(said(await send('PUT', `/api/users/${String(body.id)}`, { role })), '200')
  t.is(said(await me()), '403 Forbidden')
})

test('a deleted user is returned, and the user’s documents stay without an owner', async t => {
  const { body: made } = await make('short-lived', { role: await roleId('authenticated') })
  const note = await send('POST', '/api/notes', { data: { text: 'x', owner: made.id } })
  t.is(note.status, 201)
  const gone = await send('DELETE', `/api/users/${String(made.id)}`, undefined)
  t.is(gone.status, 200)
  t.is(gone.body.username, 'short-lived')
  const id = String((note.body.data as Body).documentId)
  t.is(((await get(`/api/notes/${id}?populate=owner`, 'full')).body.data as Body).owner, null)
})

test('roles can be read, and changed only in the project file', async t => {
  const { body } = await get('/api/users-permissions/roles', 'full')
  t.deepEqual((body.roles as readonly Body[]).map(role => role.type).sort(), [
    'authenticated',
    'clerk',
    'public',
  ])
  const id = await roleId('clerk')
  const one = (await get(`/api/users-permissions/roles/${id}`, 'full')).body.role as Body
  t.is(one.type, 'clerk')
  t.is(said(await get('/api/users-permissions/roles/2000000000', 'full')), '404 Role not found')
  for (const [method, path] of [
    ['POST', ''],
    ['PUT', `/${id}`],
    ['DELETE', `/${id}`],
  ] as const)
    t.is((await send(method, `/api/users-permissions/roles${path}`, {})).status, 405, method)
  t.is(said(await get('/api/users-permissions/roles')), '403 Forbidden')
})
