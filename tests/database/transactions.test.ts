import { setTimeout as sleep } from 'node:timers/promises'
import test from 'ava'
import type { Database, Transaction } from '../../core/database/database.ts'
import { DatabaseFailure } from '../../core/database/database-fault.ts'
import { inRequestTransaction } from '../../core/database/request-scope.ts'
import { openSequelize } from '../../core/database/sequelize.ts'
import { openTestDatabase } from '../harness/test-database.ts'

const insert = (value: number) => ({ text: 'INSERT INTO plate (id) VALUES ($1)', values: [value] })

async function withPlates(t: Parameters<typeof openTestDatabase>[0]): Promise<Database> {
  const database = await openTestDatabase(t)
  await database.run({ text: 'CREATE TABLE plate (id int PRIMARY KEY)', values: [] })
  return database
}

async function plates(database: Database): Promise<readonly unknown[]> {
  const { rows } = await database.run({ text: 'SELECT id FROM plate ORDER BY id', values: [] })
  return rows.flat()
}

test('changes of a transaction are visible after its commit', async t => {
  const database = await withPlates(t)
  const answer = await database.transaction(async transaction => {
    await transaction.run(insert(1))
    await database.run(insert(2), { transaction })
    return 'done'
  })
  t.is(answer, 'done')
  t.deepEqual(await plates(database), [1, 2])
})

test('an error rolls back everything and is rethrown unchanged', async t => {
  const database = await withPlates(t)
  const error = new Error('changed my mind')
  const thrown = await t.throwsAsync(
    database.transaction(async transaction => {
      await transaction.run(insert(1))
      throw error
    }),
  )
  t.is(thrown, error)
  t.deepEqual(await plates(database), [])
})

test('concurrent statements of a transaction run in order, and none runs after a failed one', async t => {
  const database = await withPlates(t)
  const [first, second, third] = await database.transaction(async transaction => {
    await transaction.run(insert(1))
    return Promise.all([transaction.run(insert(2)), transaction.run(SUM), transaction.run(insert(4))])
  })
  t.deepEqual([first.count, second.rows, third.count], [1, [[3]], 1])
  const failing = database.transaction(transaction =>
    Promise.allSettled([transaction.run(insert(5)), transaction.run(insert(1)), transaction.run(SUM)]),
  )
  await t.throwsAsync(failing, { instanceOf: DatabaseFailure, message: /swallowed/ })
  const refused = database.transaction(transaction =>
    Promise.all([transaction.run(insert(6)), transaction.run(insert(1))]),
  )
  const { fault } = await t.throwsAsync(refused, { instanceOf: DatabaseFailure })
  t.is(fault.kind, 'unique')
  t.deepEqual(await plates(database), [1, 2, 4])
})

test('deferred statements are sent with the next query or the commit, and their failure rolls all of it back', async t => {
  const database = await withPlates(t)
  await database.transaction(async transaction => {
    transaction.send(insert(1))
    t.deepEqual((await transaction.run(SUM)).rows, [[1]])
    transaction.send(insert(2))
  })
  await database.transaction(async transaction => {
    transaction.send(insert(3))
    transaction.send(insert(4))
  })
  t.deepEqual(await plates(database), [1, 2, 3, 4])
  const failing = async (work: (transaction: Transaction) => Promise<unknown>) => {
    const { fault } = await t.throwsAsync(database.transaction(work), { instanceOf: DatabaseFailure })
    t.is(fault.kind, 'unique')
    t.deepEqual(await plates(database), [1, 2, 3, 4])
  }
  await failing(async transaction => {
    transaction.send(insert(5))
    transaction.send(insert(1))
    transaction.send(insert(6))
  })
  await failing(async transaction => {
    transaction.send(insert(5))
    transaction.send(insert(1))
    await transaction.run(SUM).catch(() => undefined)
    await transaction.run(SUM).catch(() => undefined)
  })
  const options = { isolation: 'serializable' } as const
  await database.transaction(async transaction => transaction.send(insert(5)), options)
  t.deepEqual(await plates(database), [1, 2, 3, 4, 5])
})

const SUM = { text: 'SELECT sum(id)::int FROM plate', values: [] }

test('statements queued at the moment of a failure do not run afterwards', async t => {
  const database = await withPlates(t)
  let late: Promise<unknown> = Promise.resolve()
  const work = (transaction: Transaction) => {
    late = t.throwsAsync(transaction.run(insert(1)), { message: /over/ })
    throw new Error('no')
  }
  await t.throwsAsync(
    database.transaction(async transaction => work(transaction)),
    { message: 'no' },
  )
  await late
  t.deepEqual(await plates(database), [])
})

test('failing transactions never exhaust the connections', async t => {
  const database = await withPlates(t)
  for (let attempt = 0; attempt < 30; attempt++) {
    await t.throwsAsync(database.transaction(() => Promise.reject(new Error('no'))))
    await t.throwsAsync(
      database.transaction(transaction => transaction.run({ text: 'SELECT nonsense', values: [] })),
    )
  }
  t.deepEqual(await plates(database), [])
})

test.serial('concurrent transactions do not see one another before they end', async t => {
  const database = await withPlates(t)
  const add = (value: number) =>
    database.transaction(async transaction => {
      await transaction.run(insert(value))
      await sleep(Math.random() * 10)
      const { rows } = await transaction.run({
        text: 'SELECT count(*) FROM plate WHERE id % 2 = 1',
        values: [],
      })
      if (value % 2 === 1) throw new Error('odd')
      return rows[0]?.[0]
    })
  const answers = await Promise.allSettled(Array.from({ length: 40 }, (_, value) => add(value)))
  t.deepEqual(
    answers.map(({ status }) => status),
    answers.map((_, value) => (value % 2 === 1 ? 'rejected' : 'fulfilled')),
  )
  t.true(answers.every(answer => answer.status === 'rejected' || answer.value === 0))
  t.deepEqual(
    await plates(database),
    Array.from({ length: 20 }, (_, half) => half * 2),
  )
})

test('statements outside of a transaction run concurrently and do not see its changes', async t => {
  const database = await withPlates(t)
  const outside: Promise<readonly unknown[]>[] = []
  await database.transaction(async transaction => {
    await transaction.run(insert(1))
    outside.push(plates(database))
    await sleep(20)
    await transaction.run({ text: 'DELETE FROM plate', values: [] })
  })
  t.deepEqual(await Promise.all(outside), [[]])
})

test('a transaction with a swallowed error fails', async t => {
  const database = await withPlates(t)
  const work = async (transaction: Transaction) => {
    await transaction.run(insert(1))
    await t.throwsAsync(transaction.run(insert(1)))
  }
  await t.throwsAsync(database.transaction(work), {
    instanceOf: DatabaseFailure,
    message: /nothing is committed/,
  })
  t.deepEqual(await plates(database), [])
})

test('a transaction accepts no statement after its end', async t => {
  const database = await withPlates(t)
  const kept = await database.transaction(async transaction => transaction)
  await t.throwsAsync(kept.run(insert(1)), { message: 'The transaction is over' })
  t.deepEqual(await plates(database), [])
})

test('a read-only transaction cannot write', async t => {
  const database = await withPlates(t)
  const work = (transaction: Transaction) => transaction.run(insert(1))
  await t.throwsAsync(database.transaction(work, { readonly: true, isolation: 'repeatable read' }), {
    message: /read-only/,
  })
})

test('a named lock blocks other sessions until the transaction ends', async t => {
  const database = await withPlates(t)
  const events: string[] = []
  const turn = (name: string) =>
    database.transaction(async transaction => {
      await transaction.lock('kitchen')
      events.push(`${name} in`)
      await sleep(10)
      events.push(`${name} out`)
    })
  await Promise.all([turn('a'), turn('b'), turn('c')])
  t.is(events.length, 6)
  for (let at = 0; at < 6; at += 2) t.is(events[at]?.[0], events[at + 1]?.[0])
  t.true(await database.transaction(transaction => transaction.tryLock('kitchen')))
})

test('a nested transaction that cannot be undone fails the whole for its own reason', async t => {
  const database = await withPlates(t)
  const refusal = new Error('refused')
  const work = async (transaction: Transaction) => {
    await transaction.run(insert(1))
    await t.throwsAsync(
      transaction.nest(async inner => {
        await inner.run(insert(2))
        // As if the session was lost.
        await inner.runScript('RELEASE SAVEPOINT plinth_1')
        throw refusal
      }),
      { is: refusal },
    )
  }
  await t.throwsAsync(database.transaction(work), { is: refusal })
  t.deepEqual(await plates(database), [])
})

test('Sequelize queries take part in the transaction', async t => {
  const database = await withPlates(t)
  const work = async (transaction: Transaction) => {
    const sequelize = openSequelize({
      query: query => transaction.query(query),
      transaction: inner => transaction.nest(inner),
    })
    await sequelize.query('CREATE TABLE cup (id int); CREATE TABLE fork (id int)')
    await transaction.runScript('INSERT INTO cup VALUES (1)')
    const [rows] = await sequelize.query('SELECT * FROM cup')
    t.deepEqual(rows, [{ id: 1 }])
    throw new Error('no')
  }
  await t.throwsAsync(database.transaction(work), { message: 'no' })
  const { rows } = await database.run({ text: "SELECT to_regclass('cup')::text", values: [] })
  t.deepEqual(rows, [[null]])
})

test('a read of a request that is one transaction keeps its limit, and the transaction goes on', async t => {
  const database = await withPlates(t)
  const read = (text: string, values: readonly unknown[] = [], maxBytes = 1_000) =>
    database.run({ text, values }, { readonly: true, maxBytes })
  await database.transaction(async transaction => {
    const whole = { transaction, afterCommit: [], boundsReads: true, isTouched: false, isOver: false }
    await inRequestTransaction(undefined, whole, async () => {
      await database.run(insert(1))
      const wide = 'SELECT repeat($1::text, 2000)::json, id FROM plate'
      const error = await t.throwsAsync(read(wide, ['1']), { instanceOf: DatabaseFailure })
      t.like(error?.fault, { kind: 'too-large', bytes: 1_000 })
      t.is(String((await read(wide, ['1'], 3_000)).rows[0]?.[0]).length, 2_000)
      t.deepEqual(await read('SELECT $1::text, null, id FROM plate', ['a']), {
        rows: [['a', null, 1]],
        count: 1,
      })
      t.deepEqual(await read('SELECT null'), { rows: [[null]], count: 1 })
      t.deepEqual(await read('SELECT id, id FROM plate WHERE id = 2'), { rows: [], count: 0 })
      t.deepEqual((await read('WITH n AS (SELECT generate_series(1, 3) AS n) SELECT n FROM n')).rows, [
        [1],
        [2],
        [3],
      ])
      const all = await t.throwsAsync(read('SELECT generate_series(1, 100)'), { instanceOf: DatabaseFailure })
      t.is(all?.fault.kind, 'too-large')
    })
  })
  t.deepEqual(await plates(database), [1])
})
