import { setTimeout as pause } from 'node:timers/promises'
import threads from 'node:worker_threads'
import test, { type ExecutionContext } from 'ava'
import { openPasswordPool, PasswordQueueFull, PasswordThreadFailed } from '../../core/base/passwords.ts'
import { toRequestFault } from '../../core/database/request-fault.ts'
import { fault } from '../../core/faults/fault.ts'
import { replaceFunctions } from '../harness/replace-functions.ts'

const COST = 10

test.serial('passwords are hashed off the event loop', async t => {
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

test.serial('a full queue refuses immediately, and keeps its order', async t => {
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

test.serial('a failing task rejects, and later tasks are done', async t => {
  const pool = openPasswordPool({ threads: 1, maxQueued: 10 })
  const broken = pool.compare(undefined as unknown as string, 'x')
  const good = pool.hash('p', 4)
  await t.throwsAsync(broken)
  t.regex(await good, /^\$2/)
  await pause(0)
  t.regex(await pool.hash('q', 4), /^\$2/)
})

/** No more threads than `left` start, as at the limit of the system (`ulimit -u`). */
function limitThreads(t: ExecutionContext, left: number): () => void {
  const { Worker } = threads
  class Limited extends Worker {
    constructor(...words: ConstructorParameters<typeof Worker>) {
      if (left-- <= 0) throw Object.assign(new Error('EAGAIN'), { code: 'ERR_WORKER_INIT_FAILED' })
      super(...words)
    }
  }
  return replaceFunctions(t, threads, { Worker: Limited })
}

test.serial('tasks wait for the threads that run if no other one can be started', async t => {
  const restore = limitThreads(t, 1)
  const pool = openPasswordPool({ threads: 2, maxQueued: 10 })
  const hashes = await Promise.all(['a', 'b', 'c'].map(password => pool.hash(password, 4)))
  t.is(new Set(hashes).size, 3)
  restore()
  t.regex(await pool.hash('d', 4), /^\$2/)
})

test.serial('every waiting task fails if the only thread failed and no other one can be started', async t => {
  const restore = limitThreads(t, 1)
  const pool = openPasswordPool({ threads: 1, maxQueued: 10 })
  const broken = pool.compare(undefined as unknown as string, 'x')
  const waiting = ['a', 'b'].map(password => pool.hash(password, 4))
  await t.throwsAsync(broken, { message: 'bcrypt failed in a worker thread' })
  for (const each of waiting) await t.throwsAsync(each, { instanceOf: PasswordThreadFailed })
  await t.throwsAsync(pool.hash('c', 4), { instanceOf: PasswordThreadFailed })
  restore()
  t.regex(await pool.hash('d', 4), /^\$2/)
})

test.serial('a request whose password finds no thread is 503, and the log has the reason', async t => {
  const restore = limitThreads(t, 0)
  const failure = await t.throwsAsync(openPasswordPool({ threads: 1, maxQueued: 1 }).hash('a', 4))
  restore()
  t.deepEqual(toRequestFault(failure), {
    fault: fault('unavailable', 'Service Unavailable'),
    reason: 'no worker thread for passwords: EAGAIN',
  })
})
