import test from 'ava'
import { toDatabaseFault } from '../../core/database/database-fault.ts'
import { openGate, requestOf } from './connections.ts'

const server = process.env.TEST_DATABASE_URL ?? ''

const range = (from: number, to: number) => Array.from({ length: to - from }, (_, index) => from + index)

test('one request runs at most four statements at the same time, in order', async t => {
  const gate = await openGate(t, server)
  const one = requestOf('a')
  const all = range(0, 12).map(number => gate.run(number, one))
  t.deepEqual(await gate.untilRunning(4), [0, 1, 2, 3])
  t.is(gate.database.connections().waiting, 8)
  await gate.open(1, 3)
  t.deepEqual(await gate.untilRunning(4), [0, 2, 4, 5])
  await gate.open(...range(0, 12))
  await Promise.all(all)
  t.is(gate.database.connections().waiting, 0)
})

test('requests of one caller are served round-robin', async t => {
  const gate = await openGate(t, server)
  const [large, larger, small] = [requestOf('a'), requestOf('a'), requestOf('a')]
  const first = range(0, 20).map(number => gate.run(number, large))
  const second = range(20, 40).map(number => gate.run(number, larger))
  t.deepEqual(await gate.untilRunning(8), [0, 1, 2, 3, 20, 21, 22, 23])
  const third = gate.run(40, small)
  await gate.open(0)
  t.deepEqual(await gate.untilRunning(8), [1, 2, 3, 4, 20, 21, 22, 23])
  await gate.open(1)
  t.deepEqual(
    await gate.untilRunning(8),
    [2, 3, 4, 20, 21, 22, 23, 40],
    'behind one statement of each other request',
  )
  await gate.open(20)
  t.deepEqual(await gate.untilRunning(8), [2, 3, 4, 21, 22, 23, 24, 40])
  await gate.open(...range(0, 41))
  await Promise.all([...first, ...second, third])
})

test('a caller with many requests leaves connections to other callers', async t => {
  const gate = await openGate(t, server)
  const many = range(0, 30).map(number => gate.run(number, requestOf('busy')))
  t.is((await gate.untilRunning(8)).length, 8)
  const other = gate.run(50, requestOf('quiet'))
  t.true((await gate.untilRunning(9)).includes(50), 'without waiting for any statement of the first')
  await gate.open(50)
  await other
  const others = range(60, 64).map(number => gate.run(number, requestOf(`caller ${number}`)))
  await gate.untilRunning(9)
  await gate.open(0)
  await gate.untilRunning(9)
  await gate.open(...range(60, 64))
  await Promise.all(others)
  t.pass('callers with one statement each were served before the 22 that waited longer')
  await gate.open(...range(1, 30))
  await Promise.all(many)
})

test('hanging writes leave connections to reads, and hanging reads to writes', async t => {
  const gate = await openGate(t, server)
  const writes = range(0, 20).map(number => gate.write(number, requestOf(`writer ${number}`)))
  t.is((await gate.untilRunning(8)).length, 8)
  const { rows } = await gate.database.run({ text: 'SELECT 1', values: [] }, requestOf('reader'))
  t.deepEqual(rows, [[1]])
  t.true((await gate.database.ping()).ok)
  await gate.open(...range(0, 20))
  await Promise.all(writes)
  const reads = range(100, 120).map(number => gate.run(number, requestOf(`reader ${number}`)))
  t.is((await gate.untilRunning(9)).length, 9)
  await gate.database.transaction(transaction => transaction.run({ text: 'SELECT 1', values: [] }), {
    ...requestOf('writer'),
    readonly: false,
  })
  await gate.open(...range(100, 120))
  await Promise.all(reads)
})

test('a statement that waits too long for a connection is refused as busy, and never sent', async t => {
  const gate = await openGate(t, server, { pool: { max: 2, idle: 10_000, acquire: 2_000 } })
  const held = [gate.run(0, requestOf('a')), gate.run(1, requestOf('b'))]
  await gate.untilRunning(2)
  const error = await t.throwsAsync(gate.run(2, requestOf('c')))
  t.is(toDatabaseFault(error)?.kind, 'busy')
  t.is(gate.database.connections().waiting, 0)
  t.deepEqual(await gate.running(), [0, 1])
  await gate.open(0, 1)
  await Promise.all(held)
})

test('statements that wait for others of the same request are not refused', async t => {
  const gate = await openGate(t, server, { pool: { max: 10, idle: 10_000, acquire: 2_000 } })
  const one = requestOf('a')
  const all = range(0, 6).map(number => gate.run(number, one))
  await gate.untilRunning(4)
  await new Promise(resolve => setTimeout(resolve, 3_000))
  await gate.open(...range(0, 6))
  await t.notThrowsAsync(Promise.all(all))
})

test('statements of a disconnected client leave the queue without running', async t => {
  const gate = await openGate(t, server)
  const busy = range(0, 9).map(number => gate.run(number, requestOf(`caller ${number}`)))
  await gate.untilRunning(9)
  const leaving = requestOf('leaving')
  const left = t.throwsAsync(gate.run(20, leaving))
  const staying = gate.run(21, requestOf('staying'))
  leaving.origin.isDisconnected = true
  await gate.open(0)
  await left
  t.deepEqual(await gate.untilRunning(9), [1, 2, 3, 4, 5, 6, 7, 8, 21])
  await gate.open(...range(1, 9), 21)
  await Promise.all([...busy, staying])
})

test('a read over limits.time is cancelled in PostgreSQL too', async t => {
  const gate = await openGate(t, server, {
    limits: { time: 200, bytes: 0, statements: 4 },
    pool: { max: 4, idle: 10_000, acquire: 5_000 },
  })
  const error = await t.throwsAsync(gate.run(0, requestOf('a')))
  t.is(toDatabaseFault(error)?.kind, 'timeout')
  await gate.untilRunning(0)
  const { rows } = await gate.database.run({ text: 'SELECT 1', values: [] }, requestOf('a'))
  t.deepEqual(rows, [[1]])
})

test('a result with more bytes than allowed is not read completely', async t => {
  const { database } = await openGate(t, server)
  const length = async (characters: number, maxBytes: number) => {
    const text = `SELECT repeat('x', ${characters})`
    const { rows } = await database.run({ text, values: [] }, { ...requestOf('a'), maxBytes })
    return String(rows[0]?.[0]).length
  }
  const error = await t.throwsAsync(length(50_000_000, 100_000))
  t.is(toDatabaseFault(error)?.kind, 'too-large')
  t.is(await length(99_000, 100_000), 99_000)
  t.is(await length(200_000, 300_000), 200_000)
})
