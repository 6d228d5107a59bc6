import { createHmac } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'ava'
import { networkOf } from '../../core/identity/rate-limit.ts'
import { hashCode, isUnexpired, newCode } from '../../core/identity/sign-in/codes.ts'
import { loadJwtSecret, openSessions } from '../../core/identity/sign-in/sessions.ts'
import { openTestApp } from '../harness/test-app.ts'
import { attacksOn } from './attacks.ts'

const SECRET = 'a-secret-of-thirty-two-characters!'
let now = Date.parse('2030-01-01T00:00:00Z')
const sessions = openSessions({ secret: SECRET, lifetime: 60_000, now: () => now })

const encode = (part: object): string => Buffer.from(JSON.stringify(part)).toString('base64url')

function forge(header: object, payload: object, secret = SECRET, hash = 'sha256'): string {
  const signed = `${encode(header)}.${encode(payload)}`
  return `${signed}.${createHmac(hash, secret).update(signed).digest('base64url')}`
}

const seconds = Math.floor(now / 1000)
const GOOD = { id: 7, version: 2, iat: seconds, exp: seconds + 60 }

test.serial('a token identifies its user until it expires', async t => {
  const token = await sessions.issue({ id: 7, version: 2, sessionId: 'one' })
  t.deepEqual(await sessions.read(token), { id: 7, version: 2, sessionId: 'one' })
  now += 61_000
  t.is(await sessions.read(token), null)
  now -= 61_000
})

test('while a secret is replaced, tokens of both secrets are valid, and new ones are signed with the new', async t => {
  const NEXT = 'the-next-secret-of-thirty-two-characters'
  const options = { lifetime: 60_000, now: () => now }
  const after = openSessions({ ...options, secret: NEXT, otherSecrets: [SECRET] })
  const older = await sessions.issue({ id: 7, version: 2, sessionId: 'one' })
  t.deepEqual(await after.read(older), { id: 7, version: 2, sessionId: 'one' })
  const newer = await after.issue({ id: 7, version: 2, sessionId: 'two' })
  t.is(await sessions.read(newer), null)
  const only = openSessions({ ...options, secret: NEXT })
  t.deepEqual(await only.read(newer), { id: 7, version: 2, sessionId: 'two' })
  t.is(await only.read(older), null)
  for (const token of Object.values(FORGED)) t.is(await after.read(token), null)
  const expired = forge({ alg: 'HS256' }, { ...GOOD, exp: seconds - 1 })
  t.is(await after.read(expired), null)
})

test('a server with jwtPreviousSecrets accepts tokens of both secrets and no others', async t => {
  const { request } = await openTestApp(t, {
    project: {
      contentTypes: { note: { attributes: { text: 'string' } } },
      auth: { jwtSecret: 'the-next-secret-of-thirty-two-characters', jwtPreviousSecrets: [SECRET, ''] },
      roles: {
        public: { permissions: { auth: ['register'] } },
        authenticated: { permissions: { users: ['me'] } },
      },
    },
  })
  const body = { username: 'ann', email: 'ann@example.org', password: 'Ann-Password1' }
  const { jwt } = (await request('POST', '/api/auth/local/register', { body })).body as { jwt: string }
  const payload = JSON.parse(Buffer.from(jwt.split('.')[1] ?? '', 'base64url').toString())
  const statusOf = async (token: string) => (await request('GET', '/api/users/me', { token })).status
  t.is(await statusOf(jwt), 200)
  t.is(await statusOf(forge({ alg: 'HS256' }, payload)), 200)
  t.is(await statusOf(forge({ alg: 'HS256' }, payload, 'another secret of thirty-two letters')), 401)
  t.is(await statusOf(forge({ alg: 'HS256' }, payload, '')), 401)
})

test('each session has an id of its own', async t => {
  const read = async () => (await sessions.read(await sessions.issue({ id: 7, version: 2 })))?.sessionId
  const ids = await Promise.all([read(), read()])
  t.true(ids.every(id => typeof id === 'string' && id.length >= 16))
  t.not(ids[0], ids[1])
})

test('a token signed elsewhere with the secret is valid', async t => {
  t.deepEqual(await sessions.read(forge({ alg: 'HS256', typ: 'JWT' }, GOOD)), { id: 7, version: 2 })
})

const FORGED: Readonly<Record<string, string>> = {
  unsigned: `${encode({ alg: 'none' })}.${encode(GOOD)}.`,
  'unsigned with a signature': forge({ alg: 'none' }, GOOD),
  'of another algorithm': forge({ alg: 'HS512' }, GOOD, SECRET, 'sha512'),
  'of another secret': forge({ alg: 'HS256' }, GOOD, 'another secret of thirty-two letters'),
  'without an end': forge({ alg: 'HS256' }, { id: 7, version: 2, iat: seconds }),
  'without an id': forge({ alg: 'HS256' }, { version: 2, iat: seconds, exp: seconds + 60 }),
  'with an id that is text': forge({ alg: 'HS256' }, { ...GOOD, id: '7' }),
  'with an id that no row has': forge({ alg: 'HS256' }, { ...GOOD, id: 2 ** 31 }),
  'without a session': forge({ alg: 'HS256' }, { id: 7, iat: seconds, exp: seconds + 60 }),
  'no token at all': 'a.b.c',
}
test('forged tokens identify no user', async t => {
  for (const [what, token] of attacksOn(t, 'session tokens', FORGED))
    t.is(await sessions.read(token), null, what)
})

function folder(t: { teardown(work: () => void): void }): string {
  const path = mkdtempSync(join(tmpdir(), 'plinth-secret-'))
  t.teardown(() => rmSync(path, { recursive: true, force: true }))
  return path
}

test('development creates one secret and stores it privately', async t => {
  const root = folder(t)
  const made = await Promise.all([1, 2, 3].map(() => loadJwtSecret({ input: '', root, production: false })))
  const again = await loadJwtSecret({ input: '', root, production: false })
  t.true(again.ok && again.value.length >= 32)
  for (const each of made) t.deepEqual(each, again)
  const file = join(root, '.plinth/jwt-secret')
  t.is(statSync(file).mode & 0o777, 0o600)
  t.is(readFileSync(file, 'utf8').trim(), again.ok ? again.value : '')
})

test('production requires a configured secret', async t => {
  const root = folder(t)
  const refused = await loadJwtSecret({ input: '', root, production: true })
  t.true(!refused.ok && refused.reasons.join().includes('JWT_SECRET'))
  t.deepEqual(await loadJwtSecret({ input: SECRET, root, production: true }), { ok: true, value: SECRET })
})

test('a mailed code is stored as a hash, and its expiry cannot be extended', t => {
  const { code, hash } = newCode(1000, now)
  t.is(hash, hashCode(code))
  t.false(hash.includes(code.slice(0, 64)))
  t.true(isUnexpired(code, now + 999))
  t.false(isUnexpired(code, now + 1000))
  t.not(hashCode(`${code.slice(0, 64)}${(now + 9_000_000).toString(36)}`), hash)
  for (const wrong of ['', 'abc', code.slice(0, 64), `${code}!`]) t.false(isUnexpired(wrong, now), wrong)
})

test('addresses of one IPv6 network count as one, IPv4-mapped addresses as IPv4', t => {
  t.is(networkOf('2001:db8:1:2:3:4:5:6'), networkOf('2001:0DB8:1:2::9'))
  t.not(networkOf('2001:db8:1:2::1'), networkOf('2001:db8:1:3::1'))
  t.is(networkOf('::ffff:10.0.0.1'), '10.0.0.1')
  t.not(networkOf('10.0.0.1'), networkOf('10.0.0.2'))
  t.is(networkOf('10.0.0.1:5001'), networkOf('10.0.0.1:5002'))
  t.is(networkOf('[2001:db8:1:2::1]:443'), networkOf('2001:db8:1:2::9'))
  t.is(networkOf('[::ffff:10.0.0.1]:80'), '10.0.0.1')
})
