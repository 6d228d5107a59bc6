import { constants, createHmac, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import test, { type ExecutionContext } from 'ava'
import { EncryptJWT } from 'jose'
import { moveClock } from '../harness/clock.ts'
import { openTestApp } from '../harness/test-app.ts'
import { attacksOn } from './attacks.ts'

// Tokens that a library would not make, and key sets that an issuer should not have. No case is let in, and none is a 500.

interface Keys {
  readonly publicKey: KeyObject
  readonly privateKey: KeyObject
}

const rsa = (bits = 2048): Keys => generateKeyPairSync('rsa', { modulusLength: bits })
const [OWN, STRANGER, SECOND] = [rsa(), rsa(), rsa()]
const EC = generateKeyPairSync('ec', { namedCurve: 'P-256' })

const jwkOf = ({ publicKey }: Keys, more: object = {}): object => ({
  ...publicKey.export({ format: 'jwk' }),
  ...{ kid: 'k1', alg: 'RS256', use: 'sig' },
  ...more,
})

/** An issuer on loopback whose key set a test replaces. */
async function openIssuer(t: ExecutionContext, keys: readonly unknown[] = [jwkOf(OWN)]) {
  const state = { keys, fetches: 0 }
  const server = createServer((request, response) => {
    state.fetches++
    const configuration = { issuer: url, jwks_uri: `${url}/keys` }
    response.end(JSON.stringify(request.url === '/keys' ? { keys: state.keys } : configuration))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return { url, state }
}

type Issuer = Awaited<ReturnType<typeof openIssuer>>

const open = async (t: ExecutionContext, { url }: Issuer, more: object = {}) => {
  const { request } = await openTestApp(t, {
    project: {
      contentTypes: { note: { draftAndPublish: false, attributes: { text: 'string' } } },
      auth: { issuers: { login: { issuer: url, audience: 'notes', role: { claim: 'roles' }, ...more } } },
      roles: {
        public: { permissions: {} },
        authenticated: { permissions: {} },
        reader: { permissions: { note: ['find'] } },
      },
    },
  })
  return async (jwt: string) => (await request('GET', '/api/notes', { token: jwt })).status
}

const seconds = (from: number) => Math.floor(Date.now() / 1000) + from
const encode = (value: unknown) =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url')

interface Parts {
  readonly claims?: object
  /** Text instead of the claims. */
  readonly payload?: string
  readonly header?: Readonly<Record<string, unknown>>
  readonly key?: KeyObject
  /** The payload is signed as it is, as with `b64: false`. */
  readonly isUnencoded?: boolean
}

/** Valid unless parts say otherwise; undefined leaves a member out. */
function token(
  { url }: Issuer,
  { claims = {}, payload, header = {}, key = OWN.privateKey, isUnencoded = false }: Parts = {},
) {
  const usual = { iss: url, aud: 'notes', sub: 'ann', exp: seconds(60), iat: seconds(0), roles: ['reader'] }
  const text = payload ?? JSON.stringify({ ...usual, ...claims })
  const body = isUnencoded ? text : encode(text)
  const signed = `${encode({ alg: 'RS256', kid: 'k1', ...header })}.${body}`
  const isEc = key.asymmetricKeyType === 'ec'
  const signature = sign(
    'sha256',
    Buffer.from(signed),
    isEc ? { key, dsaEncoding: 'ieee-p1363' } : { key, padding: constants.RSA_PKCS1_PADDING },
  )
  return `${signed}.${signature.toString('base64url')}`
}

const stranger = STRANGER.privateKey

const HEADERS: Readonly<Record<string, Parts>> = {
  'a critical extension that is unknown': { header: { crit: ['x'], x: 1 } },
  'a critical extension that the header lacks': { header: { crit: ['x'] } },
  'no critical extensions': { header: { crit: [] } },
  'critical extensions as a text': { header: { crit: 'b64' } },
  'a critical registered name': { header: { crit: ['exp'], exp: 1 } },
  'an unencoded payload': { header: { b64: false, crit: ['b64'] }, isUnencoded: true },
  'an unencoded payload that is encoded': { header: { b64: false, crit: ['b64'] } },
  'b64 that is a text': { header: { b64: 'false', crit: ['b64'] } },
  'an algorithm in small letters': { header: { alg: 'rs256' } },
  'a list of algorithms': { header: { alg: ['RS256'] } },
  'an algorithm that is null': { header: { alg: null } },
  'no algorithm at all': { header: { alg: undefined } },
  'an algorithm that is a number': { header: { alg: 256 } },
  'PSS for PKCS 1': { header: { alg: 'PS256' } },
  'an algorithm of signatures with curves': { header: { alg: 'ES256' } },
  'an algorithm of objects': { header: { alg: '__proto__' } },
  'a key of a curve for RSA': { key: EC.privateKey },
  'a stranger without a key id': { key: stranger, header: { kid: undefined } },
  'a key id that is null': { key: stranger, header: { kid: null } },
  'a key id that is a list': { key: stranger, header: { kid: ['k1'] } },
  'a key id that is an object': { key: stranger, header: { kid: { $ne: '' } } },
  'a key id of every object': { key: stranger, header: { kid: '__proto__' } },
  'a key id that is empty': { key: stranger, header: { kid: '' } },
  'a key id that is long': { key: stranger, header: { kid: 'k'.repeat(4_000) } },
  'a key id with a line break': { key: stranger, header: { kid: 'k1\n' } },
  'a key id that is a file': { key: stranger, header: { kid: 'file:///dev/null' } },
  'a key id that is a command': { key: stranger, header: { kid: '|/bin/true' } },
  'a key in the header with its key id': { key: stranger, header: { jwk: jwkOf(STRANGER) } },
  'a key in the header and no key id': { key: stranger, header: { kid: undefined, jwk: jwkOf(STRANGER) } },
  'an address of keys that begins with the issuer': {
    key: stranger,
    header: { jku: 'http://127.0.0.1:1@evil.test/keys' },
  },
  'a thumbprint of a certificate': { key: stranger, header: { x5t: 'AAAA', 'x5t#S256': 'AAAA' } },
  'a nested token': {
    header: { cty: 'JWT' },
    payload: `${encode({ alg: 'none' })}.${encode({ sub: 'eve' })}.`,
  },
  'a nested token as JSON text': { header: { cty: 'JWT' }, payload: JSON.stringify('a.b.c') },
  'claims that are a number': { payload: '5' },
  'claims that are null': { payload: 'null' },
  'claims that are a list': { payload: '[]' },
  'claims that are no JSON': { payload: '{' },
  'claims with a mark of byte order': { payload: '\uFEFF{}' },
  'no claims': { payload: '' },
}

const CLAIMS: Readonly<Record<string, object>> = {
  'an audience in capitals': { aud: 'NOTES' },
  'an audience with a space': { aud: 'notes ' },
  'an audience in a list in a list': { aud: [['notes']] },
  'an audience with other letters': { aud: 'nоtes' },
  'an audience that is null': { aud: null },
  'an audience that is a list in words': { aud: 'notes,shop' },
  'an expiry of zero': { exp: 0 },
  'an expiry before the epoch': { exp: -1 },
  'an expiry that is null': { exp: null },
  'an expiry that is true': { exp: true },
  'an expiry in a list': { exp: [seconds(60)] },
  'an expiry that is a date': { exp: '2099-01-01T00:00:00Z' },
  'a start that is text': { nbf: '0' },
  'a start that is a list': { nbf: [0] },
  'a start in milliseconds': { nbf: Date.now() },
  'a time of issue in milliseconds': { iat: Date.now() },
  'a time of issue that is a list': { iat: [seconds(0)] },
  'a subject that is null': { sub: null },
  'a subject that is a list': { sub: ['ann'] },
  'a subject that is an object': { sub: { id: 'ann' } },
  'a role of every object': { roles: 'constructor' },
  'a role that is an object': { roles: { reader: true } },
  'a role in a list in a list': { roles: [['reader']] },
  'a role in capitals': { roles: ['READER'] },
  'a role with a space': { roles: ['reader '] },
  'an admin': { roles: ['admin', 'full-access'], role: 'reader', scope: 'reader' },
}

/** Names of the issuer that a lenient comparison would take for it. */
const ISSUERS: Readonly<Record<string, (url: string) => unknown>> = {
  'with a space': url => `${url} `,
  'with a mark of width zero': url => `${url}\u200B`,
  'with a line break': url => `${url}\n`,
  'with a NUL': url => `${url}\0`,
  'with a slash': url => `${url}/`,
  'with a fragment': url => `${url}#`,
  'with a query': url => `${url}?`,
  'with a user': url => url.replace('://', '://evil@'),
  'with a scheme in capitals': url => url.replace('http', 'HTTP'),
  'over https': url => url.replace('http:', 'https:'),
  'with backslashes': url => url.replace('//', '\\\\'),
  'with three slashes': url => url.replace('//', '///'),
  'with an encoded host': url => url.replace('127', '%3127'),
  'with a host in other digits': url => url.replace('127', '１２７'),
  'with a number for the host': url => url.replace('127.0.0.1', '2130706433'),
  'with a name for the host': url => url.replace('127.0.0.1', 'localhost'),
  'with a dot after the host': url => url.replace('127.0.0.1', '127.0.0.1.'),
  'with a port of zeros': url => url.replace(/:(\d+)$/, ':0$1'),
  'as an object': url => ({ toString: url }),
}

test('tokens with strange headers, claims and issuers are refused, signed or not', async t => {
  const issuer = await openIssuer(t)
  const statusOf = await open(t, issuer)
  t.is(await statusOf(token(issuer)), 200)
  const { keys } = issuer.state
  const good = token(issuer)
  const [head = '', body = '', signature = ''] = good.split('.')
  const encrypted = await new EncryptJWT({ iss: issuer.url, aud: 'notes', sub: 'eve', exp: seconds(60) })
    .setProtectedHeader({ alg: 'RSA-OAEP', enc: 'A256GCM', kid: 'k1' })
    .encrypt(OWN.publicKey)
  const hmac = createHmac('sha256', JSON.stringify({ keys })).update(
    `${encode({ alg: 'HS256', kid: 'k1' })}.${body}`,
  )
  const attacks: Readonly<Record<string, string>> = {
    ...Object.fromEntries(Object.entries(HEADERS).map(([name, parts]) => [name, token(issuer, parts)])),
    ...Object.fromEntries(Object.entries(CLAIMS).map(([name, claims]) => [name, token(issuer, { claims })])),
    ...Object.fromEntries(
      Object.entries(ISSUERS).map(([name, iss]) => [
        `an issuer ${name}`,
        token(issuer, { claims: { iss: iss(issuer.url) } }),
      ]),
    ),
    'a token encrypted for the issuer': encrypted,
    'the key set as a secret': `${encode({ alg: 'HS256', kid: 'k1' })}.${body}.${hmac.digest('base64url')}`,
    'a signature of zeros': `${head}.${body}.${Buffer.alloc(256).toString('base64url')}`,
    'a signature that is too long': `${head}.${body}.${signature}AAAA`,
    'a signature in reverse': `${head}.${body}.${[...signature].reverse().join('')}`,
    'a signature of other parts': `${head}.${encode({ ...JSON.parse(Buffer.from(body, 'base64url').toString()), sub: 'eve' })}.${signature}`,
    'a header of another token': `${encode({ alg: 'RS256', kid: 'k1', a: 1 })}.${body}.${signature}`,
    'a token in JSON': JSON.stringify({ protected: head, payload: body, signature }).replaceAll(' ', ''),
  }
  for (const [name, jwt] of attacksOn(t, 'strange tokens of an issuer', attacks))
    t.is(await statusOf(jwt), 401, name)
  t.is(await statusOf(good), 200)
})

const KEY_SETS: Readonly<Record<string, readonly [readonly unknown[], Parts?]>> = {
  'an empty key set': [[]],
  'a secret in the key set': [
    [{ kty: 'oct', k: encode('secret'), kid: 'k1', alg: 'HS256' }],
    { header: { alg: 'HS256' } },
  ],
  'a key for encryption': [[jwkOf(OWN, { use: 'enc' })]],
  'a key with other operations': [[jwkOf(OWN, { use: undefined, key_ops: ['encrypt'] })]],
  'a key of another algorithm': [[jwkOf(OWN, { alg: 'RS512' })]],
  'a key of 1,024 bits': [[jwkOf(rsa(1024))], { key: stranger }],
  'a key without a modulus': [[jwkOf(OWN, { n: undefined })]],
  'a key with an empty modulus': [[jwkOf(OWN, { n: '' })]],
  'a key with a modulus that is a number': [[jwkOf(OWN, { n: 5 })]],
  'a key without an exponent': [[jwkOf(OWN, { e: undefined })]],
  'a key of no kind': [[jwkOf(OWN, { kty: undefined })]],
  'a key of an unknown kind': [[jwkOf(OWN, { kty: 'RSA2' })]],
  'a key that is a text': [['k1']],
  'a key that is null': [[null]],
  'a key with the name of a curve': [
    [{ ...EC.publicKey.export({ format: 'jwk' }), kid: 'k1', alg: 'ES256' }],
  ],
  'a point that is on no curve': [
    [{ kty: 'EC', crv: 'P-256', x: encode('x'), y: encode('y'), kid: 'k1' }],
    { header: { alg: 'ES256' }, key: EC.privateKey },
  ],
  'two keys of one id, and a stranger': [[jwkOf(OWN), jwkOf(SECOND)], { key: stranger }],
  'two keys and no key id': [
    [jwkOf(OWN), jwkOf(SECOND, { kid: 'k2' })],
    { header: { kid: undefined }, key: stranger },
  ],
  'a thousand keys and a stranger': [
    Array.from({ length: 1_000 }, (_, at) => jwkOf(OWN, { kid: `k${at}` })),
    { key: stranger },
  ],
}

test('key sets with faults let no token in, and are no failure of the server', async t => {
  const statuses: (readonly [string, number])[] = []
  for (const [name, [keys, parts = {}]] of attacksOn(t, 'key sets of an issuer', KEY_SETS)) {
    const issuer = await openIssuer(t, keys)
    const algorithms = ['RS256', 'ES256']
    const statusOf = await open(t, issuer, { algorithms })
    const status = await statusOf(token(issuer, parts))
    statuses.push([name, status])
    const before = issuer.state.fetches
    for (let count = 0; count < 3; count++) await statusOf(token(issuer, parts))
    t.true(issuer.state.fetches - before <= 1, `${name}: ${issuer.state.fetches} fetches`)
  }
  t.deepEqual(
    statuses.filter(([, status]) => status !== 401 && status !== 503),
    [],
  )
})

test('one faulty key does not keep out tokens of the others', async t => {
  const issuer = await openIssuer(t, [
    jwkOf(OWN, { n: '', kid: 'k0' }),
    jwkOf(SECOND, { kid: 'k2' }),
    jwkOf(OWN),
  ])
  const statusOf = await open(t, issuer)
  t.is(await statusOf(token(issuer)), 200)
  t.is(await statusOf(token(issuer, { key: SECOND.privateKey, header: { kid: 'k2' } })), 200)
  t.is(await statusOf(token(issuer, { key: SECOND.privateKey })), 401)
})

test.serial('a rotated key is taken up, and tokens of the removed one are refused', async t => {
  const issuer = await openIssuer(t)
  const statusOf = await open(t, issuer)
  // The server's clock for times of tokens goes on; that of its key sets is moved.
  const claims = { iat: undefined }
  const before = () => token(issuer, { claims })
  const after = () => token(issuer, { claims, key: SECOND.privateKey, header: { kid: 'k2' } })
  t.is(await statusOf(before()), 200)
  issuer.state.keys = [jwkOf(SECOND, { kid: 'k2' })]
  moveClock(t, 31_000)
  t.is(await statusOf(after()), 200)
  t.is(await statusOf(before()), 401)
})
