import { createHmac, type webcrypto } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { mock } from 'node:test'
import test, { type ExecutionContext } from 'ava'
import { exportJWK, exportSPKI, generateKeyPair, type JWTPayload, SignJWT } from 'jose'
import { moveClock } from '../harness/clock.ts'
import { freePort } from '../harness/free-port.ts'
import { openTestApp } from '../harness/test-app.ts'
import { attacksOn } from './attacks.ts'

// Callers with tokens of another issuer, and attacks on them.

const TENANTS = {
  note: {
    draftAndPublish: false,
    attributes: { text: 'string', tenant: 'string', level: 'integer' },
  },
}

/** An issuer on loopback that counts requests for its keys. */
async function openIssuer(t: ExecutionContext, alg = 'RS256') {
  const first = await generateKeyPair(alg, { extractable: true })
  const jwk = async (key: webcrypto.CryptoKey, kid: string) => ({
    ...(await exportJWK(key)),
    kid,
    alg,
    use: 'sig',
  })
  const state = {
    keys: [await jwk(first.publicKey, 'k1')] as object[],
    configuration: {} as object,
    status: 200,
    fetches: 0,
    body: null as string | null,
  }
  const server = createServer((request, response) => {
    state.fetches++
    response.statusCode = state.status
    if (state.status === 302) response.setHeader('location', `${url}/elsewhere`)
    const found = request.url === '/keys' ? { keys: state.keys } : state.configuration
    response.end(state.body ?? JSON.stringify(found))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  state.configuration = { issuer: url, jwks_uri: `${url}/keys` }
  return { url, state, key: first.privateKey, publicKey: first.publicKey, jwk }
}

type IssuerServer = Awaited<ReturnType<typeof openIssuer>>

const seconds = (from: number) => Math.floor(Date.now() / 1000) + from

interface TokenParts {
  readonly claims?: JWTPayload
  readonly header?: Readonly<Record<string, unknown>>
  readonly key?: webcrypto.CryptoKey
}

/** A valid token unless parts say otherwise; undefined leaves a claim out. */
function token({ url, key: own }: IssuerServer, { claims = {}, header = {}, key = own }: TokenParts = {}) {
  const payload = {
    iss: url,
    aud: 'notes',
    sub: 'ann',
    exp: seconds(60),
    iat: seconds(0),
    roles: ['writer'],
    ...claims,
  }
  const input = Object.fromEntries(Object.entries(payload).filter(([, value]) => value !== undefined))
  return new SignJWT(input).setProtectedHeader({ alg: 'RS256', kid: 'k1', ...header } as never).sign(key)
}

const part = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url')

async function open(t: ExecutionContext, issuer: IssuerServer, more: object = {}) {
  const writer = {
    note: {
      find: { where: { tenant: '$claims.tenant' } },
      create: { set: { tenant: '$claims.tenant' } },
      update: { where: { $and: [{ tenant: '$claims.tenant' }, { level: { $lte: '$claims.level' } }] } },
    },
  }
  const { app, request, log, graphql } = await openTestApp(t, {
    project: {
      contentTypes: TENANTS,
      auth: {
        jwtSecret: 'a-secret-of-more-than-thirty-two-characters',
        issuers: { login: { issuer: issuer.url, audience: 'notes', role: { claim: 'roles' }, ...more } },
      },
      roles: {
        public: { permissions: {} },
        authenticated: { permissions: { users: ['me'] } },
        writer: { permissions: { ...writer, users: ['me'] } },
        reader: { permissions: { note: ['find'] } },
      },
      apiTokens: { reader: { type: 'full-access', secret: 'full-full-full-full-full-full-full-full' } },
      server: { explainDenials: true, logLevel: 'debug' },
    },
  })
  const get = (jwt: string, path = '/api/notes') => request('GET', path, { token: jwt })
  return { app, request, log, graphql, get }
}

test('callers of another issuer have the role of their claim, and its claims bind rows and values', async t => {
  const issuer = await openIssuer(t)
  const { app, request, get, log, graphql } = await open(t, issuer)
  const notes = app.documents('note')
  for (const [text, tenant, level] of [
    ['a', 'north', 1],
    ['b', 'north', 9],
    ['c', 'south', 1],
  ] as const)
    await notes.create({ data: { text, tenant, level } })
  const ann = await token(issuer, { claims: { tenant: 'north', level: 5 } })
  const texts = ({ body }: { body: unknown }) =>
    (body as { data: { text: string }[] }).data.map(each => each.text)
  t.deepEqual(texts(await get(ann)).toSorted(), ['a', 'b'])
  t.deepEqual(texts(await get(await token(issuer, { claims: { tenant: 'south' } }))), ['c'])
  t.deepEqual(texts(await get(ann)).toSorted(), ['a', 'b'])
  t.like(await graphql('{ notes { data { attributes { text } } } }', {}, { token: ann }), {
    data: { notes: { data: { length: 2 } } },
  })

  const made = await request('POST', '/api/notes', {
    token: ann,
    body: { data: { text: 'd', tenant: 'south' } },
  })
  t.is(made.status, 201)
  t.like(await notes.findFirst({ filters: { text: 'd' } }), { tenant: 'north' })
  const idOf = async (text: string) => (await notes.findFirst({ filters: { text } }))?.documentId
  const update = async (text: string) =>
    (await request('PUT', `/api/notes/${await idOf(text)}`, { token: ann, body: { data: { text } } })).status
  t.deepEqual([await update('a'), await update('b'), await update('c')], [200, 403, 404])

  // Values that conditions cannot use match nothing: no claim, a list, an object, an empty text, another type.
  for (const tenant of [undefined, null, ['north'], { $ne: 'x' }, '', 5]) {
    const jwt = await token(issuer, { claims: { tenant: tenant as never } })
    t.deepEqual(texts(await get(jwt)), [], JSON.stringify(tenant))
    const refused = await request('POST', '/api/notes', { token: jwt, body: { data: { text: 'e' } } })
    if (tenant !== 5 && tenant !== '') t.is(refused.status, 403, JSON.stringify(tenant))
  }
  // There is no user of this project behind the token.
  t.is((await get(ann, '/api/users/me')).status, 401)
  t.regex(log().join('\n'), new RegExp(`role writer, ${issuer.url} ann`))
})

test('a role comes from the map in its order, from a nested claim, from the default, or the caller is refused', async t => {
  const issuer = await openIssuer(t)
  const role = {
    claim: ['realm', 'roles'],
    map: { chief: 'writer', staff: 'reader', ghost: 'reader' },
    default: 'authenticated',
  }
  const { get } = await open(t, issuer, { role })
  const status = async (claims: object) =>
    (await get(await token(issuer, { claims: claims as never }))).status
  t.is(await status({ realm: { roles: ['staff'] } }), 200)
  t.is(await status({ realm: { roles: 'staff' } }), 200)
  t.is(await status({ realm: { roles: ['staff', 'chief'] }, tenant: 'x' }), 200)
  // A name of a role is no value of the map, and an API token of the same name gives nothing.
  for (const claims of [
    { realm: { roles: ['reader'] } },
    { realm: 5 },
    { realm: { roles: [['staff']] } },
    {},
  ])
    t.is(await status(claims), 403, JSON.stringify(claims))

  const strict = await open(t, issuer)
  for (const names of [['unheard-of'], [], 'constructor', '__proto__', undefined, 5, { writer: true }])
    t.is(
      (await strict.get(await token(issuer, { claims: { roles: names as never } }))).status,
      401,
      String(names),
    )
})

test('attacks on tokens of an issuer are refused', async t => {
  const issuer = await openIssuer(t)
  const other = await openIssuer(t)
  const { get, graphql } = await open(t, issuer)
  const good = await token(issuer)
  t.is((await get(good)).status, 200)
  const [head = '', body = '', signature = ''] = good.split('.')
  const pem = await exportSPKI(issuer.publicKey)
  const jwk = JSON.stringify(await exportJWK(issuer.publicKey))
  const hmac = (secret: string, header: object) => {
    const text = `${part(header)}.${body}`
    return `${text}.${createHmac('sha256', secret).update(text).digest('base64url')}`
  }
  const embedded = await exportJWK(other.publicKey)
  const session = 'a-secret-of-more-than-thirty-two-characters'
  const attacks: Readonly<Record<string, string>> = {
    'no algorithm': `${part({ alg: 'none' })}.${body}.`,
    'no algorithm, in capitals': `${part({ alg: 'NONE', kid: 'k1' })}.${body}.`,
    'no algorithm, with a signature': `${part({ alg: 'none', kid: 'k1' })}.${body}.${signature}`,
    'no signature': `${head}.${body}.`,
    'the public key as a secret (PEM)': hmac(pem, { alg: 'HS256', kid: 'k1' }),
    'the public key as a secret (JWK)': hmac(jwk, { alg: 'HS256', kid: 'k1' }),
    'the secret of sessions': hmac(session, { alg: 'HS256', kid: 'k1' }),
    'an empty secret': hmac(' ', { alg: 'HS256', kid: 'k1' }),
    'another algorithm than that of the signature': `${part({ alg: 'RS512', kid: 'k1' })}.${body}.${signature}`,
    'an algorithm that is not accepted': await token(issuer, {
      header: { alg: 'RS256', kid: 'k1', crit: ['b64'], b64: false },
    }).catch(() => 'a.b.c'),
    'a changed body': `${head}.${part({ iss: issuer.url, aud: 'notes', sub: 'eve', exp: seconds(60), roles: ['writer'] })}.${signature}`,
    'a changed signature': `${head}.${body}.${signature.slice(0, -4)}AAAA`,
    'a key of another issuer': await token(issuer, { key: other.key }),
    'a token of another issuer': await token(other),
    'another issuer that is signed by this one': await token(issuer, { claims: { iss: other.url } }),
    'an issuer with a slash more': await token(issuer, { claims: { iss: `${issuer.url}/` } }),
    'an issuer in capitals': await token(issuer, { claims: { iss: issuer.url.toUpperCase() } }),
    'an issuer as a list': await token(issuer, { claims: { iss: [issuer.url] as never } }),
    'no issuer': await token(issuer, { claims: { iss: undefined as never } }),
    'a key in the header': await token(issuer, { key: other.key, header: { jwk: embedded } }),
    'an address of keys in the header': await token(issuer, {
      key: other.key,
      header: { jku: `${other.url}/keys` },
    }),
    'an address of a certificate in the header': await token(issuer, {
      key: other.key,
      header: { x5u: `${other.url}/keys` },
    }),
    'a certificate in the header': await token(issuer, { key: other.key, header: { x5c: ['MIIB'] } }),
    'a key id that is a path': await token(issuer, {
      key: other.key,
      header: { kid: '../../../../dev/null' },
    }),
    'a key id that is SQL': await token(issuer, { key: other.key, header: { kid: "k1' OR '1'='1" } }),
    'a key id that is an address': await token(issuer, {
      key: other.key,
      header: { kid: `${other.url}/keys` },
    }),
    'an unknown key id': await token(issuer, { header: { kid: 'k9' } }),
    'another audience': await token(issuer, { claims: { aud: 'shop' } }),
    'a longer audience': await token(issuer, { claims: { aud: 'notes-admin' } }),
    'other audiences': await token(issuer, { claims: { aud: ['shop', 'mail'] } }),
    'no audience': await token(issuer, { claims: { aud: undefined as never } }),
    'an empty audience': await token(issuer, { claims: { aud: [] } }),
    'an audience that is no text': await token(issuer, { claims: { aud: { notes: true } as never } }),
    'an expired token': await token(issuer, { claims: { exp: seconds(-60) } }),
    'no expiry': await token(issuer, { claims: { exp: undefined as never } }),
    'an expiry that is text': await token(issuer, { claims: { exp: String(seconds(60)) as never } }),
    'a token of the future (nbf)': await token(issuer, { claims: { nbf: seconds(60) } }),
    'a token of the future (iat)': await token(issuer, { claims: { iat: seconds(60) } }),
    'an iat that is text': await token(issuer, { claims: { iat: 'now' as never } }),
    'no subject': await token(issuer, { claims: { sub: undefined as never } }),
    'an empty subject': await token(issuer, { claims: { sub: '' } }),
    'a subject that is no text': await token(issuer, { claims: { sub: 5 as never } }),
    'a role that is unknown': await token(issuer, { claims: { roles: ['owner'] } }),
    'a user of this project': hmac(session, { alg: 'HS256' }),
    'two parts': `${head}.${body}`,
    'four parts': `${good}.${signature}`,
    'five parts': `${good}.${signature}.${signature}`,
    'parts that are no JSON': 'bm8.bm8.bm8',
    'a body that is a list': `${head}.${part([1])}.${signature}`,
    'a body that is null': `${head}.${part(null)}.${signature}`,
    'a header that is null': `${part(null)}.${body}.${signature}`,
    'a deep body': `${head}.${Buffer.from(`${'['.repeat(3_000)}${']'.repeat(3_000)}`).toString('base64url')}.${signature}`,
  }
  for (const [name, jwt] of attacksOn(t, 'tokens of an issuer', attacks)) {
    const { status } = await get(jwt)
    t.is(status, 401, name)
  }
  t.regex(
    JSON.stringify(
      await graphql('{ notes { data { id } } }', {}, { token: attacks['another audience'] ?? '' }),
    ),
    /Missing or invalid credentials/,
  )
  t.is((await get(good)).status, 200)
})

test('tokens with unknown key ids cause no more than one fetch of the keys', async t => {
  const issuer = await openIssuer(t)
  const { get } = await open(t, issuer)
  t.is((await get(await token(issuer))).status, 200)
  const before = issuer.state.fetches
  const stranger = await generateKeyPair('RS256')
  for (let count = 0; count < 20; count++)
    t.is(
      (await get(await token(issuer, { key: stranger.privateKey, header: { kid: `x${count}` } }))).status,
      401,
    )
  t.true(issuer.state.fetches - before <= 1)
  t.is((await get(await token(issuer))).status, 200)
})

test('keys come from the configuration of the issuer alone, within bounds', async t => {
  const issuer = await openIssuer(t)
  const fake = await openIssuer(t)
  const faults: readonly (readonly [string, Partial<IssuerServer['state']>])[] = [
    [
      'another issuer in the configuration',
      { configuration: { issuer: fake.url, jwks_uri: `${issuer.url}/keys` } },
    ],
    ['no address of keys', { configuration: { issuer: issuer.url } }],
    ['an address of another kind', { configuration: { issuer: issuer.url, jwks_uri: 'file:///etc/passwd' } }],
    ['a redirect', { status: 302 }],
    ['a fault', { status: 500 }],
    ['no JSON', { body: 'hello' }],
    ['too much', { body: `{"a":"${'x'.repeat(600_000)}"}` }],
  ]
  const usual = { ...issuer.state }
  for (const [name, state] of faults) {
    Object.assign(issuer.state, usual, state, { fetches: 0 })
    const { get } = await open(t, issuer)
    const jwt = await token(issuer)
    t.is((await get(jwt)).status, 503, name)
    for (let count = 0; count < 5; count++) await get(jwt)
    t.true(issuer.state.fetches <= 2, `${name}: ${issuer.state.fetches}`)
  }
})

test('wrong declarations of issuers are faults with their place', async t => {
  const roles = {
    public: {},
    writer: { permissions: { note: { find: { where: { tenant: '$claims.tenant' } } } } },
  }
  const issuer = { issuer: 'https://login.example', audience: 'notes' }
  for (const [auth, fault] of [
    [
      { issuers: { a: { ...issuer, role: { claim: 'r', map: { a: 'writr' } } } } },
      /unknown role `writr`.*did you mean `writer`/,
    ],
    [{ issuers: { a: { ...issuer, role: { claim: 'r', default: 'writr' } } } }, /unknown role `writr`/],
    [{ issuers: { a: { ...issuer, role: { map: { a: 'writer' } } } } }, /`map` needs the `claim`/],
    [{ issuers: { a: issuer, b: issuer } }, /the issuers `a` and `b` are the same/],
    [{ issuers: { a: { issuer: issuer.issuer } } }, /audience/],
    [{ issuers: { a: { ...issuer, issuer: 'http://login.example' } } }, /begins with https/],
    [{ issuers: { a: { ...issuer, algorithms: ['HS256'] } } }, /HS256|RS256/],
    [{ issuers: { a: { ...issuer, audiance: 'x' } } }, /did you mean `audience`/],
    [{}, /declare it in `auth.issuers`/],
  ] as const)
    await t.throwsAsync(openTestApp(t, { project: { contentTypes: TENANTS, roles, auth } }), {
      message: fault,
    })
})

test.serial('a clock that is set back does not keep out new keys of an issuer', async t => {
  const issuer = await openIssuer(t)
  const { get } = await open(t, issuer)
  t.is((await get(await token(issuer))).status, 200)
  const next = await generateKeyPair('RS256', { extractable: true })
  issuer.state.keys = [await issuer.jwk(next.publicKey, 'k2')]
  moveClock(t, -10_800_000)
  t.is((await get(await token(issuer, { key: next.privateKey, header: { kid: 'k2' } }))).status, 200)
})

test.serial('an outage of an issuer is logged once a minute, and the next outage at once', async t => {
  const issuer = await openIssuer(t)
  const { get, log } = await open(t, issuer)
  let ahead = 0
  const { now } = performance
  const clock = mock.method(performance, 'now', () => now.call(performance) + ahead)
  t.teardown(() => clock.mock.restore())
  const lines = () => log().filter(line => line.includes('The keys of the issuer'))
  const jwt = await token(issuer)
  const outage = async (count: number, credential = jwt) => {
    const answers = await Promise.all(Array.from({ length: count }, () => get(credential)))
    t.true(answers.every(({ status }) => status === 503))
  }
  issuer.state.status = 500
  await outage(5)
  await outage(3)
  ahead += 6_000 // Then the keys are fetched again.
  await outage(2)
  t.is(lines().length, 1)
  ahead += 60_000
  await outage(4)
  t.is(lines().length, 2)
  t.regex(lines()[1] ?? '', /answers 500; since the line before, 9 more requests were answered 503"/)
  issuer.state.status = 200
  ahead += 6_000
  t.is((await get(jwt)).status, 200)
  issuer.state.status = 500
  moveClock(t, 31_000)
  await outage(1, await token(issuer, { header: { kid: 'k2' } }))
  t.is(lines().length, 3)
  t.regex(lines()[2] ?? '', /since the line before, 3 more requests were answered 503"/)
  t.is((await get(jwt)).status, 200)
})

test('the log says why an issuer cannot be reached', async t => {
  const issuer = await openIssuer(t)
  const nowhere = { ...issuer, url: `http://127.0.0.1:${await freePort()}` }
  const { get, log } = await open(t, nowhere)
  t.is((await get(await token(nowhere))).status, 503)
  t.regex(
    log().join('\n'),
    /"level":50.*"unavailable".*The keys of the issuer http[^ ]+ cannot be loaded: connect ECONNREFUSED/,
  )
})
