import test from 'ava'
import { once } from '../../core/base/memo.ts'
import { deriveSealKey, openSealing } from '../../core/identity/sign-in/sealing.ts'
import type { TestApp } from '../../core/testing.ts'
import { openTestApp, teardownOfFile } from '../harness/test-app.ts'
import { addUser } from './open-console.ts'

const file = teardownOfFile(test.after.always)

const SECRET = 'a-secret-of-thirty-two-characters'
const PROJECT = {
  name: 'Session',
  contentTypes: { note: { attributes: { text: 'string' } } },
  console: { enabled: 'always' },
  roles: { public: {}, editor: { permissions: { note: ['find'], users: ['me'] } } },
}

const openApp = once(async () => {
  const app = await openTestApp(file, { project: PROJECT as never, env: { JWT_SECRET: SECRET } })
  await addUser(app, 'editor')
  await addUser(app, 'editor', 'ben')
  return app
})

const PASSWORD = 'correct horse battery'

const signIn = async (app: TestApp, identifier = 'ann', password = PASSWORD): Promise<string> => {
  const { body } = await app.request('POST', '/api/auth/local', { body: { identifier, password } })
  return (body as { readonly jwt: string }).jwt
}

/** What a browser sends for the console's own page. */
const OWN = {
  host: 'site.example',
  origin: 'https://site.example',
  'sec-fetch-site': 'same-origin',
  'x-plinth-console': '1',
}

type Headers = Readonly<Record<string, string>>

const ask = (app: TestApp, method: 'POST' | 'DELETE', headers: Headers) =>
  app.request(method, '/console/session', { headers })

const begin = async (app: TestApp, token: string, headers: Headers = OWN) => {
  const answer = await ask(app, 'POST', { ...headers, authorization: `Bearer ${token}` })
  const [cookie = ''] = answer.headers['set-cookie'] ?? []
  return { status: answer.status, cookie, sent: cookie.split(';')[0] ?? '' }
}

const restore = async (app: TestApp, cookie: string, headers: Headers = OWN) => {
  const { status, body } = await ask(app, 'POST', { ...headers, cookie })
  return { status, jwt: (body as { readonly jwt?: string | null }).jwt }
}

test('a sign-in of the console survives a reload by a cookie that only its own page can use', async t => {
  const app = await openApp()
  const token = await signIn(app)
  const { status, cookie, sent } = await begin(app, token)
  t.is(status, 204)
  for (const part of ['Path=/console/session', 'Max-Age=43200', 'HttpOnly', 'SameSite=Strict', 'Secure'])
    t.true(cookie.split('; ').includes(part), part)
  t.false(cookie.includes(token))
  const restored = await restore(app, sent)
  t.is(restored.status, 200)
  const me = await app.request('GET', '/api/users/me', { token: String(restored.jwt) })
  t.is((me.body as { readonly username: string }).username, 'ann')

  const plain = await begin(app, token, { ...OWN, origin: 'http://site.example' })
  t.false(plain.cookie.includes('Secure'))
})

test('the cookie authenticates no request of the API, and is no token', async t => {
  const app = await openApp()
  const { sent } = await begin(app, await signIn(app))
  const ticket = sent.slice(sent.indexOf('=') + 1)
  t.is((await app.request('GET', '/api/notes', { headers: { ...OWN, cookie: sent } })).status, 403)
  t.is((await app.request('GET', '/api/users/me', { headers: { ...OWN, cookie: sent } })).status, 403)
  t.is((await app.request('GET', '/api/notes', { token: ticket })).status, 401)
  t.is((await begin(app, ticket)).status, 401)
})

test('requests of other pages and programs get neither a token nor a cookie', async t => {
  const app = await openApp()
  const token = await signIn(app)
  const { sent } = await begin(app, token)
  const { origin: _origin, ...withoutOrigin } = OWN
  const { 'x-plinth-console': _header, ...withoutHeader } = OWN
  const attacks: readonly Headers[] = [
    { ...OWN, origin: 'https://evil.example' },
    { ...OWN, origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' },
    { ...OWN, origin: 'https://other.site.example', 'sec-fetch-site': 'same-site' },
    { ...OWN, origin: 'https://site.example:8443' },
    { ...OWN, origin: 'https://site.example.evil.example' },
    { ...OWN, origin: 'null' },
    { ...OWN, 'sec-fetch-site': 'cross-site' },
    { ...OWN, 'sec-fetch-site': 'same-site' },
    { ...OWN, 'sec-fetch-site': 'none' },
    { ...OWN, 'x-plinth-console': '2' },
    withoutOrigin,
    withoutHeader,
    { ...withoutHeader, 'content-type': 'application/x-www-form-urlencoded' },
  ]
  for (const headers of attacks) {
    const name = JSON.stringify(headers)
    t.is((await restore(app, sent, headers)).status, 403, name)
    const begun = await begin(app, token, headers)
    t.is(begun.status, 403, name)
    t.is(begun.cookie, '', name)
    t.is((await ask(app, 'DELETE', { ...headers, cookie: sent })).status, 403, name)
  }
  t.is(typeof (await restore(app, sent)).jwt, 'string')
})

test('foreign, changed, expired and ended cookies restore nothing', async t => {
  const app = await openApp()
  const token = await signIn(app)
  const { sent } = await begin(app, token)
  const seal = openSealing(deriveSealKey(SECRET), [])
  const sealed = async (claims: Readonly<Record<string, unknown>>, lifetime = 60) =>
    `plinth_console=${await seal.seal(claims, lifetime)}`
  const foreign = openSealing(deriveSealKey('another-secret-of-many-characters'), [])
  for (const cookie of [
    '',
    'plinth_console=',
    'plinth_console=a.b.c.d.e',
    `${sent.slice(0, -8)}AAAAAAAA`,
    `plinth_console=${token}`,
    `plinth_console=${await foreign.seal({ purpose: 'console', key: 'k', token }, 60)}`,
    await sealed({ purpose: 'console', key: 'k', token }, -60),
    await sealed({ purpose: 'state', key: 'k', token }),
    await sealed({ purpose: 'console', key: 'k', token: 'none' }),
    'x'.repeat(5000),
  ])
    t.deepEqual(await restore(app, cookie), { status: 200, jwt: null }, cookie)
  t.is(typeof (await restore(app, await sealed({ purpose: 'console', key: 'k', token }))).jwt, 'string')

  const ended = await ask(app, 'DELETE', { ...OWN, cookie: sent })
  t.is(ended.status, 204)
  t.regex(String(ended.headers['set-cookie']), /plinth_console=; Path=\/console\/session; Max-Age=0/)
  t.deepEqual(await restore(app, sent), { status: 200, jwt: null })
  t.is(typeof (await restore(app, (await begin(app, token)).sent)).jwt, 'string')
})

test('a blocked user and a new password end the session of the cookie', async t => {
  const app = await openApp()
  const users = app.app.documents('plugin::users-permissions.user')
  const found = await users.findMany({ filters: { username: 'ben' } } as never)
  const [{ documentId }] = found as unknown as [{ readonly documentId: string }]
  const { sent } = await begin(app, await signIn(app, 'ben'))
  await users.update({ documentId, data: { blocked: true } } as never)
  t.is((await restore(app, sent)).jwt, null)
  await users.update({ documentId, data: { blocked: false } } as never)
  t.is(typeof (await restore(app, sent)).jwt, 'string')
  await users.update({ documentId, data: { password: 'another horse battery' } } as never)
  t.is((await restore(app, sent)).jwt, null)
  t.is((await begin(app, await signIn(app, 'ben', 'another horse battery'))).status, 204)
})

test('a server without a console has no such sessions', async t => {
  const app = await openTestApp(t, {
    project: { ...PROJECT, console: { enabled: 'never' } } as never,
    env: { JWT_SECRET: SECRET },
  })
  await addUser(app, 'editor')
  const begun = await begin(app, await signIn(app))
  t.is(begun.status, 404)
  t.is(begun.cookie, '')
})
