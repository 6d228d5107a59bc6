import test from 'ava'
import { openTestApp } from '../harness/test-app.ts'

const PROJECT = {
  auth: { register: { enabled: true } },
  roles: { public: { permissions: { auth: '*' } }, authenticated: { permissions: { users: ['me'] } } },
}

test('a password set by code ends older sessions, other changes do not; addresses are lower-cased', async t => {
  const { app, request } = await openTestApp(t, { project: PROJECT })
  const account = { username: 'ann', email: 'ann@example.org', password: 'the-first-one' }
  const registered = await request('POST', '/api/auth/local/register', { body: account })
  const { jwt, user } = registered.body as { jwt: string; user: { documentId: string } }
  const users = app.documents('plugin::users-permissions.user')
  const change = (data: Record<string, unknown>) => users.update({ documentId: user.documentId, data })
  const status = async () => (await request('GET', '/api/users/me', { token: jwt })).status
  const changed = await change({ username: 'anna', email: 'Anna@Example.Org' })
  t.is(changed?.email, 'anna@example.org')
  t.is(await status(), 200)
  await change({ password: 'another-one' })
  t.is(await status(), 401)
})

test('answers of sign-in have no attributes that the permission `me` of the role leaves out', async t => {
  const app = await openTestApp(t, {
    project: {
      name: 'Sessions',
      contentTypes: {},
      server: { rateLimit: { auth: false, account: false } },
      user: {
        attributes: { nickname: 'string', credit: 'integer', note: { type: 'string', private: true } },
      },
      auth: { register: { allowedFields: ['nickname', 'credit'] } },
      roles: {
        public: { permissions: { auth: ['login', 'register'] } },
        authenticated: {
          permissions: { auth: ['changePassword'], users: { me: { fields: ['nickname'] } } },
        },
        whole: { permissions: { users: ['me'] } },
      },
      apiTokens: { full: { type: 'full-access', secret: 'a-token-of-more-than-thirty-two-letters' } },
    } as never,
  })
  const post = async (path: string, body: object, token?: string) =>
    (await app.request('POST', `/api/auth/${path}`, { body, ...(token && { token }) })).body as {
      readonly jwt: string
      readonly user: { readonly id: number }
    }
  const password = 'Password1'
  const shown = { username: 'ann', email: 'ann@example.com', nickname: 'an' }
  const made = await post('local/register', { ...shown, password, credit: 7 })
  const change = { currentPassword: password, password: 'Password2', passwordConfirmation: 'Password2' }
  const signIn = () => post('local', { identifier: 'ann', password: 'Password2' })
  for (const { user } of [made, await post('change-password', change, made.jwt), await signIn()]) {
    t.like(user, shown)
    t.false(Object.hasOwn(user, 'credit'))
  }
  const body = { role: 'whole' }
  await app.request('PUT', `/api/users/${made.user.id}`, {
    body,
    token: 'a-token-of-more-than-thirty-two-letters',
  })
  const { user } = await signIn()
  t.like(user, { ...shown, credit: 7 })
  t.false(Object.hasOwn(user, 'note'))
})

test('a registration generates uids, and takes no unique value of a component from another user', async t => {
  const app = await openTestApp(t, {
    project: {
      name: 'Profiles',
      contentTypes: {},
      server: { rateLimit: { auth: false, account: false } },
      components: { 'user.card': { attributes: { number: { type: 'string', unique: true } } } },
      user: {
        attributes: {
          slug: { type: 'uid', targetField: 'username', generate: true },
          card: { type: 'component', component: 'user.card' },
          cards: { type: 'component', component: 'user.card', repeatable: true },
        },
      },
      auth: { register: { allowedFields: ['slug', 'card', 'cards'] } },
      roles: {
        public: { permissions: { auth: ['login', 'register'] } },
        authenticated: { permissions: { users: ['me'] } },
      },
      apiTokens: { full: { type: 'full-access', secret: 'full-access-of-more-than-thirty-two-letters' } },
    } as never,
  })
  const register = async (username: string, more: object = {}) => {
    const body = {
      username,
      email: `${username.replace(' ', '')}@example.com`,
      password: 'Password1',
      ...more,
    }
    return (await app.request('POST', '/api/auth/local/register', { body })).body as {
      readonly user?: { readonly slug: string }
      readonly error?: {
        readonly message: string
        readonly details: { readonly errors: readonly { readonly path: readonly string[] }[] }
      }
    }
  }
  t.is((await register('Ann Lee', { card: { number: '7' } })).user?.slug, 'ann-lee')
  t.is((await register('ann lee1', { slug: 'chosen' })).user?.slug, 'chosen')
  t.is((await register('Ann-Lee')).user?.slug, 'ann-lee-1')
  for (const [path, more] of [
    ['card.number', { card: { number: '7' } }],
    ['cards.0.number', { cards: [{ number: '7' }] }],
    ['cards.1.number', { cards: [{ number: '8' }, { number: '8' }] }],
    ['cards.0.number', { card: { number: '9' }, cards: [{ number: '9' }] }],
    ['slug', { slug: 'chosen' }],
  ] as const) {
    const { error } = await register('bob', more)
    t.is(error?.message, 'This attribute must be unique', path)
    t.deepEqual(
      error?.details.errors.map(each => each.path.join('.')),
      [path],
    )
  }
  const full = { token: 'full-access-of-more-than-thirty-two-letters' }
  const made = await app.request('POST', '/api/users', {
    body: { username: 'eve', email: 'eve@example.com', password: 'Password1', role: 1, slug: 'chosen' },
    ...full,
  })
  const users = await app.request('GET', '/api/users?filters[slug]=ann-lee', full)
  const [ann] = users.body as readonly { readonly id: number }[]
  const changed = await app.request('PUT', `/api/users/${ann?.id}`, { body: { slug: 'chosen' }, ...full })
  for (const { status, body } of [made, changed]) {
    t.is(status, 400)
    t.like(body, { error: { name: 'ValidationError', details: { errors: [{ path: ['slug'] }] } } })
  }
  t.is((await register('bob', { card: { number: '8' } })).user?.slug, 'bob')
})
