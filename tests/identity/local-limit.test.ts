import test from 'ava'
import { openLocalLimit } from '../../core/identity/local-limit.ts'

test('each key has its requests, until the window ends for all', t => {
  let now = 1_000
  const count = openLocalLimit({ window: 10_000, max: 2 }, () => now)
  t.deepEqual(count('one'), { allowed: true, limit: 2, remaining: 1, endsAt: 11_000 })
  t.deepEqual(count('one'), { allowed: true, limit: 2, remaining: 0, endsAt: 11_000 })
  t.deepEqual(count('one'), { allowed: false, limit: 2, remaining: 0, endsAt: 11_000 })
  now = 10_999
  t.true(count('other').allowed)
  t.false(count('one').allowed)
  now = 11_000
  t.deepEqual(count('one'), { allowed: true, limit: 2, remaining: 1, endsAt: 21_000 })
})
