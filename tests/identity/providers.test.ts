import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import test, { type ExecutionContext } from 'ava'
import { exportJWK, generateKeyPair, type JWTPayload, SignJWT } from 'jose'
import Provider from 'oidc-provider'
import type { TestApp } from '../../core/testing.ts'
import { openTestApp } from '../harness/test-app.ts'

// Sign-in at OpenID Connect providers: with a real one, and with one that attacks.

const API = 'http://localhost:1337'
const FRONT = 'https://www.example.com/connect/company/redirect'

async function listen(
  t: ExecutionContext,
  handle: (request: IncomingMessage, response: ServerResponse) => unknown,
): Promise<string> {
  const server = createServer((request, response) => void handle(request, response))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const project = (issuer: string, provider: object = {}, auth: object = {}) => ({
  contentTypes: { note: { draftAndPublish: false, attributes: { text: 'string' } } },
  server: { url: API, rateLimit: { auth: false, account: false } },
  auth: {
    ...auth,
    providers: {
      company: {
        issuer,
        clientId: 'notes',
        clientSecret: 'a-secret-of-the-client',
        redirectUrls: [FRONT, `${FRONT}/app`],
        ...provider,
      },
      other: { issuer, clientId: 'notes', clientSecret: 'a-secret-of-the-client', redirectUrls: [FRONT] },
    },
  },
  roles: {
    public: { permissions: { auth: ['login', 'register'] } },
    authenticated: { permissions: { users: ['me'] } },
    editor: { permissions: { users: ['me'], note: '*' } },
  },
})

/** The browser's side of one sign-in. */
async function begin(app: TestApp, path = '/api/connect/company') {
  const answer = await app.request('GET', path)
  const cookie = String(answer.headers['set-cookie']?.[0] ?? '')
  return {
    answer,
    location: String(answer.headers.location),
    cookie: cookie.split(';')[0] ?? '',
    attributes: cookie,
  }
}

const pathOf = (url: string): string => url.slice(new URL(url).origin.length)

const receive = (app: TestApp, url: string, cookie: string) =>
  app.request('GET', pathOf(url), { headers: { cookie } })

const codeOf = (answer: { readonly headers: { readonly location?: string | undefined } }): string =>
  new URL(String(answer.headers.location)).searchParams.get('access_token') ?? ''

const exchange = (app: TestApp, code: string, provider = 'company') =>
  app.request('GET', `/api/auth/${provider}/callback?access_token=${encodeURIComponent(code)}`)

interface Session {
  readonly jwt: string
  readonly user: Readonly<Record<string, unknown>>
}

/** A provider that signs in the account `current` without asking. */
async function openRealProvider(t: ExecutionContext) {
  const state = {
    current: 'ann',
    accounts: new Map<string, object>([
      ['ann', { email: 'Ann@Example.com', email_verified: true, preferred_username: 'ann' }],
      ['bob', { email: 'bob@example.com', email_verified: false }],
    ]),
  }
  let provider: Provider | undefined
  const url = await listen(t, async (request, response) => {
    if (!provider) return
    if (!request.url?.startsWith('/interaction')) return provider.callback()(request, response)
    await provider.interactionFinished(request, response, { login: { accountId: state.current } })
  })
  const { privateKey } = await generateKeyPair('RS256', { extractable: true })
  const made: Provider = new Provider(url, {
    clients: [
      {
        client_id: 'notes',
        client_secret: 'a-secret-of-the-client',
        redirect_uris: [`${API}/api/connect/company/callback`, `${API}/api/connect/other/callback`],
        response_types: ['code'],
        grant_types: ['authorization_code'],
        token_endpoint_auth_method: 'client_secret_post',
      },
    ],
    jwks: { keys: [{ ...(await exportJWK(privateKey)), kid: 'k1', alg: 'RS256', use: 'sig' }] },
    cookies: { keys: ['a-key-of-cookies'] },
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['preferred_username'] },
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_context, interaction) => `/interaction/${interaction.uid}` },
    findAccount: (_context, id) => ({
      accountId: id,
      claims: () => ({ sub: id, ...state.accounts.get(id) }),
    }),
    async loadExistingGrant(context): Promise<InstanceType<Provider['Grant']>> {
      const { client, session } = context.oidc
      const grant = new made.Grant({
        clientId: String(client?.clientId),
        accountId: String(session?.accountId),
      })
      grant.addOIDCScope('openid profile email')
      await grant.save()
      return grant
    },
  })
  provider = made
  /** Follows the provider's redirects to the address of the API. */
  const follow = async (from: string): Promise<string> => {
    const jar = new Map<string, string>()
    let at = from
    for (let step = 0; step < 10 && at.startsWith(url); step++) {
      const cookie = [...jar].map(pair => pair.join('=')).join('; ')
      const answer = await fetch(at, { redirect: 'manual', headers: { cookie } })
      for (const set of answer.headers.getSetCookie()) {
        const [pair = ''] = set.split(';')
        jar.set(pair.slice(0, pair.indexOf('=')), pair.slice(pair.indexOf('=') + 1))
      }
      at = new URL(answer.headers.get('location') ?? 'about:blank', at).href
    }
    return at
  }
  return { url, state, follow }
}

test('users sign in at a real provider, are found again, and get a session of their own', async t => {
  const provider = await openRealProvider(t)
  const app = await openTestApp(t, { project: project(provider.url) })
  const begun = await begin(app)
  t.is(begun.answer.status, 302)
  t.regex(
    begun.attributes,
    /^plinth_connect_company=\S+; Path=\/api\/connect\/company; Max-Age=600; HttpOnly; SameSite=Lax$/,
  )
  const asked = new URL(begun.location).searchParams
  t.is(asked.get('code_challenge_method'), 'S256')
  t.is(asked.get('redirect_uri'), `${API}/api/connect/company/callback`)
  t.is(asked.get('scope'), 'openid profile email')
  for (const name of ['state', 'nonce', 'code_challenge']) t.true(String(asked.get(name)).length > 20, name)

  const back = await provider.follow(begun.location)
  t.true(back.startsWith(`${API}/api/connect/company/callback?`), back)
  const received = await receive(app, back, begun.cookie)
  t.is(received.status, 302)
  t.true(String(received.headers.location).startsWith(`${FRONT}?access_token=`))
  t.regex(String(received.headers['set-cookie']), /Max-Age=0/)
  const session = await exchange(app, codeOf(received))
  t.is(session.status, 200)
  t.is(session.headers['cache-control'], 'no-store')
  const { jwt, user } = session.body as Session
  t.like(user, { username: 'ann', email: 'ann@example.com', provider: 'company', confirmed: true })
  t.like((await app.request('GET', '/api/users/me', { token: jwt })).body, { username: 'ann' })

  // The same account again, over the other declaration of the issuer: the same user. The page to return to is chosen.
  const again = await begin(app, `/api/connect/company?callback=${encodeURIComponent(`${FRONT}/app`)}`)
  const second = await receive(app, await provider.follow(again.location), again.cookie)
  t.true(String(second.headers.location).startsWith(`${FRONT}/app?access_token=`))
  t.like(((await exchange(app, codeOf(second))).body as Session).user, { id: user.id })

  // An address that is not verified makes no user.
  provider.state.current = 'bob'
  const other = await begin(app)
  const refused = await receive(app, await provider.follow(other.location), other.cookie)
  t.like(refused, { status: 400, body: { error: { message: 'The provider has not verified the email.' } } })
  t.is(await app.app.documents('plugin::users-permissions.user').count(), 1)

  // Replays: of the code of the front-end, of the provider's code, and of the provider's answer in another browser.
  t.is((await exchange(app, codeOf(received))).status, 400)
  t.is((await receive(app, back, begun.cookie)).status, 400)
  provider.state.current = 'ann'
  const third = await begin(app)
  const answer = await provider.follow(third.location)
  t.is((await receive(app, answer, begun.cookie)).status, 400)
  t.is((await receive(app, answer, '')).status, 400)
  const first = await receive(app, answer, third.cookie)
  t.is(first.status, 302)
  // A code of one provider is none of another, and is no session.
  t.is((await exchange(app, codeOf(first), 'other')).status, 400)
  t.is((await app.request('GET', '/api/users/me', { token: codeOf(first) })).status, 401)
  t.is((await exchange(app, third.cookie.split('=')[1] ?? '')).status, 400)
  t.is((await exchange(app, codeOf(first))).status, 200)

  // Two exchanges at once: one session.
  const fourth = await begin(app)
  const both = codeOf(await receive(app, await provider.follow(fourth.location), fourth.cookie))
  const statuses = await Promise.all([exchange(app, both), exchange(app, both), exchange(app, both)])
  t.deepEqual(statuses.map(({ status }) => status).toSorted(), [200, 400, 400])

  // A blocked user, and one that was deleted.
  const users = app.app.documents('plugin::users-permissions.user')
  const [ann] = await users.findMany()
  await users.update({ documentId: String(ann?.documentId), data: { blocked: true } })
  const fifth = await begin(app)
  const blocked = await exchange(
    app,
    codeOf(await receive(app, await provider.follow(fifth.location), fifth.cookie)),
  )
  t.regex(JSON.stringify(blocked.body), /blocked by an administrator/)
  await users.delete({ documentId: String(ann?.documentId) })
  const sixth = await begin(app)
  t.is(
    (await exchange(app, codeOf(await receive(app, await provider.follow(sixth.location), sixth.cookie))))
      .status,
    200,
  )
  t.is(await users.count(), 1)
})

interface Answers {
  claims: JWTPayload
  header: Readonly<Record<string, unknown>>
  userinfo: unknown
  token: Readonly<Record<string, unknown>>
  status: number
  issuer: string | null
  unsigned: boolean
  ownKey: boolean
}

/** A provider that answers what a test says. */
async function openHostileProvider(t: ExecutionContext) {
  const { privateKey, publicKey } = await generateKeyPair('RS256', { extractable: true })
  const stranger = await generateKeyPair('RS256')
  const usual: Answers = {
    ...{ claims: {}, header: {}, userinfo: {}, token: {} },
    ...{ status: 200, issuer: null, unsigned: false, ownKey: true },
  }
  const state: Answers = { ...usual }
  const jwk = { ...(await exportJWK(publicKey)), kid: 'k1', alg: 'RS256', use: 'sig' }
  let nonce = ''
  const sign = async () => {
    const now = Math.floor(Date.now() / 1000)
    const claims = {
      iss: url,
      aud: 'notes',
      sub: 'eve',
      iat: now,
      exp: now + 60,
      nonce,
      email: 'eve@example.com',
      email_verified: true,
      ...state.claims,
    }
    const payload = Object.fromEntries(Object.entries(claims).filter(([, value]) => value !== undefined))
    const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
    if (state.unsigned) return `${part({ alg: 'none' })}.${part(payload)}.`
    return new SignJWT(payload)
      .setProtectedHeader({ alg: 'RS256', kid: 'k1', ...state.header } as never)
      .sign(state.ownKey ? privateKey : stranger.privateKey)
  }
  const url = await listen(t, async (request, response) => {
    const json = (value: unknown, status = 200) => {
      response.writeHead(status, { 'content-type': 'application/json' })
      response.end(typeof value === 'string' ? value : JSON.stringify(value))
    }
    switch (request.url?.split('?')[0]) {
      case '/.well-known/openid-configuration':
        return json({
          issuer: state.issuer ?? url,
          authorization_endpoint: `${url}/authorize`,
          token_endpoint: `${url}/token`,
          userinfo_endpoint: `${url}/userinfo`,
          jwks_uri: `${url}/keys`,
          response_types_supported: ['code'],
          subject_types_supported: ['public'],
          id_token_signing_alg_values_supported: ['RS256'],
        })
      case '/keys':
        return json({ keys: [jwk] })
      case '/token':
        return json(
          { access_token: 'a', token_type: 'Bearer', id_token: await sign(), ...state.token },
          state.status,
        )
      default:
        return json(state.userinfo === null ? '<html>' : { sub: 'eve', ...Object(state.userinfo) })
    }
  })
  return {
    url,
    /** Signs in with these answers. */
    async signIn(app: TestApp, answers: Partial<Answers> = {}, search = '') {
      Object.assign(state, usual, answers)
      const { location, cookie } = await begin(app)
      const asked = new URL(location).searchParams
      nonce = asked.get('nonce') ?? ''
      return receive(
        app,
        `${API}/api/connect/company/callback?code=c&state=${asked.get('state')}${search}`,
        cookie,
      )
    },
    state,
  }
}

test('answers of a provider that attacks make no user and no session', async t => {
  const provider = await openHostileProvider(t)
  const app = await openTestApp(t, { project: project(provider.url) })
  const now = Math.floor(Date.now() / 1000)
  const users = app.app.documents('plugin::users-permissions.user')
  await users.create({
    data: { username: 'victim', email: 'victim@example.com', password: 'secret1', confirmed: true },
  })
  const attacks: Readonly<Record<string, Partial<Answers>>> = {
    'another nonce': { claims: { nonce: 'n' } },
    'no nonce': { claims: { nonce: undefined as never } },
    'another audience': { claims: { aud: 'shop' } },
    'no audience': { claims: { aud: undefined as never } },
    'several audiences without azp': { claims: { aud: ['notes', 'shop'], azp: 'shop' } },
    'another issuer': { claims: { iss: 'https://login.example' } },
    'no issuer': { claims: { iss: undefined as never } },
    'an expired token': { claims: { exp: now - 600 } },
    'no expiry': { claims: { exp: undefined as never } },
    'no time of issue': { claims: { iat: undefined as never } },
    'a token of the future': { claims: { nbf: now + 600 } },
    'no subject': { claims: { sub: undefined as never } },
    'an empty subject': { claims: { sub: '' } },
    'a subject that is no text': { claims: { sub: 5 as never } },
    'no signature': { unsigned: true },
    'a key of a stranger': { ownKey: false },
    'a key id of a stranger': { ownKey: false, header: { kid: 'k9' } },
    'a key in the header': { ownKey: false, header: { jku: 'https://evil.example/keys' } },
    'no ID token': { token: { id_token: undefined } },
    'an ID token that is none': { token: { id_token: 'a.b.c' } },
    'no access token': { token: { access_token: undefined } },
    'another kind of token': { token: { token_type: 'mac' } },
    'a refused code': { status: 400, token: { error: 'invalid_grant' } },
    'a failure': { status: 500 },
    'user info of another user': { userinfo: { sub: 'ann' } },
    'user info that is none': { userinfo: null },
    'no address': { claims: { email: undefined } },
    'an address that is not verified': { claims: { email_verified: false } },
    'an address of unknown state': { claims: { email_verified: undefined } },
    'an address verified in words': { claims: { email_verified: 'yes' } },
    'an address that is none': { claims: { email: 'eve' } },
    'two addresses': { claims: { email: ['eve@example.com', 'victim@example.com'] } },
    'two addresses in one': { claims: { email: 'eve@example.com,victim@example.com@x' } },
    'an address with a line break': { claims: { email: 'eve@example.com\n' } },
    'the address of a user': { claims: { email: 'victim@example.com' } },
    'the address of a user in capitals': { claims: { email: 'VICTIM@example.com' } },
    'the address of a user, not verified': { claims: { email: 'victim@example.com', email_verified: false } },
    'an address of the user info that is not verified': {
      claims: { email: undefined, email_verified: undefined },
      userinfo: { email: 'x@example.com', email_verified: false },
    },
    'an address as long as a book': { claims: { email: `${'e'.repeat(5_000)}@example.com` } },
  }
  for (const [name, answers] of Object.entries(attacks)) {
    const { status, headers } = await provider.signIn(app, answers)
    t.true(status === 400, `${name}: ${status}`)
    t.is(headers.location, undefined, name)
  }
  t.is(await users.count(), 1)
  const wrongState = await begin(app)
  for (const search of ['code=c', 'code=c&state=', 'code=c&state=x', `code=c&state=${'s'.repeat(4_000)}`, ''])
    t.is(
      (await receive(app, `${API}/api/connect/company/callback?${search}`, wrongState.cookie)).status,
      400,
      search,
    )
  // Mix-up: a state of one provider at the address of another.
  const state = new URL(wrongState.location).searchParams.get('state')
  t.is(
    (
      await receive(
        app,
        `${API}/api/connect/other/callback?code=c&state=${state}`,
        wrongState.cookie.replace('company', 'other'),
      )
    ).status,
    400,
  )
  // The issuer of an answer (RFC 9207) is another one.
  t.is((await provider.signIn(app, {}, '&iss=https%3A%2F%2Fevil.example')).status, 400)
  t.is((await provider.signIn(app, {}, `&state=again`)).status, 400)

  // A user who takes the name of another, or text that is none, gets another name and nothing else.
  for (const [sub, preferred_username] of [
    ['1', 'victim'],
    ['2', 'victim@example.com'],
    ['3', '\0'],
    ['4', 'a'],
    ['5', 'x'.repeat(4_000)],
    ['6', { $ne: 1 }],
  ] as const) {
    const made = await provider.signIn(app, {
      claims: { sub, email: `${sub}@example.com`, preferred_username },
      userinfo: { sub },
    })
    t.is(made.status, 302, String(preferred_username).slice(0, 20))
    t.not(((await exchange(app, codeOf(made))).body as Session).user.username, 'victim')
  }
  // Values of the token are no attributes of the user.
  const greedy = await provider.signIn(app, {
    claims: { sub: '7', email: '7@example.com', role: 'editor', blocked: true, password: 'x' },
    userinfo: { sub: '7' },
  })
  const { jwt, user } = (await exchange(app, codeOf(greedy))).body as Session
  t.like(user, { blocked: false })
  t.is((await app.request('GET', '/api/notes', { token: jwt })).status, 403)
})

test('no address leads to another page than the declared ones', async t => {
  const provider = await openHostileProvider(t)
  const app = await openTestApp(t, { project: project(provider.url) })
  for (const callback of [
    ...[
      'https://evil.example',
      '//evil.example',
      '/\\evil.example',
      `${FRONT}.evil.example`,
      `${FRONT}@evil.example`,
      `${FRONT}/../..`,
      `${FRONT}?a=1`,
      `${FRONT}#a`,
    ],
    ...['javascript:alert(1)', FRONT.toUpperCase(), ` ${FRONT}`, `${FRONT}\r\nX: y`, ''],
  ]) {
    const { status, headers } = await app.request(
      'GET',
      `/api/connect/company?callback=${encodeURIComponent(callback)}`,
    )
    t.is(status, 400, callback)
    t.is(headers.location, undefined, callback)
  }
  const twice = await begin(
    app,
    `/api/connect/company?callback=${encodeURIComponent(FRONT)}&callback=https://evil.example`,
  )
  t.true(twice.location.startsWith(provider.url))
  // The provider's texts do not reach the page.
  for (const [error, shown] of [
    ['access_denied', 'access_denied'],
    ['<script>', 'server_error'],
    ['x'.repeat(100), 'server_error'],
  ] as const) {
    const answer = await provider.signIn(
      app,
      {},
      `&error=${encodeURIComponent(error)}&error_description=evil`,
    )
    t.is(answer.headers.location, `${FRONT}?error=${shown}`)
  }
  for (const path of [
    '/api/connect/none',
    '/api/connect/none/callback',
    '/api/auth/none/callback?access_token=a',
    '/api/connect/company/callback/more',
    '/api/connect',
  ])
    t.is((await app.request('GET', path)).status, 404, path)
  t.is((await app.request('POST', '/api/connect/company')).status, 405)
  t.is((await app.request('HEAD', '/api/connect/company')).status, 204)
  for (const code of ['', 'a', 'a.b.c.d.e', 'x'.repeat(4_000), '%00'])
    t.is((await app.request('GET', `/api/auth/company/callback?access_token=${code}`)).status, 400, code)
})

test('roles come from a claim at each sign-in, and registration may be closed', async t => {
  const provider = await openHostileProvider(t)
  const role = { claim: 'groups', map: { chiefs: 'editor', staff: 'authenticated' } }
  const app = await openTestApp(t, { project: project(provider.url, { role }) })
  const statusOf = async (groups: unknown) => {
    const received = await provider.signIn(app, { claims: { groups } })
    if (received.status !== 302) return received.status
    const { jwt } = (await exchange(app, codeOf(received))).body as Session
    return (await app.request('GET', '/api/notes', { token: jwt })).status
  }
  t.deepEqual(
    [
      await statusOf(['staff']),
      await statusOf(['staff', 'chiefs']),
      await statusOf('staff'),
      await statusOf([]),
      await statusOf(['editor']),
    ],
    [403, 200, 403, 403, 403],
  )
  const closed = await openTestApp(t, {
    project: project(provider.url, {}, { register: { enabled: false } }),
  })
  t.regex(JSON.stringify((await provider.signIn(closed)).body), /Register action is currently disabled/)
})

test('a provider that is down is 503, also for its configuration, and is asked again', async t => {
  const provider = await openHostileProvider(t)
  const app = await openTestApp(t, { project: project(provider.url) })
  provider.state.issuer = 'https://evil.example'
  t.is((await app.request('GET', '/api/connect/company')).status, 503)
  provider.state.issuer = null
  t.is((await app.request('GET', '/api/connect/company')).status, 302)
})
