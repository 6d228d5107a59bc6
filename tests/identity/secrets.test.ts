import { createHash } from 'node:crypto'
import test from 'ava'
import { fitsPassword, hashPassword, verifyPassword } from '../../core/secrets/passwords.ts'
import { createRedactor } from '../../core/secrets/redact.ts'
import { equalHashes, hashToken, parseTokenHash, printTokenHash } from '../../core/secrets/tokens.ts'

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
  test(`${JSON.stringify(written)} is no hash`, t => t.is(parseTokenHash(written), undefined))
}

test('hashes of another length are unequal, not an error', t => {
  t.true(equalHashes(hashToken('a'), hashToken('a')))
  t.false(equalHashes(hashToken('a'), hashToken('b')))
  t.false(equalHashes(hashToken('a'), Buffer.alloc(0)))
})

test('comparing hashes takes as long wherever they differ', t => {
  const own = hashToken('own')
  const [early, late] = [Buffer.from(own), Buffer.from(own)]
  early[0] = (early[0] ?? 0) ^ 1
  late[31] = (late[31] ?? 0) ^ 1
  const times = { early: [] as number[], late: [] as number[] }
  for (let round = 0; round < 60; round++) {
    times.early.push(timeOf(() => equalHashes(own, early)))
    times.late.push(timeOf(() => equalHashes(own, late)))
  }
  const ratio = median(times.early.slice(20)) / median(times.late.slice(20))
  t.true(ratio > 0.5 && ratio < 2, `ratio ${ratio}`)
})

function timeOf(compare: () => boolean): number {
  const start = process.hrtime.bigint()
  for (let times = 0; times < 2000; times++) compare()
  return Number(process.hrtime.bigint() - start)
}

const median = (values: readonly number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0

test('a password is known by its hash, and two hashes of one differ', async t => {
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

test('the password of nobody never matches, and takes the time of somebody', async t => {
  const hashed = await hashPassword('secret')
  const start = process.hrtime.bigint()
  t.false(await verifyPassword('secret', hashed.replace(/.$/, hashed.endsWith('a') ? 'b' : 'a')))
  const middle = process.hrtime.bigint()
  t.false(await verifyPassword('secret', null))
  const ratio = Number(process.hrtime.bigint() - middle) / Number(middle - start)
  t.true(ratio > 0.2 && ratio < 5, `ratio ${ratio}`)
})

test('secrets do not show in logs: known ones, credentials, passwords in addresses', t => {
  const redact = createRedactor(['top-secret', 'top-secret-and-longer', 'abc', ''])
  t.is(redact('a top-secret-and-longer b top-secret c abc'), 'a [redacted] b [redacted] c abc')
  t.is(redact('authorization: Bearer aaa.bbb-ccc_ddd=='), 'authorization: Bearer [redacted]')
  t.is(redact('postgres://me:pass%40word@db:5432/x failed'), 'postgres://me:[redacted]@db:5432/x failed')
  t.is(redact('nothing of the kind'), 'nothing of the kind')
})
