import test, { type ExecutionContext } from 'ava'
import { deriveSealKey, openSealing } from '../../core/identity/sign-in/sealing.ts'
import type { TestApp } from '../../core/testing.ts'
import { openTestApp } from '../harness/test-app.ts'
import { ATTACKS, attacksOn } from './attacks.ts'
import {
  type Answers,
  API,
  begin,
  codeOf,
  exchange,
  FRONT,
  openHostileProvider,
  openRealProvider,
  project,
  receive,
  type Session,
} from './oidc-providers.ts'

// Attacks on the sign-in at providers, by a browser, a page or a user of the provider. None gets a session of another user,
// none leads a browser to another page, and none is a failure of the server.

const SECRET = 'a-secret-of-thirty-two-characters'

test('attacks on the sign-in are 110 or more', t => {
  const total = Object.values(ATTACKS).reduce((sum, count) => sum + count, 0)
  t.true(total >= 110, String(total))
})

const PAGES: Readonly<Record<string, string>> = {
  'another host': 'https://evil.example',
  'another host without a scheme': '//evil.example',
  'another host with three slashes': '///evil.example/connect/company/redirect',
  'a backslash for a slash': '/\\evil.example',
  'backslashes for the slashes': 'https:\\\\evil.example\\connect\\company\\redirect',
  'a backslash before the host': `https://evil.example\\@www.example.com/connect/company/redirect`,
  'a host that begins with the own': 'https://www.example.com.evil.example/connect/company/redirect',
  'a host that ends with the own': 'https://evilwww.example.com/connect/company/redirect',
  'the own host as the user': 'https://www.example.com@evil.example/connect/company/redirect',
  'the own host as user and password': 'https://www.example.com:443@evil.example/connect/company/redirect',
  'a user before the own host': 'https://evil@www.example.com/connect/company/redirect',
  'an encoded @': 'https://www.example.com%40evil.example/connect/company/redirect',
  'a dot after the host': 'https://www.example.com./connect/company/redirect',
  'a host with a full stop of another script': 'https://www.example。com/connect/company/redirect',
  'a host in full width': 'https://ｗｗｗ.example.com/connect/company/redirect',
  'a host with a Cyrillic letter': 'https://www.exаmple.com/connect/company/redirect',
  'a host in Punycode': 'https://www.xn--exmple-4nf.com/connect/company/redirect',
  'a host with a soft hyphen': 'https://www.exam\u00ADple.com/connect/company/redirect',
  'a host in capitals': 'https://WWW.EXAMPLE.COM/connect/company/redirect',
  'an encoded host': 'https://%77ww.example.com/connect/company/redirect',
  'another port': 'https://www.example.com:8443/connect/company/redirect',
  'the usual port': 'https://www.example.com:443/connect/company/redirect',
  'a port that is empty': 'https://www.example.com:/connect/company/redirect',
  'plain HTTP': FRONT.replace('https', 'http'),
  'a scheme in capitals': FRONT.replace('https', 'HTTPS'),
  'a scheme without slashes': FRONT.replace('//', ''),
  'a scheme of an app': FRONT.replace('https', 'evil-app'),
  'a script': 'javascript:alert(document.domain)',
  'a script with a comment of the address': `javascript://www.example.com/%0Aalert(1)`,
  'a script with a tab': 'java\tscript:alert(1)',
  'a data address': 'data:text/html,<script>alert(1)</script>',
  'a file': 'file:///connect/company/redirect',
  'a blob': `blob:${FRONT}`,
  'a path above': `${FRONT}/../..`,
  'an encoded path above': `${FRONT}/%2e%2e/%2e%2e/evil`,
  'a path below': `${FRONT}/evil`,
  'a longer path': `${FRONT}evil`,
  'a shorter path': FRONT.slice(0, -1),
  'an empty path': 'https://www.example.com',
  'two slashes in the path': FRONT.replace('/connect', '//connect'),
  'an encoded slash': FRONT.replace('/redirect', '%2Fredirect'),
  'an encoded letter': FRONT.replace('/redirect', '/%72edirect'),
  'an encoded address': encodeURIComponent(FRONT),
  'a matrix parameter': `${FRONT};evil`,
  'a query': `${FRONT}?next=https://evil.example`,
  'an empty query': `${FRONT}?`,
  'a fragment': `${FRONT}#access_token=evil`,
  'an empty fragment': `${FRONT}#`,
  'a space before': ` ${FRONT}`,
  'a space after': `${FRONT} `,
  'a tab within': FRONT.replace('www', 'w\tww'),
  'a line break after': `${FRONT}\n`,
  'a header after': `${FRONT}\r\nSet-Cookie: session=evil`,
  'a header in letters that end as a line break': `${FRONT}\u560D\u560ASet-Cookie: session=evil`,
  'a NUL after': `${FRONT}\0`,
  'a mark of width zero': `${FRONT}\u200B`,
  'a mark of direction': `\u202E${FRONT}`,
  'two addresses': `${FRONT},https://evil.example`,
  'two addresses with a space': `${FRONT} https://evil.example`,
  'no address': '',
  'a long address': `${FRONT}?${'x'.repeat(4_000)}`,
}

test('a browser returns to no other page than a declared one', async t => {
  const provider = await openHostileProvider(t)
  const app = await openTestApp(t, { project: project(provider.url) })
  for (const [name, callback] of attacksOn(t, 'pages to return to', PAGES)) {
    const value = encodeURIComponent(callback)
    const { status, headers } = await app.request('GET', `/api/connect/company?callback=${value}`)
    t.deepEqual([status, headers.location, headers['set-cookie']], [400, undefined, undefined], name)
  }
})

const evil = 'https%3A%2F%2Fevil.example'

/** Queries and headers of the begin that must change nothing, or be refused. */
const BEGINS: Readonly<
  Record<string, readonly [search: string, headers?: Readonly<Record<string, string>>]>
> = {
  'a second page': [`?callback=${encodeURIComponent(FRONT)}&callback=${evil}`],
  'a second page before the declared one': [`?callback=${evil}&callback=${encodeURIComponent(FRONT)}`],
  'a list of pages': [`?callback[]=${evil}`],
  'a page in an object': [`?callback[0]=${evil}&callback[$ne]=`],
  'a page in capitals': [`?CALLBACK=${evil}`],
  'a page of another separator': [`?a=1;callback=${evil}`],
  'an encoded name': [`?%63allback=${evil}`],
  'an address of the API': [`?redirect_uri=${evil}`],
  'a provider': [`?issuer=${evil}&authorization_endpoint=${evil}`],
  'a state and a nonce': ['?state=evil&nonce=evil&code_challenge=evil&code_challenge_method=plain'],
  'a scope': ['?scope=openid%20offline_access%20admin'],
  'a client': ['?client_id=evil&response_type=token&response_mode=fragment&prompt=none'],
  'a prototype': [`?__proto__[callback]=${evil}&constructor[prototype][callback]=${evil}`],
  'another host of the request': ['', { host: 'evil.example' }],
  'a forwarded host': ['', { 'x-forwarded-host': 'evil.example', 'x-forwarded-proto': 'https' }],
  'a forwarded host of RFC 7239': ['', { forwarded: 'host=evil.example;proto=https' }],
  'a host that a proxy was asked for': ['', { 'x-original-host': 'evil.example', 'x-host': 'evil.example' }],
  'an original address': ['', { 'x-original-url': '/evil', 'x-rewrite-url': '/evil' }],
  'a page that refers': ['', { referer: 'https://evil.example/', origin: 'https://evil.example' }],
  'a cookie from before': ['', { cookie: 'plinth_connect_company=evil' }],
}

test('no parameter and no header of the begin changes where the sign-in leads', async t => {
  const provider = await openHostileProvider(t)
  const app = await openTestApp(t, { project: project(provider.url) })
  for (const [name, [search, headers]] of attacksOn(t, 'ignored parameters of the begin', BEGINS)) {
    const answer = await app.request('GET', `/api/connect/company${search}`, { headers: headers ?? {} })
    if (answer.status === 400) continue
    t.is(answer.status, 302, name)
    const location = new URL(String(answer.headers.location))
    t.is(`${location.origin}${location.pathname}`, `${provider.url}/authorize`, name)
    t.is(location.searchParams.get('redirect_uri'), `${API}/api/connect/company/callback`, name)
    t.is(location.searchParams.get('scope'), 'openid profile email', name)
    t.is(location.searchParams.get('code_challenge_method'), 'S256', name)
    t.is(location.searchParams.get('response_type'), 'code', name)
    t.false(location.search.includes('evil'), name)
    const [cookie = ''] = answer.headers['set-cookie'] ?? []
    t.true(cookie.includes('; Path=/api/connect/company; '), name)
    const state = location.searchParams.get('state')
    const back = await receive(
      app,
      `${API}/api/connect/company/callback?error=access_denied&state=${state}`,
      cookie.split(';')[0] ?? '',
    )
    t.is(back.headers.location, `${FRONT}?error=access_denied`, name)
  }
})

type Real = Awaited<ReturnType<typeof openRealProvider>>
type Begun = Awaited<ReturnType<typeof begin>>

interface Scene {
  readonly app: TestApp
  readonly provider: Real
  /** The browser of the attack, which the provider has sent back to `back`. */
  readonly own: Begun
  readonly back: URL
  /** The browser of another user, at the same time. */
  readonly other: Begun
  readonly otherBack: URL
  seal(claims: Readonly<Record<string, unknown>>, lifetime: number, secret?: string): Promise<string>
}

const openScene = async (app: TestApp, provider: Real): Promise<Scene> => {
  provider.state.current = 'eve'
  const own = await begin(app)
  const back = new URL(await provider.follow(own.location))
  provider.state.current = 'ann'
  const other = await begin(app)
  const otherBack = new URL(await provider.follow(other.location))
  const seal: Scene['seal'] = (claims, lifetime, secret = SECRET) =>
    openSealing(deriveSealKey(secret), []).seal(claims, lifetime)
  return { app, provider, own, back, other, otherBack, seal }
}

interface Answer {
  readonly url: URL | string
  readonly cookie: string
}

const changed = (url: URL, values: Readonly<Record<string, string | null>>): URL => {
  const copy = new URL(url)
  for (const [key, value] of Object.entries(values)) {
    if (value === null) copy.searchParams.delete(key)
    else copy.searchParams.set(key, value)
  }
  return copy
}

const added = (url: URL, key: string, value: string | null): URL => {
  const copy = new URL(url)
  copy.searchParams.append(key, value ?? '')
  return copy
}

const sealedText = ({ cookie }: Begun): string => cookie.slice(cookie.indexOf('=') + 1)
const COOKIE = 'plinth_connect_company'
const state = (url: URL): string => url.searchParams.get('state') ?? ''
const code = (url: URL): string => url.searchParams.get('code') ?? ''
const sealedState = (scene: Scene) => ({
  ...{
    purpose: 'state',
    provider: 'company',
    verifier: 'v'.repeat(43),
    nonce: 'n',
    returnTo: 'https://evil.example',
  },
  state: state(scene.back),
})

/** Answers of the provider that someone else, or something else, sends to the API. */
const RECEIVED: Readonly<Record<string, (scene: Scene) => Answer | Promise<Answer>>> = {
  'the answer of another browser': ({ otherBack, own }) => ({ url: otherBack, cookie: own.cookie }),
  'the own answer in another browser': ({ back, other }) => ({ url: back, cookie: other.cookie }),
  'the answer without a cookie': ({ back }) => ({ url: back, cookie: '' }),
  'the state of another browser': ({ back, otherBack, own }) => ({
    url: changed(back, { state: state(otherBack) }),
    cookie: own.cookie,
  }),
  'the code of another browser': ({ back, otherBack, own }) => ({
    url: changed(back, { code: code(otherBack) }),
    cookie: own.cookie,
  }),
  'no state': ({ back, own }) => ({ url: changed(back, { state: null }), cookie: own.cookie }),
  'an empty state': ({ back, own }) => ({ url: changed(back, { state: '' }), cookie: own.cookie }),
  'the text undefined for the state': ({ back, own }) => ({
    url: changed(back, { state: 'undefined' }),
    cookie: own.cookie,
  }),
  'no state and no cookie': ({ back }) => ({ url: changed(back, { state: null }), cookie: '' }),
  'a state with a space': ({ back, own }) => ({
    url: changed(back, { state: `${state(back)} ` }),
    cookie: own.cookie,
  }),
  'a state in capitals': ({ back, own }) => ({
    url: changed(back, { state: state(back).toUpperCase() }),
    cookie: own.cookie,
  }),
  'a part of the state': ({ back, own }) => ({
    url: changed(back, { state: state(back).slice(0, 8) }),
    cookie: own.cookie,
  }),
  'two states': ({ back, otherBack, own }) => ({
    url: added(back, 'state', state(otherBack)),
    cookie: own.cookie,
  }),
  'no code': ({ back, own }) => ({ url: changed(back, { code: null }), cookie: own.cookie }),
  'an empty code': ({ back, own }) => ({ url: changed(back, { code: '' }), cookie: own.cookie }),
  'two codes': ({ back, otherBack, own }) => ({
    url: added(back, 'code', code(otherBack)),
    cookie: own.cookie,
  }),
  'the code of another browser first': ({ back, otherBack, own }) => ({
    url: `${back.origin}${back.pathname}?code=${code(otherBack)}&${back.searchParams}`,
    cookie: own.cookie,
  }),
  'another issuer': ({ back, own }) => ({
    url: changed(back, { iss: 'https://evil.example' }),
    cookie: own.cookie,
  }),
  'no issuer': ({ back, own }) => ({ url: changed(back, { iss: null }), cookie: own.cookie }),
  'two issuers': ({ back, own }) => ({ url: added(back, 'iss', 'https://evil.example'), cookie: own.cookie }),
  'an ID token of the browser': ({ back, own }) => ({
    url: added(back, 'id_token', 'a.b.c'),
    cookie: own.cookie,
  }),
  'an answer that is a token': ({ back, own }) => ({
    url: added(back, 'response', 'a.b.c'),
    cookie: own.cookie,
  }),
  'an answer for another provider': ({ back, own }) => ({
    url: new URL(String(back).replace('/company/', '/other/')),
    cookie: own.cookie.replace(COOKIE, 'plinth_connect_other'),
  }),
  'a cookie of another provider': async ({ app, back }) => ({
    url: back,
    cookie: (await begin(app, '/api/connect/other')).cookie.replace('plinth_connect_other', COOKIE),
  }),
  'an answer of another provider': async ({ app, own, provider }) => {
    const elsewhere = await begin(app, '/api/connect/other')
    const back = await provider.follow(elsewhere.location)
    return {
      url: changed(new URL(back.replace('/other/', '/company/')), { state: state(new URL(own.location)) }),
      cookie: own.cookie,
    }
  },
  'a changed cookie': ({ back, own }) => ({ url: back, cookie: `${own.cookie.slice(0, -6)}AAAAAA` }),
  'a cookie with another header': ({ back, own }) => ({
    url: back,
    cookie: own.cookie.replace(
      /=[^.]+/,
      `=${Buffer.from('{"alg":"dir","enc":"A128GCM"}').toString('base64url')}`,
    ),
  }),
  'an expired cookie': async scene => ({
    url: scene.back,
    cookie: `${COOKIE}=${await scene.seal(sealedState(scene), -1)}`,
  }),
  'a cookie of another secret': async scene => ({
    url: scene.back,
    cookie: `${COOKIE}=${await scene.seal(sealedState(scene), 60, 'another-secret-of-many-characters')}`,
  }),
  'a cookie of the console': async scene => ({
    url: scene.back,
    cookie: `${COOKIE}=${await scene.seal({ ...sealedState(scene), purpose: 'console' }, 60)}`,
  }),
  'a cookie that is a code of the front-end': async scene => ({
    url: scene.back,
    cookie: `${COOKIE}=${await scene.seal({ ...sealedState(scene), purpose: 'code' }, 60)}`,
  }),
  'a cookie without a verifier': async scene => ({
    url: scene.back,
    cookie: `${COOKIE}=${await scene.seal({ ...sealedState(scene), verifier: undefined }, 60)}`,
  }),
  'a cookie without a state': async scene => ({
    url: changed(scene.back, { state: null }),
    cookie: `${COOKIE}=${await scene.seal({ ...sealedState(scene), state: undefined }, 60)}`,
  }),
  'an unsigned cookie': scene => ({
    url: scene.back,
    cookie: `${COOKIE}=${Buffer.from(JSON.stringify(sealedState(scene))).toString('base64url')}`,
  }),
  'a foreign cookie before the own': ({ back, own }) => ({
    url: back,
    cookie: `${COOKIE}=evil; ${own.cookie}`,
  }),
  'the cookie of another browser before the own': ({ back, other, own }) => ({
    url: back,
    cookie: `${other.cookie}; ${own.cookie}`,
  }),
  'the cookie under another name': ({ back, own }) => ({
    url: back,
    cookie: own.cookie.replace(COOKIE, 'plinth_connect'),
  }),
  'the cookie in capitals': ({ back, own }) => ({
    url: back,
    cookie: own.cookie.replace(COOKIE, COOKIE.toUpperCase()),
  }),
  'the cookie in quotes': ({ back, own }) => ({ url: back, cookie: `${COOKIE}="${sealedText(own)}"` }),
  'the cookie in the query': ({ back, own }) => ({ url: added(back, COOKIE, sealedText(own)), cookie: '' }),
  'a long cookie': ({ back }) => ({ url: back, cookie: `${COOKIE}=${'x'.repeat(8_000)}` }),
}

/** A second account at the provider, of which the attacker knows the password. */
const openAttacked = async (t: ExecutionContext) => {
  const provider = await openRealProvider(t)
  provider.state.accounts.set('eve', {
    email: 'eve@example.com',
    email_verified: true,
    preferred_username: 'eve',
  })
  const app = await openTestApp(t, { project: project(provider.url, {}, { jwtSecret: SECRET }) })
  return { provider, app }
}

test('answers of the provider that belong to another browser, session or provider are refused', async t => {
  const { provider, app } = await openAttacked(t)
  const succeeded: string[] = []
  for (const [name, attack] of attacksOn(t, 'answers that reach the API', RECEIVED)) {
    const { url, cookie } = await attack(await openScene(app, provider))
    const { status, headers } = await receive(app, String(url), cookie)
    if (status !== 400 || headers.location !== undefined) succeeded.push(`${name}: ${status}`)
  }
  t.deepEqual(succeeded, [])
  t.is(await app.app.documents('plugin::users-permissions.user').count(), 0)
  const { own, back } = await openScene(app, provider)
  t.is((await receive(app, back.href, own.cookie)).status, 302)
})

/** Changes of the address at the provider, which a page or a program on the way can make. */
const ASKED: Readonly<Record<string, (asked: URL, other: URL) => URL>> = {
  'no PKCE': asked => changed(asked, { code_challenge: null, code_challenge_method: null }),
  'an empty challenge': asked => changed(asked, { code_challenge: '' }),
  'plain PKCE': asked => changed(asked, { code_challenge_method: 'plain' }),
  'no method of PKCE': asked => changed(asked, { code_challenge_method: null }),
  'the challenge of another browser': (asked, other) =>
    changed(asked, { code_challenge: other.searchParams.get('code_challenge') }),
  'no nonce': asked => changed(asked, { nonce: null }),
  'the nonce of another session': (asked, other) =>
    changed(asked, { nonce: other.searchParams.get('nonce') }),
  'the state of another browser': (asked, other) =>
    changed(asked, { state: other.searchParams.get('state') }),
  'no state': asked => changed(asked, { state: null }),
  'an address at another provider': asked =>
    changed(asked, { redirect_uri: `${API}/api/connect/other/callback` }),
  'an address that is not declared': asked => changed(asked, { redirect_uri: 'https://evil.example/' }),
  'another client': asked => changed(asked, { client_id: 'evil' }),
  'a token instead of a code': asked => changed(asked, { response_type: 'id_token' }),
  'a code and a token': asked => changed(asked, { response_type: 'code id_token' }),
  'an answer in the fragment': asked => changed(asked, { response_mode: 'fragment' }),
  'no openid': asked => changed(asked, { scope: 'profile email' }),
  'no address in the scope': asked => changed(asked, { scope: 'openid' }),
}

test('changed requests to a real provider give no session', async t => {
  const { provider, app } = await openAttacked(t)
  provider.state.current = 'eve'
  for (const [name, change] of attacksOn(t, 'requests to a real provider', ASKED)) {
    const [own, other] = [await begin(app), await begin(app)]
    const back = await provider.follow(change(new URL(own.location), new URL(other.location)).href)
    if (!back.startsWith(API)) continue
    const { search } = new URL(back)
    const url = `${API}/api/connect/company/callback${search}`
    const { status, headers } = await receive(app, url, own.cookie)
    // Where the provider refuses, the page gets the error and nothing else.
    const page = status === 302 ? new URL(String(headers.location)) : null
    t.is(status, page ? 302 : 400, name)
    t.deepEqual([...(page?.searchParams.keys() ?? [])], page ? ['error'] : [], name)
  }
  t.is(await app.app.documents('plugin::users-permissions.user').count(), 0)
})

interface Codes {
  readonly app: TestApp
  /** A code that the page has exchanged. */
  readonly used: string
  /** A code that is not exchanged yet, of the same user. */
  readonly fresh: string
  readonly cookie: string
  readonly documentId: string
  seal: Scene['seal']
}

/** The same bytes in other letters: the last one of a base64url text has bits that nothing reads. */
const LETTERS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
const respelled = (text: string, by: number): string =>
  text.slice(0, -1) + (LETTERS[LETTERS.indexOf(text.at(-1) ?? '') ^ by] ?? '')

const statusOfCode = async (app: TestApp, text: string, provider = 'company') =>
  (await exchange(app, text, provider)).status

const CODES: Readonly<Record<string, (codes: Codes) => Promise<number>>> = {
  'a used code': ({ app, used }) => statusOfCode(app, used),
  'a used code in other letters (1)': ({ app, used }) => statusOfCode(app, respelled(used, 1)),
  'a used code in other letters (2)': ({ app, used }) => statusOfCode(app, respelled(used, 2)),
  'a used code in other letters (15)': ({ app, used }) => statusOfCode(app, respelled(used, 15)),
  'a used code with padding': ({ app, used }) => statusOfCode(app, `${used}==`),
  'a used code with a space': ({ app, used }) => statusOfCode(app, `${used} `),
  'a used code with a line break': ({ app, used }) => statusOfCode(app, `${used}\n`),
  'a used code with + for -': ({ app, used }) =>
    statusOfCode(app, used.replaceAll('-', '+').replaceAll('_', '/')),
  'a used code with a NUL': ({ app, used }) => statusOfCode(app, `${used}\0`),
  'a code of another provider': ({ app, fresh }) => statusOfCode(app, fresh, 'other'),
  'a code of a provider in capitals': ({ app, fresh }) => statusOfCode(app, fresh, 'COMPANY'),
  'a code of an inherited name': ({ app, fresh }) => statusOfCode(app, fresh, '__proto__'),
  'a changed code': ({ app, fresh }) => statusOfCode(app, `${fresh.slice(0, -8)}AAAAAAAA`),
  'a part of a code': ({ app, fresh }) => statusOfCode(app, fresh.split('.').slice(0, 4).join('.')),
  'a code as a session': async ({ app, fresh }) =>
    (await app.request('GET', '/api/users/me', { token: fresh })).status,
  'a code as a password': async ({ app, fresh }) => {
    const body = { identifier: 'eve', password: fresh }
    return (await app.request('POST', '/api/auth/local', { body })).status
  },
  'a code in a list': async ({ app, fresh }) =>
    (await app.request('GET', `/api/auth/company/callback?access_token[]=${fresh}`)).status,
  'a code in a header': async ({ app, fresh }) =>
    (await app.request('GET', '/api/auth/company/callback', { token: fresh })).status,
  'the cookie as a code': ({ app, cookie }) => statusOfCode(app, cookie.slice(cookie.indexOf('=') + 1)),
  'a code that has expired': async ({ app, seal, documentId }) =>
    statusOfCode(app, await seal({ purpose: 'code', provider: 'company', documentId }, -1)),
  'a code of another secret': async ({ app, seal, documentId }) =>
    statusOfCode(app, await seal({ purpose: 'code', provider: 'company', documentId }, 60, `${SECRET}2`)),
  'a ticket of the console': async ({ app, seal, documentId }) =>
    statusOfCode(app, await seal({ purpose: 'console', provider: 'company', documentId }, 60)),
  'a code of no user': async ({ app, seal }) =>
    statusOfCode(app, await seal({ purpose: 'code', provider: 'company', documentId: 'none' }, 60)),
  'a code of a user that is no text': async ({ app, seal }) =>
    statusOfCode(app, await seal({ purpose: 'code', provider: 'company', documentId: ['a'] }, 60)),
  'a code of a user with a NUL': async ({ app, seal }) =>
    statusOfCode(app, await seal({ purpose: 'code', provider: 'company', documentId: '\0' }, 60)),
}

const signIn = async (app: TestApp, provider: Real, account: string) => {
  provider.state.current = account
  const { location, cookie } = await begin(app)
  return { cookie, code: codeOf(await receive(app, await provider.follow(location), cookie)) }
}

test('a code of the front-end is exchanged once, for its provider and by its sealed text alone', async t => {
  const { provider, app } = await openAttacked(t)
  const first = await signIn(app, provider, 'eve')
  t.is(await statusOfCode(app, first.code), 200)
  const { code: fresh, cookie } = await signIn(app, provider, 'eve')
  const user = await app.app.documents('plugin::users-permissions.user').findFirst()
  const seal: Codes['seal'] = (claims, lifetime, secret = SECRET) =>
    openSealing(deriveSealKey(secret), []).seal(claims, lifetime)
  const codes = { app, used: first.code, fresh, cookie, documentId: String(user?.documentId), seal }
  const succeeded: string[] = []
  for (const [name, attack] of attacksOn(t, 'codes of the front-end', CODES)) {
    const status = await attack(codes)
    if (![400, 401, 404].includes(status)) succeeded.push(`${name}: ${status}`)
  }
  t.deepEqual(succeeded, [])
  t.is(await statusOfCode(app, fresh), 200)
  t.false(app.log().join('\n').includes(fresh))
})

test('a state is used once, also with another code of the provider', async t => {
  const { provider, app } = await openAttacked(t)
  provider.state.current = 'eve'
  const { location, cookie } = await begin(app)
  const [first, second] = [await provider.follow(location), await provider.follow(location)]
  t.is((await receive(app, first, cookie)).status, 302)
  t.is((await receive(app, second, cookie)).status, 400)
  const statuses = async () => {
    const begun = await begin(app)
    const backs = [await provider.follow(begun.location), await provider.follow(begun.location)]
    const answers = await Promise.all(backs.map(back => receive(app, back, begun.cookie)))
    return answers.map(({ status }) => status).toSorted()
  }
  t.deepEqual(await statuses(), [302, 400])
})

test('the same subject at two providers is two users, and no address links them', async t => {
  const [company, other] = [await openRealProvider(t), await openRealProvider(t)]
  const declared = project(company.url)
  const providers = {
    ...declared.auth.providers,
    other: { ...declared.auth.providers.other, issuer: other.url },
  }
  const app = await openTestApp(t, { project: { ...declared, auth: { ...declared.auth, providers } } })
  const finish = async (provider: Real, name: string) => {
    const { location, cookie } = await begin(app, `/api/connect/${name}`)
    return receive(app, await provider.follow(location), cookie)
  }
  const session = async (provider: Real, name: string) =>
    ((await exchange(app, codeOf(await finish(provider, name)), name)).body as Session).user
  const ann = await session(company, 'company')
  // The subject and the address of the user of `company`, at a provider that others control.
  t.is((await finish(other, 'other')).status, 400)
  other.state.accounts.set('ann', { email: 'x@example.com', email_verified: true, preferred_username: 'ann' })
  const stranger = await session(other, 'other')
  t.not(stranger.id, ann.id)
  t.not(stranger.username, ann.username)
  t.like(await session(company, 'company'), { id: ann.id, email: 'ann@example.com' })

  // Mix-up: a browser that began at one provider brings the answer of the other.
  const begun = await begin(app)
  const elsewhere = await begin(app, '/api/connect/other')
  const back = new URL(await other.follow(elsewhere.location))
  back.pathname = '/api/connect/company/callback'
  back.searchParams.set('state', state(new URL(begun.location)))
  t.is((await receive(app, back.href, begun.cookie)).status, 400)
  t.is((await receive(app, changed(back, { iss: company.url }).href, begun.cookie)).status, 400)
})

const target = (email: unknown, more: object = {}, userinfo: unknown = {}): Partial<Answers> => ({
  claims: { email, email_verified: true, preferred_username: 'eve', ...more } as never,
  userinfo,
})

/** Addresses of an account at a provider that could be taken for `kim@example.com`, which is not verified. */
const ADDRESSES: Readonly<Record<string, Partial<Answers>>> = {
  'the address itself': target('kim@example.com'),
  'in capitals': target('KIM@EXAMPLE.COM'),
  'in mixed case': target('Kim@Example.Com'),
  'with the Kelvin sign': target('\u212Aim@example.com'),
  'with the Kelvin sign in the host': target('kim@example.co\u212A'),
  'in full width': target('ｋｉｍ@example.com'),
  'with a host in full width': target('kim@ｅｘａｍｐｌｅ.com'),
  'with a full stop of another script': target('kim@example。com'),
  'with a letter of mathematics': target('𝐤im@example.com'),
  'with a superscript': target('kiᵐ@example.com'),
  'with a ligature': target('kim@exam\uFB02e.com'),
  'with a soft hyphen': target('ki\u00ADm@example.com'),
  'with a soft hyphen in the host': target('kim@exam\u00ADple.com'),
  'with a mark of width zero': target('kim\u200B@example.com'),
  'with a joiner': target('k\u200Dim@example.com'),
  'with a mark of direction': target('\u202Ekim@example.com'),
  'with a mark of byte order': target('\uFEFFkim@example.com'),
  'with a variation selector': target('kim\uFE0F@example.com'),
  'with a space before': target(' kim@example.com'),
  'with a space of no break': target('kim\u00A0@example.com'),
  'with a NUL': target('kim\0@example.com'),
  'with a line break': target('kim@example.com\r\nBcc: eve@evil.example'),
  'with half of a surrogate pair': target('kim\uD800@example.com'),
  'with a backspace': target('kimx\b@example.com'),
  'with a name': target('Kim <kim@example.com>'),
  'with a comment': target('kim(eve)@example.com'),
  'with a comma': target('eve@evil.example,kim@example.com'),
  'with a route': target('@evil.example:kim@example.com'),
  'in a list': target(['kim@example.com']),
  'in an object': target({ toString: 'kim@example.com' }),
  'not verified': target('kim2@example.com', { email_verified: false }),
  'not verified in words': target('kim2@example.com', { email_verified: 'false' }),
  'verified in capitals': target('kim2@example.com', { email_verified: 'TRUE' }),
  'verified by a number': target('kim2@example.com', { email_verified: 1 }),
  'verified in a list': target('kim2@example.com', { email_verified: [true] }),
  'verified in an object': target('kim2@example.com', { email_verified: { value: true } }),
  'verified under another name': target('kim2@example.com', {
    email_verified: undefined,
    emailVerified: true,
  }),
  'verified for another address of the user info': target(
    'kim2@example.com',
    { email_verified: undefined },
    { email: 'eve@example.com', email_verified: true },
  ),
  'verified by a user info without the address': target(
    'kim2@example.com',
    { email_verified: undefined },
    { email_verified: true },
  ),
  'of the user info, verified for another one of the token': target(
    undefined,
    { email_verified: true },
    { email: 'kim2@example.com' },
  ),
}

test('no address of an account at a provider is taken for that of an existing user', async t => {
  const provider = await openHostileProvider(t)
  const app = await openTestApp(t, { project: project(provider.url) })
  const users = app.app.documents('plugin::users-permissions.user')
  await users.create({
    data: { username: 'kim', email: 'kim@example.com', password: 'secret1', confirmed: true },
  })
  const succeeded: string[] = []
  for (const [name, answers] of attacksOn(t, 'addresses of users at a provider', ADDRESSES)) {
    // An account of its own: what one attack linked must not hide the others.
    const claims = { ...answers.claims, sub: name }
    const userinfo = { ...Object(answers.userinfo), sub: name }
    const { status, headers } = await provider.signIn(app, { ...answers, claims, userinfo })
    if (status !== 400 || headers.location !== undefined) succeeded.push(`${name}: ${status}`)
  }
  t.deepEqual(succeeded, [])
  t.is(await users.count(), 1)
})

test('letters that only look like those of an address make a user of their own', async t => {
  const provider = await openHostileProvider(t)
  const app = await openTestApp(t, { project: project(provider.url, { trustEmail: true }) })
  const users = app.app.documents('plugin::users-permissions.user')
  const kim = await users.create({
    data: { username: 'kim', email: 'kim@example.com', password: 'secret1', confirmed: true },
  })
  for (const [sub, email, preferred_username] of [
    ['dotless', 'kım@example.com', 'kım'],
    ['dotted', 'kİm@example.com', 'kİm'],
    ['Cyrillic', 'kіm@example.com', 'kіm'],
    ['combined', 'kím@example.com', 'ｋｉｍ'],
    ['KIM', 'kim2@example.com', 'kim@example.com'],
    ['kim', 'kim3@example.com', ' kim '],
    ['kim ', 'kim4@example.com', 'k\u00ADim'],
    ['kim\0', 'kim5@example.com', 'kim\uD800'],
  ] as const) {
    const made = await provider.signIn(app, { claims: { sub, email, preferred_username }, userinfo: { sub } })
    t.is(made.status, 302, sub)
    const { user } = (await exchange(app, codeOf(made))).body as Session
    t.not(user.documentId, kim.documentId, sub)
    t.false(['kim', 'kim@example.com'].includes(String(user.username)), sub)
    t.not(user.email, 'kim@example.com', sub)
  }
  t.is(await users.count(), 9)
  t.like(await users.findOne({ documentId: kim.documentId }), {
    username: 'kim',
    email: 'kim@example.com',
    provider: 'local',
  })
})
