import test from 'ava'
import type { Database } from '../../core/database/database.ts'
import { openTestDatabase } from '../harness/test-database.ts'

const prepared = (database: Database) =>
  database.run({
    text: "SELECT statement FROM pg_prepared_statements WHERE statement ~ 'mine \\d' ORDER BY 1",
    values: [],
  })

/** With one connection there is one place where statements can be prepared. */
const ONE_CONNECTION = { pool: { max: 1, idle: 10_000, acquire: 5_000 } }

test('a statement returns text, exact integers, floats, booleans and null', async t => {
  const database = await openTestDatabase(t)
  const { rows, count } = await database.run({
    text: `SELECT $1::text, 5::int4, $2::int8, 9007199254740993::int8, 1.5::float8, true, null::text, '{"a":1}'::json,
      timestamptz '2024-02-29 12:00:00+02', 1.10::numeric`,
    values: ["it's", 7],
  })
  t.deepEqual(rows, [
    ["it's", 5, 7, '9007199254740993', 1.5, true, null, '{"a":1}', '2024-02-29 10:00:00+00', '1.10'],
  ])
  t.is(count, 1)
})

test('lists and other values arrive unchanged', async t => {
  const database = await openTestDatabase(t)
  const texts = ['', 'NULL', 'null', null, 'a,b', '{}', '"', '\\', "'", ' ', 'é😀', '\n']
  const { rows } = await database.run({
    text: 'SELECT to_json($1::text[])::text, to_json($2::float8[])::text, to_json($3::bool[])::text, $4::jsonb::text, $5::timestamptz::text, encode($6::bytea, $7), $8::text[] IS NULL, cardinality($9::int[])',
    values: [
      texts,
      [1.5, -2, null],
      [true, false],
      { a: [1] },
      new Date(0),
      Buffer.from('hi'),
      'hex',
      null,
      [],
    ],
  })
  const [list, numbers, flags, ...rest] = rows[0] ?? []
  t.deepEqual(
    [list, numbers, flags].map(text => JSON.parse(String(text))),
    [texts, [1.5, -2, null], [true, false]],
  )
  t.deepEqual(rest, ['{"a": [1]}', '1970-01-01 00:00:00+00', '6869', true, 0])
})

test('a value that PostgreSQL cannot represent is refused, and the connection keeps working', async t => {
  const database = await openTestDatabase(t, { settings: ONE_CONNECTION })
  await t.throwsAsync(database.run({ text: 'SELECT $1::text', values: [() => 1] }), { message: /no form/ })
  t.deepEqual((await database.run({ text: 'SELECT $1::text', values: ['1'] })).rows, [['1']])
})

test('a write returns the number of affected rows', async t => {
  const database = await openTestDatabase(t)
  await database.run({ text: 'CREATE TABLE plate (id int)', values: [] })
  t.is((await database.run({ text: 'INSERT INTO plate SELECT generate_series(1, 3)', values: [] })).count, 3)
  t.is((await database.run({ text: 'UPDATE plate SET id = id WHERE id > $1', values: [1] })).count, 2)
})

test('a statement text is prepared once', async t => {
  const database = await openTestDatabase(t, { settings: ONE_CONNECTION })
  for (let value = 0; value < 20; value++) {
    const { rows } = await database.run({ text: 'SELECT $1::int /* mine 1 */', values: [value] })
    t.deepEqual(rows, [[value]])
  }
  t.deepEqual((await prepared(database)).rows, [['SELECT $1::int /* mine 1 */']])
})

test('a connection keeps the most recently used statements prepared', async t => {
  const database = await openTestDatabase(t, { settings: ONE_CONNECTION, open: { statementLimit: 4 } })
  const run = (number: number) => database.run({ text: `SELECT ${number} /* mine ${number} */`, values: [] })
  for (const number of [1, 2, 3, 4, 1, 5, 6]) t.deepEqual((await run(number)).rows, [[number]])
  // The question is the fourth text, and pushed number 4 out.
  t.deepEqual((await prepared(database)).rows, [
    ['SELECT 1 /* mine 1 */'],
    ['SELECT 5 /* mine 5 */'],
    ['SELECT 6 /* mine 6 */'],
  ])
  t.deepEqual((await run(2)).rows, [[2]])
})

test('preparedStatements: false prepares nothing', async t => {
  const database = await openTestDatabase(t, { settings: { ...ONE_CONNECTION, preparedStatements: false } })
  await database.run({ text: 'SELECT $1::int /* mine 1 */', values: [1] })
  t.deepEqual((await prepared(database)).rows, [])
})

test('a statement keeps working after a column of its table changed type', async t => {
  const database = await openTestDatabase(t)
  await database.run({ text: 'CREATE TABLE plate AS SELECT 1 AS size', values: [] })
  const read = () => database.run({ text: 'SELECT * FROM plate', values: [] })
  t.deepEqual((await read()).rows, [[1]])
  await database.run({
    text: "ALTER TABLE plate ALTER size TYPE text, ADD name text DEFAULT 'soup'",
    values: [],
  })
  t.deepEqual((await read()).rows, [['1', 'soup']])
})

test('a deallocated statement is prepared again', async t => {
  const database = await openTestDatabase(t, { settings: ONE_CONNECTION })
  const run = () => database.run({ text: 'SELECT 7', values: [] })
  await run()
  await database.run({ text: 'DEALLOCATE ALL', values: [] })
  t.deepEqual((await run()).rows, [[7]])
})

test('concurrent statements each get their own result', async t => {
  const database = await openTestDatabase(t)
  const numbers = Array.from({ length: 300 }, (_, number) => number)
  const answers = await Promise.all(
    numbers.map(number => database.run({ text: `SELECT $1::int, ${number % 40}`, values: [number] })),
  )
  t.deepEqual(
    answers.map(({ rows }) => rows[0]),
    numbers.map(number => [number, number % 40]),
  )
})

test('a new connection has the session settings of the project', async t => {
  const database = await openTestDatabase(t, { settings: { schema: 'my "own"', statementTimeout: 12_000 } })
  const names = ['jit', 'TimeZone', 'statement_timeout', 'search_path']
  const { rows } = await database.run({
    text: 'SELECT current_setting(name) FROM unnest($1::text[]) AS name',
    values: [names],
  })
  t.deepEqual(rows.flat(), ['off', 'UTC', '12s', '"my ""own"""'])
})

test('ping returns its duration', async t => {
  const database = await openTestDatabase(t)
  const ping = await database.ping()
  t.true(ping.ok && ping.milliseconds < 2_000)
})

test('a closed database refuses statements, and closing it again is allowed', async t => {
  const database = await openTestDatabase(t)
  await database.close()
  await database.close()
  await t.throwsAsync(database.run({ text: 'SELECT 1', values: [] }), { name: 'DatabaseFailure' })
  t.false((await database.ping()).ok)
})
