import test from 'ava'
import { until } from '../harness/until.ts'
import { openGate, requestOf } from './connections.ts'

const server = process.env.TEST_DATABASE_URL ?? ''

const TWO = { pool: { max: 2, idle: 10_000, acquire: 2_000 } }

const SELECT_1 = { text: 'SELECT 1', values: [] }

const PID = { text: 'SELECT pg_backend_pid(), pg_sleep(0.1)', values: [] }

test('statements reuse idle connections', async t => {
  const gate = await openGate(t, server, TWO)
  const held = [gate.run(0, requestOf('a')), gate.run(1, requestOf('b'))]
  await gate.untilRunning(2)
  t.like(gate.database.connections(), { busy: 2, idle: 0 })
  await gate.open(0, 1)
  await Promise.all(held)
  t.like(gate.database.connections(), { busy: 0, idle: 2 })
  const asked = ['a', 'b', 'c', 'd'].map(caller => gate.database.run(PID, requestOf(caller)))
  const pids = new Set((await Promise.all(asked)).map(({ rows }) => rows[0]?.[0]))
  t.is(pids.size, 2)
  t.like(gate.database.connections(), { busy: 0, idle: 2 })
})

test('a waiting statement gets the next free connection', async t => {
  const gate = await openGate(t, server, TWO)
  const held = [gate.run(0, requestOf('a')), gate.run(1, requestOf('b'))]
  await gate.untilRunning(2)
  const waiting = gate.database.run(SELECT_1, requestOf('c'))
  t.is(gate.database.connections().waiting, 1)
  await gate.open(0)
  await waiting
  await gate.open(1)
  await Promise.all(held)
  t.like(gate.database.connections(), { busy: 0, idle: 2 })
})

test('an idle connection that the server closed is not used again', async t => {
  const gate = await openGate(t, server, TWO)
  const pid = async () => {
    const { rows } = await gate.database.run({ text: 'SELECT pg_backend_pid()', values: [] }, requestOf('a'))
    return Number(rows[0]?.[0])
  }
  const first = await pid()
  t.is(await pid(), first, 'the connection that was used last is used again')
  await gate.end(first)
  await until('another connection serves', async () => (await pid()) !== first)
  t.not(await pid(), first)
})

test('unused connections are released, and closed after pool.idle', async t => {
  const gate = await openGate(t, server, { pool: { max: 2, idle: 500, acquire: 2_000 } })
  await gate.database.run(SELECT_1, requestOf('a'))
  t.is(gate.database.connections().idle, 1)
  await until('the connection is closed', () => gate.database.connections().idle === 0)
  const { rows } = await gate.database.run(SELECT_1, requestOf('a'))
  t.deepEqual(rows, [[1]])
})

test('closing the database closes idle connections, and those in use after they are released', async t => {
  const gate = await openGate(t, server, TWO)
  await gate.database.run(SELECT_1, requestOf('a'))
  const held = gate.run(0, requestOf('a'))
  await gate.untilRunning(1)
  const closed = gate.database.close()
  await gate.open(0)
  await held
  await closed
  t.like(gate.database.connections(), { busy: 0, idle: 0 })
})
