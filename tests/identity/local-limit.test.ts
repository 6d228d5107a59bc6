import test from 'ava'
import { openLocalLimit } from '../../core/identity/rate-limit.ts'
import { growthOf } from '../harness/heap.ts'

test('each key has its own limit, and all windows end together', t => {
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

test('a flood of addresses uses bounded memory, and resets no limit', t => {
  const count = openLocalLimit({ window: 10_000, max: 2 }, () => 1_000)
  const growth = growthOf(130_000, number => {
    const header = `${'x'.repeat(1000)} network number ${number}`
    count(header.slice(1001))
    if (number % 1000 === 0) count('always there')
  })
  t.true(growth < 30e6, `${growth} bytes`)
  t.false(count('always there').allowed)
})

test('a clock that is set back begins a new window', t => {
  let now = 20_000_000
  const count = openLocalLimit({ window: 10_000, max: 1 }, () => now)
  count('one')
  t.false(count('one').allowed)
  now -= 10_800_000
  t.deepEqual(count('one'), { allowed: true, limit: 1, remaining: 0, endsAt: now + 10_000 })
  t.false(count('one').allowed)
})
