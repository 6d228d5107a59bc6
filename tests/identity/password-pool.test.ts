import { setTimeout as pause } from 'node:timers/promises'
import test from 'ava'
import { openPasswordPool, PasswordQueueFull } from '../../core/base/passwords.ts'

const COST = 10

test('passwords are hashed off the event loop', async t => {
  const pool = openPasswordPool({ threads: 1, maxQueued: 100 })
  await pool.hash('warm', 4)
  const attempt = async () => {
    const began = process.cpuUsage().user
    const loop = performance.eventLoopUtilization()
    const hashes = await Promise.all(Array.from({ length: 9 }, (_, at) => pool.hash(`p${at}`, COST)))
    const { active } = performance.eventLoopUtilization(loop)
    return { hashes, active, worked: (process.cpuUsage().user - began) / 1000 }
  }
  // The time of the event loop contains that of other processes on the same processor: one try without them is enough.
  let { hashes, active, worked } = await attempt()
  for (let tries = 1; tries < 10 && active >= worked / 2; tries++)
    ({ hashes, active, worked } = await attempt())
  t.is(new Set(hashes).size, 9)
  t.true(active < worked / 2, `the event loop was busy for ${active} ms of ${worked}`)
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
