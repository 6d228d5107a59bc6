import test from 'ava'
import { FULL, forge, openPeople, type People, payloadOf, SECRET, said } from './people.ts'

// reference/safety.md#s7-authentication: every route with every invalid credential: never more than an anonymous caller gets, and never treated as anonymous.
let people: People
let bad: Readonly<Record<string, string>> = {}
let blocked = ''

test.before(async () => {
  people = await openPeople()
  const [revoked, changing, ofBlocked] = await Promise.all([
    people.signIn('bob'),
    people.signIn('bob'),
    people.signIn('eve'),
  ])
  const next = {
    currentPassword: 'bob-password',
    password: 'bob-password-2',
    passwordConfirmation: 'bob-password-2',
  }
  await people.call('POST', '/api/auth/change-password', next, changing)
  await people.call('PUT', `/api/users/${Number(payloadOf(ofBlocked).id)}`, { blocked: true }, FULL)
  blocked = ofBlocked
  const now = Math.floor(Date.now() / 1000)
  const payload = {
    id: Number(payloadOf(await people.signIn('ann')).id),
    version: 0,
    iat: now,
    exp: now + 600,
  }
  bad = {
    garbage: 'garbage',
    revoked,
    expired: forge({ alg: 'HS256' }, { ...payload, iat: now - 60, exp: now - 1 }),
    unsigned: forge({ alg: 'none' }, payload).replace(/[^.]*$/, ''),
    'of HS384': forge({ alg: 'HS384' }, payload, SECRET, 'sha384'),
    'of another secret': forge({ alg: 'HS256' }, payload, `${SECRET}!`),
    'almost a token of the project': `${FULL}0`,
  }
})
test.after.always(() => people?.close())

const ROUTES = [
  'GET /api/notes',
  'POST /api/notes',
  'GET /api/notes/x',
  'PUT /api/notes/x',
  'DELETE /api/notes/x',
  'GET /api/users',
  'POST /api/users',
  'GET /api/users/me',
  'GET /api/users/count',
  'GET /api/users/1',
  'PUT /api/users/1',
  'DELETE /api/users/1',
  'GET /api/users-permissions/roles',
  'GET /api/users-permissions/roles/1',
  'GET /api/users-permissions/permissions',
  'GET /api/i18n/locales',
  'GET /api/upload/files',
  'GET /api/upload/files/1',
  'DELETE /api/upload/files/1',
  'POST /api/upload',
  'POST /api/auth/local',
  'POST /api/auth/local/register',
  'POST /api/auth/change-password',
  'POST /api/auth/forgot-password',
  'POST /api/auth/reset-password',
  'POST /api/auth/send-email-confirmation',
  'GET /api/auth/email-confirmation',
] as const

const BODY = {
  identifier: 'ann',
  password: 'ann-password',
  username: 'new',
  email: 'ann@example.com',
  data: { text: 'x' },
}

for (const route of ROUTES) {
  test(`${route} refuses an invalid credential`, async t => {
    const [method = '', path = ''] = route.split(' ')
    const body = method === 'GET' || method === 'DELETE' ? undefined : BODY
    for (const [what, token] of Object.entries(bad))
      t.is(said(await people.call(method, path, body, token)), '401 Missing or invalid credentials', what)
    t.is(said(await people.call(method, path, body, blocked)), '401 Invalid credentials')
  })
}

test('anonymous callers may use public routes, and sign in', async t => {
  const open = [
    'GET /api/i18n/locales',
    /^POST \/api\/auth\/(?!change-password)/,
    'GET /api/auth/email-confirmation',
  ]
  for (const route of ROUTES) {
    const [method = '', path = ''] = route.split(' ')
    const isOpen = open.some(each => (typeof each === 'string' ? each === route : each.test(route)))
    const { status } = await people.call(method, path, method === 'POST' || method === 'PUT' ? {} : undefined)
    t.is(status === 403, !isOpen, `${route} ${status}`)
  }
})
