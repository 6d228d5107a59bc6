import { setTimeout as pause } from 'node:timers/promises'
import test from 'ava'
import { openPasswordPool, PasswordQueueFull } from '../../core/base/passwords.ts'

const COST = 10

test('passwords are hashed off the event loop', async t => {
  const pool = openPasswordPool({ threads: 1, maxQueued: 100 })
  await pool.hash('warm', 4)
  let turns = 0
  let isHashing = true
  const turn = () => {
    turns++
    if (isHashing) setImmediate(turn)
  }
  setImmediate(turn)
  const hashes = await Promise.all(Array.from({ length: 9 }, (_, at) => pool.hash(`p${at}`, COST)))
  isHashing = false
  t.is(new Set(hashes).size, 9)
  // Hashing on the event loop would leave it some turns for each password.
  t.true(turns > 1_000, `the event loop had ${turns} turns`)
  t.true(await pool.compare('p3', hashes[3] ?? ''))
  t.false(await pool.compare('p4', hashes[3] ?? ''))
})

test('a full queue refuses immediately, and keeps its order', async t => {
  const pool = openPasswordPool({ threads: 1, maxQueued: 2 })
  const done: number[] = []
  const asked = [0, 1, 2, 3, 4].map(at => pool.hash(`p${at}`, 4).then(() => done.push(at)))
  const settled = await Promise.allSettled(asked)
  t.deepEqual(done, [0, 1, 2])
  t.deepEqual(
    settled.map(each => (each.status === 'rejected' ? each.reason instanceof PasswordQueueFull : null)),
    [null, null, null, true, true],
  )
})

test('a failing task rejects, and later tasks are done', async t => {
  const pool = openPasswordPool({ threads: 1, maxQueued: 10 })
  const broken = pool.compare(undefined as unknown as string, 'x')
  const good = pool.hash('p', 4)
  await t.throwsAsync(broken)
  t.regex(await good, /^\$2/)
  await pause(0)
  t.regex(await pool.hash('q', 4), /^\$2/)
})
