import test from 'ava'
import { freePort } from '../harness/free-port.ts'
import { openTestApp } from '../harness/test-app.ts'
import { attacksOn } from './attacks.ts'
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

// Sign-in at OpenID Connect providers: with a real one, and with one that attacks.

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

test('a user of a provider has the defaults and the generated uids of its attributes', async t => {
  const provider = await openRealProvider(t)
  const attributes = {
    plan: { type: 'enumeration', enum: ['free', 'paid'], default: 'free' },
    slug: { type: 'uid', targetField: 'username', generate: true },
  }
  const app = await openTestApp(t, { project: { ...project(provider.url), user: { attributes } } as never })
  const begun = await begin(app)
  const received = await receive(app, await provider.follow(begun.location), begun.cookie)
  const { user } = (await exchange(app, codeOf(received))).body as Session
  t.like(user, { username: 'ann', plan: 'free', slug: 'ann' } as object)
})

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
  for (const [name, answers] of attacksOn(t, 'answers of a hostile provider', attacks)) {
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
    ['8', `${'x'.repeat(59)} y`],
  ] as const) {
    const made = await provider.signIn(app, {
      claims: { sub, email: `${sub}@example.com`, preferred_username },
      userinfo: { sub },
    })
    t.is(made.status, 302, String(preferred_username).slice(0, 20))
    const { username } = ((await exchange(app, codeOf(made))).body as Session).user
    t.not(username, 'victim')
    t.is(username, String(username).trim(), 'a name has no spaces at its ends')
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

test('the log says why a provider cannot be reached', async t => {
  const app = await openTestApp(t, { project: project(`http://127.0.0.1:${await freePort()}`) })
  t.is((await app.request('GET', '/api/connect/company')).status, 503)
  t.regex(app.log().join('\n'), /"level":50.*The sign-in provider http[^ ]+ cannot be used: .*ECONNREFUSED/)
})

test('an answer of a provider that is too long is refused before it is read to its end', async t => {
  const provider = await openHostileProvider(t)
  const app = await openTestApp(t, { project: project(provider.url) })
  const long = { padding: 'x'.repeat(600_000) }
  provider.state.configuration = long
  t.is((await app.request('GET', '/api/connect/company')).status, 503)
  for (const answers of [{ userinfo: long }, { token: long }]) {
    const refused = await provider.signIn(app, answers)
    t.like(refused, {
      status: 400,
      body: { error: { message: 'The sign-in at the provider failed: begin again' } },
    })
  }
  t.is((await provider.signIn(app, { userinfo: { padding: 'x'.repeat(60_000) } })).status, 302)
})

for (const [provider, message] of [
  [{ redirectUrls: ['https://[x/redirect'] }, /`https:\/\/\[x\/redirect` is not an address.*redirectUrls/s],
  [{ issuer: 'https://login.example:99999' }, /`https:\/\/login\.example:99999` is not an address/],
  [{ redirectUrls: ['javascript:alert(1)'] }, /expected an address that begins with https/],
  [{ redirectUrls: ['//www.example.com'] }, /expected an address that begins with https/],
  [{ redirectUrls: ['http://www.example.com'] }, /expected an address that begins with https/],
  [{ redirectUrls: [] }, /redirectUrls/],
] as const)
  test(`a provider with a wrong address prevents the start: ${JSON.stringify(provider)}`, async t => {
    const declared = project('https://login.example', provider)
    await t.throwsAsync(openTestApp(t, { project: declared }), { message })
  })
