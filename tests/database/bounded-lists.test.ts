import test from 'ava'
import { toDatabaseFault } from '../../core/database/database-fault.ts'
import { printBounded } from '../../core/sql/print-bounded.ts'
import { openTestDatabase } from '../harness/test-database.ts'

const PATH = ['author', 'articles']

test('a list that is too large is ended at its first row too many, and the rows behind it are not made', async t => {
  const database = await openTestDatabase(t)
  await database.run({ text: 'CREATE SEQUENCE made', values: [] })
  const run = async (count: number) => {
    const rows = `SELECT nextval('made') AS n, repeat('x', 1000) AS x FROM generate_series(1, ${count})`
    const text = `SELECT json_agg(b.text::json)::text FROM (${printBounded(rows, PATH, 10_000)}) b`
    const { rows: answered } = await database.run({ text, values: [] })
    return (JSON.parse(String(answered[0]?.[0])) as { n: number }[]).map(({ n }) => n)
  }
  const made = async () => {
    const { rows } = await database.run({ text: 'SELECT last_value::integer FROM made', values: [] })
    return Number(rows[0]?.[0])
  }
  t.deepEqual(await run(5), [1, 2, 3, 4, 5])
  const error = await t.throwsAsync(run(5_000))
  const fault = toDatabaseFault(error)
  t.is(fault?.kind, 'too-large')
  t.deepEqual(fault?.kind === 'too-large' && fault.seen, { path: ['author', 'articles'] })
  t.true((await made()) < 25, `${await made()} rows were made`)
})
