import test from 'ava'
import { codeIn, FULL, forge, openPeople, type People, payloadOf, SECRET, said } from './people.ts'
import type { Body } from './reading-room.ts'

// reference/rest.md#14-access; reference/safety.md
let people: People
test.before(async () => {
  people = await openPeople({ auth: '  jwtExpiresIn: 2h\n  register: { allowedFields: [nickname] }\n' })
})
test.after.always(() => people?.close())

const login = (identifier: unknown, password: unknown) =>
  people.call('POST', '/api/auth/local', { identifier, password })
const me = (token: string) => people.call('GET', '/api/users/me', undefined, token)
const register = (name: string, more: object = {}) =>
  people.call('POST', '/api/auth/local/register', {
    username: name,
    email: `${name}@example.com`,
    password: `${name}-password`,
    ...more,
  })
const idOf = async (name: string): Promise<number> => {
  const { body } = await people.call('GET', `/api/users?filters[username]=${name}`, undefined, FULL)
  return Number((body as unknown as readonly Body[])[0]?.id)
}

const SHOWN = [
  'blocked',
  'confirmed',
  'createdAt',
  'documentId',
  'email',
  'id',
  'nickname',
  'provider',
  'publishedAt',
  'updatedAt',
  'username',
]

test('a user signs in with the exact name, or with the mail address in any case', async t => {
  for (const identifier of ['ann', 'ann@example.com', 'ANN@Example.COM']) {
    const { status, headers, body } = await login(identifier, 'ann-password')
    t.is(status, 200, identifier)
    t.is(headers.get('cache-control'), 'no-store')
    t.deepEqual(Object.keys(body.user as Body).sort(), SHOWN)
    t.is(said(await me(String(body.jwt))), '200')
  }
  t.is(said(await login('ANN', 'ann-password')), '400 Invalid identifier or password')
})

test('an answer does not reveal whether an account exists', async t => {
  const [wrong, unknown] = await Promise.all([login('ann', 'nonsense'), login('unknown', 'nonsense')])
  t.is(said(wrong), '400 Invalid identifier or password')
  t.deepEqual(wrong.body, unknown.body)
  const asked = await Promise.all(
    ['ann@example.com', 'unknown@example.com'].map(email =>
      people.call('POST', '/api/auth/forgot-password', { email }),
    ),
  )
  for (const { status, body } of asked) {
    t.is(status, 200)
    t.deepEqual(body, { ok: true })
  }
})

test('a token identifies its user and expires as configured', async t => {
  const payload = payloadOf(await people.signIn('ann'))
  t.deepEqual(Object.keys(payload).sort(), ['exp', 'iat', 'id', 'sid', 'version'])
  t.is(payload.id, await idOf('ann'))
  t.is(Number(payload.exp) - Number(payload.iat), 7200)
})

test('an invalid credential is refused, also on public routes', async t => {
  const good = await people.signIn('ann')
  const { id } = payloadOf(good)
  const now = Math.floor(Date.now() / 1000)
  const payload = { id, version: 0, iat: now, exp: now + 600 }
  const header = { alg: 'HS256', typ: 'JWT' }
  t.is(said(await me(forge(header, payload))), '200')
  const [head = '', , signature = ''] = good.split('.')
  const bad = {
    garbage: 'garbage',
    'of three parts': 'a.b.c',
    expired: forge(header, { ...payload, iat: now - 60, exp: now - 1 }),
    unsigned: forge({ alg: 'none' }, payload).replace(/[^.]*$/, ''),
    'called unsigned, and signed': forge({ alg: 'none' }, payload),
    'of HS384': forge({ alg: 'HS384' }, payload, SECRET, 'sha384'),
    'of HS384 by name alone': forge({ alg: 'HS384' }, payload),
    'of another secret': forge(header, payload, `${SECRET}!`),
    changed: [head, Buffer.from(JSON.stringify({ ...payload, id: 1 })).toString('base64url'), signature].join(
      '.',
    ),
    'of another session': forge(header, { ...payload, version: 1 }),
    'without a session': forge(header, { id, iat: now, exp: now + 600 }),
    'without an end': forge(header, { id, version: 0, iat: now }),
    'of a user by text': forge(header, { ...payload, id: String(id) }),
  }
  for (const [what, token] of Object.entries(bad))
    for (const path of ['/api/users/me', '/api/i18n/locales', '/api/notes'])
      t.is(said(await people.call('GET', path, undefined, token)), '401 Missing or invalid credentials', what)
  const gone = forge(header, { ...payload, id: 2_000_000_000 })
  t.is(said(await me(gone)), '401 Invalid credentials')
})

test('users have the permissions of their role, including conditions on $user', async t => {
  const [ann, bob] = await Promise.all([people.signIn('ann'), people.signIn('bob')])
  const made = await people.call(
    'POST',
    '/api/notes',
    { data: { text: 'of ann', owner: await idOf('bob') } },
    ann,
  )
  t.is(made.status, 201)
  const texts = async (token: string) =>
    ((await people.call('GET', '/api/notes', undefined, token)).body.data as readonly Body[]).map(
      note => note.text,
    )
  t.deepEqual(await texts(ann), ['of ann'])
  t.deepEqual(await texts(bob), [])
  t.is(said(await people.call('GET', '/api/notes')), '403 Forbidden')
})

test('registering creates a user with the configured role and signs in', async t => {
  const { status, body } = await register('reg-one', { email: 'Reg-One@Example.com', nickname: 'Reg' })
  t.is(status, 200)
  const user = body.user as Body
  t.deepEqual(Object.keys(user).sort(), SHOWN)
  t.like(user, {
    email: 'reg-one@example.com',
    confirmed: true,
    blocked: false,
    provider: 'local',
    nickname: 'Reg',
  })
  t.is(said(await me(String(body.jwt))), '200')
  const { body: found } = await people.call(
    'GET',
    `/api/users/${String(user.id)}?populate=role`,
    undefined,
    FULL,
  )
  t.is((found.role as Body).type, 'authenticated')
})

test('registration accepts no more attributes than the project allows', async t => {
  for (const key of [
    'role',
    'confirmed',
    'blocked',
    'provider',
    'motto',
    'id',
    'documentId',
    'sessionVersion',
    'keptSession',
    'resetPasswordToken',
    'createdAt',
  ])
    t.is(said(await register('reg-two', { [key]: 1 })), `400 Invalid parameters: ${key}`)
  t.is(
    said(await register('reg-two', { nickname: 'x'.repeat(21) })),
    '400 nickname must be at most 20 characters',
  )
  t.is(said(await register('ann', { email: 'other@example.com' })), '400 Email or Username are already taken')
  t.is(
    said(await register('reg-two', { email: 'ANN@example.com' })),
    '400 Email or Username are already taken',
  )
  t.is(
    said(await register('ann@example.com', { email: 'reg-two@example.com' })),
    '400 Email or Username are already taken',
  )
  t.is(await idOf('reg-two'), Number.NaN)
})

test('names that differ only in white space or compatibility characters are equal', async t => {
  const made = await register('x', { username: ' Ｆｉｎｅ ', email: 'fine@example.com' })
  t.is(made.status, 200)
  t.is((made.body.user as Body).username, 'Fine')
  const again = (username: string) => register('y', { username, email: 'other@example.com' })
  for (const name of ['Fine', 'Ｆｉｎｅ', '\u00A0Fine\n', 'ﬁne'.replace('f', 'F').replace('ﬁ', 'Fi')])
    t.is(said(await again(name)), '400 Email or Username are already taken', name)
  for (const name of ['Fine', 'Ｆｉｎｅ', ' Fine']) t.is((await login(name, 'x-password')).status, 200, name)
  t.is(said(await again(' a ')), '400 username must be at least 3 characters')
  const { status, body } = await people.call(
    'PUT',
    `/api/users/${await idOf('Fine')}`,
    { username: 'Ｆｉｎｅｒ' },
    FULL,
  )
  t.deepEqual([status, body.username], [200, 'Finer'])
})

test('one of many concurrent registrations of a name succeeds', async t => {
  const all = await Promise.all(
    Array.from({ length: 6 }, (_, at) => register('reg-race', { email: `race${at}@example.com` })),
  )
  t.deepEqual(all.map(said).sort(), [
    '200',
    ...Array.from({ length: 5 }, () => '400 Email or Username are already taken'),
  ])
})

test('a changed password ends all other sessions, and only the new one signs in', async t => {
  const [here, there] = await Promise.all([people.signIn('bob'), people.signIn('bob')])
  const change = (body: object, token = here) => people.call('POST', '/api/auth/change-password', body, token)
  const next = {
    currentPassword: 'bob-password',
    password: 'bob-password-2',
    passwordConfirmation: 'bob-password-2',
  }
  t.is(
    said(await change({ ...next, currentPassword: 'nonsense' })),
    '400 The provided current password is invalid',
  )
  t.is(said(await change({ ...next, passwordConfirmation: 'bob-password-3' })), '400 Passwords do not match')
  const same = {
    currentPassword: 'bob-password',
    password: 'bob-password',
    passwordConfirmation: 'bob-password',
  }
  t.is(said(await change(same)), '400 Your new password must be different than your current password')
  t.is(said(await change({})), '400 3 errors occurred')
  t.is(said(await change(next, FULL)), '400 You must be authenticated to reset your password')
  t.is(said(await people.call('POST', '/api/auth/change-password', next)), '403 Forbidden')
  t.is(said(await me(there)), '200')

  const changed = await change(next)
  t.is(changed.status, 200)
  const renewed = String(changed.body.jwt)
  t.is(said(await me(there)), '401 Missing or invalid credentials')
  for (const token of [here, renewed])
    t.is(said(await me(token)), '200', 'front-ends may go on with the older one')
  t.is(said(await login('bob', 'bob-password')), '400 Invalid identifier or password')
  t.is(said(await login('bob', 'bob-password-2')), '200')

  const other = await people.signIn('bob', 'bob-password-2')
  const again = {
    currentPassword: 'bob-password-2',
    password: 'bob-password-4',
    passwordConfirmation: 'bob-password-4',
  }
  t.is((await change(again, renewed)).status, 200)
  t.is(said(await me(other)), '401 Missing or invalid credentials')
  for (const token of [here, renewed]) t.is(said(await me(token)), '200', 'still the same session')
  const elsewhere = await people.signIn('bob', 'bob-password-4')
  const last = {
    currentPassword: 'bob-password-4',
    password: 'bob-password-5',
    passwordConfirmation: 'bob-password-5',
  }
  t.is((await change(last, elsewhere)).status, 200)
  for (const token of [here, renewed]) t.is(said(await me(token)), '401 Missing or invalid credentials')
})

test('a forgotten password is set by a mailed code, which is valid once', async t => {
  const before = await people.signIn('dora')
  const forgot = (email: string) => people.call('POST', '/api/auth/forgot-password', { email })
  const reset = (code: unknown, password = 'dora-password-2') =>
    people.call('POST', '/api/auth/reset-password', { code, password, passwordConfirmation: password })
  t.is(said(await forgot('DORA@example.com')), '200')
  const [first] = await people.mailsTo('dora@example.com', 1)
  t.is(said(await forgot('dora@example.com')), '200')
  const [, second] = await people.mailsTo('dora@example.com', 2)

  for (const wrong of [
    'nonsense',
    'f'.repeat(64),
    `${codeIn(second)}z`,
    codeIn(second).replace(/^./, at => (at === '0' ? '1' : '0')),
  ])
    t.is(said(await reset(wrong)), '400 Incorrect code provided')
  const code = codeIn(second)
  const unequal = { code, password: 'dora-password-2', passwordConfirmation: 'dora-password-3' }
  t.like((await people.call('POST', '/api/auth/reset-password', unequal)).body.error, {
    message: 'Passwords do not match',
    details: { errors: [{ path: ['passwordConfirmation'], name: 'ValidationError' }] },
  })
  t.is(
    said(await reset({ $ne: null })),
    '400 code must be a `string` type, but the final value was: `{\n  "$ne": null\n}`.',
  )
  t.is(said(await reset(codeIn(first))), '400 Incorrect code provided')
  t.is(said(await reset(codeIn(second), 'short')), '400 password must be at least 6 characters')

  const done = await reset(codeIn(second))
  t.is(done.status, 200)
  t.is(said(await me(String(done.body.jwt))), '200')
  t.is(said(await me(before)), '401 Missing or invalid credentials')
  t.is(said(await reset(codeIn(second), 'dora-password-3')), '400 Incorrect code provided')
  t.is(said(await login('dora', 'dora-password-2')), '200')
})

test('one of two concurrent uses of a code sets the password', async t => {
  await register('twice')
  await people.call('POST', '/api/auth/forgot-password', { email: 'twice@example.com' })
  const [mail] = await people.mailsTo('twice@example.com', 1)
  const both = await Promise.all(
    ['twice-one', 'twice-two'].map(password =>
      people.call('POST', '/api/auth/reset-password', {
        code: codeIn(mail),
        password,
        passwordConfirmation: password,
      }),
    ),
  )
  t.deepEqual(both.map(said).sort(), ['200', '400 Incorrect code provided'])
})

test('a new mail address invalidates codes mailed to the old one', async t => {
  await register('mover')
  await people.call('POST', '/api/auth/forgot-password', { email: 'mover@example.com' })
  const [mail] = await people.mailsTo('mover@example.com', 1)
  const token = await people.signIn('mover')
  const id = await idOf('mover')
  t.is(said(await people.call('PUT', `/api/users/${id}`, { email: 'Moved@example.com' }, token)), '200')
  const password = 'mover-password-2'
  const reset = await people.call('POST', '/api/auth/reset-password', {
    code: codeIn(mail),
    password,
    passwordConfirmation: password,
  })
  t.is(said(reset), '400 Incorrect code provided')
  t.is(said(await login('moved@example.com', 'mover-password')), '200')
})

test('a blocked user is refused at once, and gets no mail', async t => {
  const token = await people.signIn('eve')
  const id = await idOf('eve')
  const block = (blocked: boolean) => people.call('PUT', `/api/users/${id}`, { blocked }, FULL)
  await people.call('POST', '/api/auth/forgot-password', { email: 'eve@example.com' })
  const [mail] = await people.mailsTo('eve@example.com', 1)
  t.is(said(await block(true)), '200')
  t.is(said(await me(token)), '401 Invalid credentials')
  t.is(said(await people.call('GET', '/api/i18n/locales', undefined, token)), '401 Invalid credentials')
  t.is(said(await login('eve', 'eve-password')), '400 Your account has been blocked by an administrator')
  t.is(said(await login('eve', 'nonsense')), '400 Invalid identifier or password')
  t.is(said(await people.call('POST', '/api/auth/forgot-password', { email: 'eve@example.com' })), '200')
  const password = 'eve-password-2'
  const reset = { code: codeIn(mail), password, passwordConfirmation: password }
  t.is(said(await people.call('POST', '/api/auth/reset-password', reset)), '400 Incorrect code provided')
  t.is(said(await block(false)), '200')
  t.is(said(await me(token)), '200')
  // The next mail is the second one: the one requested while blocked was never sent.
  await people.call('POST', '/api/auth/forgot-password', { email: 'eve@example.com' })
  t.is((await people.mailsTo('eve@example.com', 2)).length, 2)
})

test('a deleted user is rejected from the next request on', async t => {
  await register('leaver')
  const token = await people.signIn('leaver')
  const id = await idOf('leaver')
  t.is(
    said(await people.call('DELETE', `/api/users/${await idOf('ann')}`, undefined, token)),
    '403 Forbidden',
  )
  t.is(said(await people.call('DELETE', `/api/users/${id}`, undefined, token)), '200')
  t.is(said(await me(token)), '401 Invalid credentials')
  t.is((await people.call('DELETE', `/api/users/${id}`, undefined, FULL)).status, 204)
})

test('sign-in routes are not found by GET, unknown ones by no method', async t => {
  for (const path of [
    '/api/auth/local',
    '/api/auth/local/register',
    '/api/auth/reset-password',
    '/api/auth/refresh',
    '/api/auth/logout',
  ])
    t.is(said(await people.call('GET', path)), '404 Not Found', path)
  for (const body of [undefined, [], 'text', 5])
    t.is((await people.call('POST', '/api/auth/local', body)).status, 400)
})

test.after('logs contain no secret', t => {
  const log = people.server.log()
  for (const secret of ['-password', SECRET, '$2', 'eyJ']) t.false(log.includes(secret), secret)
})
