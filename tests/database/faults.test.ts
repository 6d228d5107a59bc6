import test from 'ava'
import { toDatabaseFault } from '../../core/database/database-fault.ts'
import { administer, openTestDatabase, testServer } from '../harness/test-database.ts'

const faultOf = async (work: Promise<unknown>) => toDatabaseFault(await work.catch(error => error))

test('a violated constraint is reported by kind and name, without the values', async t => {
  const database = await openTestDatabase(t)
  await database.transaction(transaction =>
    transaction.runScript(`
    CREATE TABLE town (id int PRIMARY KEY);
    CREATE TABLE person (
      email text CONSTRAINT person_email_unique UNIQUE,
      age int NOT NULL CONSTRAINT person_age_positive CHECK (age > 0),
      town int CONSTRAINT person_town_known REFERENCES town (id)
    )`),
  )
  const add = (email: string, age: number | null, town: number | null) =>
    faultOf(database.run({ text: 'INSERT INTO person VALUES ($1, $2, $3)', values: [email, age, town] }))
  t.is(await add('ann@example.org', 30, null), undefined)
  const at = { table: 'person', column: null }
  t.like(await add('ann@example.org', 30, null), { kind: 'unique', constraint: 'person_email_unique', ...at })
  t.like(await add('bob@example.org', -1, null), { kind: 'check', constraint: 'person_age_positive', ...at })
  t.like(await add('bob@example.org', 30, 5), { kind: 'foreignKey', constraint: 'person_town_known', ...at })
  t.like(await add('bob@example.org', null, null), {
    kind: 'notNull',
    constraint: null,
    table: 'person',
    column: 'age',
  })
  t.false((await add('ann@example.org', 30, null))?.message.includes('ann@'))
})

test('any other database error carries its SQLSTATE', async t => {
  const database = await openTestDatabase(t)
  t.like(await faultOf(database.run({ text: 'SELECT 1 / $1::int', values: [0] })), {
    kind: 'other',
    code: '22012',
  })
  t.like(await faultOf(database.run({ text: 'SELEC', values: [] })), { kind: 'other', code: '42601' })
  t.is(toDatabaseFault(new Error('of mine')), undefined)
})

test('a statement that fails with a deadlock is retried', async t => {
  const database = await openTestDatabase(t)
  await database.run({ text: 'CREATE SEQUENCE turn', values: [] })
  await database.run({
    text: `CREATE FUNCTION second() RETURNS bigint LANGUAGE plpgsql AS
      'DECLARE turn bigint := nextval(''turn''); BEGIN IF turn = 1 THEN RAISE deadlock_detected; END IF; RETURN turn; END'`,
    values: [],
  })
  t.deepEqual((await database.run({ text: 'SELECT second()::text', values: [] })).rows, [['2']])
})

const server = testServer()

if (server) {
  test('a statement over its timeout is cancelled', async t => {
    const database = await openTestDatabase(t, { settings: { statementTimeout: 100 } })
    t.like(await faultOf(database.run({ text: 'SELECT pg_sleep(5)', values: [] })), { kind: 'timeout' })
    const allowed = database.transaction(
      transaction => transaction.run({ text: 'SELECT pg_sleep(0.2)', values: [] }),
      {
        statementTimeout: 0,
      },
    )
    t.is(await faultOf(allowed), undefined)
  })

  test('a deadlock is a retryable error', async t => {
    const database = await openTestDatabase(t)
    await database.run({ text: 'CREATE TABLE plate AS SELECT generate_series(1, 2) AS id', values: [] })
    let both = () => {}
    let arrived = 0
    const met = new Promise<void>(resolve => {
      both = resolve
    })
    const touch = (first: number, second: number) =>
      database.transaction(async transaction => {
        await transaction.run({ text: 'UPDATE plate SET id = id WHERE id = $1', values: [first] })
        if (++arrived === 2) both()
        await met
        await transaction.run({ text: 'UPDATE plate SET id = id WHERE id = $1', values: [second] })
      })
    const faults = await Promise.all([faultOf(touch(1, 2)), faultOf(touch(2, 1))])
    t.deepEqual(
      faults.flatMap(fault => fault?.kind ?? []),
      ['serialization'],
    )
  })

  test('after the server ended every connection, the next statements open new ones', async t => {
    const database = await openTestDatabase(t)
    const read = () => database.run({ text: 'SELECT 1', values: [] }, { readonly: true })
    await Promise.all(Array.from({ length: 10 }, read))
    const busy = faultOf(database.run({ text: 'SELECT pg_sleep(5)', values: [] }))
    const { rows } = await database.run({ text: 'SELECT current_database()', values: [] })
    await administer(
      server,
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${rows[0]?.[0]}'`,
    )
    const answers = await Promise.all(Array.from({ length: 20 }, read))
    t.true(answers.every(answer => answer.rows[0]?.[0] === 1))
    t.like(await busy, { kind: 'unavailable' })
  })

  test('a transaction whose connection is cut is unavailable and leaves no changes', async t => {
    const database = await openTestDatabase(t)
    await database.run({ text: 'CREATE TABLE plate (id int)', values: [] })
    const cut = database.transaction(async transaction => {
      await transaction.run({ text: 'INSERT INTO plate VALUES (1)', values: [] })
      await transaction.run({ text: 'SELECT pg_terminate_backend(pg_backend_pid())', values: [] })
    })
    t.like(await faultOf(cut), { kind: 'unavailable' })
    t.deepEqual((await database.run({ text: 'SELECT count(*) FROM plate', values: [] })).rows, [[0]])
  })

  test('when no connection becomes free in time, the database is busy', async t => {
    const database = await openTestDatabase(t, {
      settings: { pool: { max: 1, idle: 60_000, acquire: 1_000 } },
    })
    const one = { text: 'SELECT 1', values: [] }
    const fault = await database.transaction(async transaction => {
      await transaction.run(one)
      return faultOf(database.run(one))
    })
    t.like(fault, { kind: 'busy' })
    t.is(await faultOf(database.run(one)), undefined)
  })
}
