import crypto, { createHash } from 'node:crypto'
import test from 'ava'
import { compare, getRounds } from 'bcryptjs'
import { fitsPassword, hashPassword, verifyPassword } from '../../core/base/passwords.ts'
import { createRedactor } from '../../core/base/redact.ts'
import { equalHashes, hashToken, parseTokenHash, printTokenHash } from '../../core/base/tokens.ts'
import { replaceFunctions } from '../harness/replace-functions.ts'

test('a token is hashed as sha256sum does, and written with its prefix', t => {
  const hash = hashToken('token')
  t.is(printTokenHash(hash), `sha256:${createHash('sha256').update('token').digest('hex')}`)
  t.deepEqual(parseTokenHash(printTokenHash(hash)), hash)
})

for (const written of [
  '',
  'sha256:',
  'sha256:00',
  `md5:${'0'.repeat(64)}`,
  `sha256:${'0'.repeat(65)}`,
  `sha256:${'g'.repeat(64)}`,
]) {
  test(`${JSON.stringify(written)} is not a hash`, t => t.is(parseTokenHash(written), undefined))
}

test('hashes of another length are unequal, not an error', t => {
  t.true(equalHashes(hashToken('a'), hashToken('a')))
  t.false(equalHashes(hashToken('a'), hashToken('b')))
  t.false(equalHashes(hashToken('a'), Buffer.alloc(0)))
})

test.serial('hashes are compared in constant time', t => {
  const { timingSafeEqual } = crypto
  const compared: [string, string][] = []
  replaceFunctions(t, crypto, {
    timingSafeEqual: (a, b) => {
      compared.push([String(a), String(b)])
      return timingSafeEqual(a, b)
    },
  })
  const [own, other] = [hashToken('own'), hashToken('other')]
  t.false(equalHashes(own, other))
  t.true(equalHashes(own, hashToken('own')))
  t.deepEqual(compared, [
    [String(own), String(other)],
    [String(own), String(own)],
  ])
})

test('a password matches its hash, and two hashes of one password differ', async t => {
  const [one, other] = await Promise.all([hashPassword('correct horse'), hashPassword('correct horse')])
  t.regex(one, /^\$2[aby]\$10\$.{53}$/)
  t.not(one, other)
  t.true(await verifyPassword('correct horse', one))
  t.false(await verifyPassword('correct horsf', one))
})

test('a password longer than bcrypt reads is refused, not cut', async t => {
  const long = 'é'.repeat(36)
  t.true(fitsPassword(long))
  t.false(fitsPassword(`${long}x`))
  const hashed = await hashPassword(long)
  t.true(await verifyPassword(long, hashed))
  t.false(await verifyPassword(`${long}x`, hashed))
  await t.throwsAsync(hashPassword(`${long}x`), { instanceOf: RangeError })
})

test('a missing password never matches, and takes as long as a real one', async t => {
  const hashed = await hashPassword('secret')
  const compared: (readonly [string, string])[] = []
  const counted: typeof compare = async (password: string, hash: string) => {
    compared.push([password, hash])
    return compare(password, hash)
  }
  t.false(await verifyPassword('other', hashed, counted))
  t.false(await verifyPassword('other', null, counted))
  t.deepEqual(
    compared.map(([password, hash]) => [password, getRounds(hash), hash.length]),
    [
      ['other', getRounds(hashed), 60],
      ['other', getRounds(hashed), 60],
    ],
  )
  t.false(await verifyPassword('other', null, async () => true))
})

const MADE_ELSEWHERE = 'abcdefghijklmnopqrstuuG/UEkOdRnwd.E60H5mO5p7PHHbPkK.y'
for (const form of ['$2a$', '$2b$', '$2y$']) {
  test(`a hash of the form ${form} from another program is accepted`, async t => {
    t.true(await verifyPassword('Strapi-Passw0rd é', `${form}10$${MADE_ELSEWHERE}`))
    t.false(await verifyPassword('Strapi-Passw0rd e', `${form}10$${MADE_ELSEWHERE}`))
  })
}

test('logs hide known secrets, credentials and passwords in URLs', t => {
  const redact = createRedactor(['top-secret', 'top-secret-and-longer', 'abc', ''])
  t.is(redact('a top-secret-and-longer b top-secret c abc'), 'a [redacted] b [redacted] c abc')
  t.is(redact('authorization: Bearer aaa.bbb-ccc_ddd=='), 'authorization: Bearer [redacted]')
  t.is(redact('postgres://me:pass%40word@db:5432/x failed'), 'postgres://me:[redacted]@db:5432/x failed')
  t.is(redact('nothing of the kind'), 'nothing of the kind')
})
