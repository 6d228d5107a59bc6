import test from 'ava'
import { toDatabaseFault } from '../../core/database/database-fault.ts'
import { printBounded, printBoundedUnion } from '../../core/sql/print-bounded.ts'
import { openTestDatabase } from '../harness/test-database.ts'

const PATH = ['author', 'articles']

const lists = {
  list: (count: number) => {
    const rows = `SELECT nextval('made') AS n, repeat('x', 1000) AS x FROM generate_series(1, ${count})`
    return `SELECT json_agg(b.json)::text FROM (${printBounded(rows, PATH, 10_000)}) b`
  },
  'list of several shapes': (count: number) => {
    const json = `json_build_object('n', nextval('made'), 'x', repeat('x', 1000)) AS json, (0, n) AS position`
    const rows = `SELECT ${json} FROM generate_series(1, ${count}) n`
    return `SELECT json_agg(b.json ORDER BY b.position)::text FROM (${printBoundedUnion(rows, PATH, 10_000)}) b`
  },
}

for (const [name, print] of Object.entries(lists))
  test(`a ${name} that is too large ends at the first row over its limit, without computing the remaining rows`, async t => {
    const database = await openTestDatabase(t)
    await database.run({ text: 'CREATE SEQUENCE made', values: [] })
    const run = async (count: number) => {
      const { rows: answered } = await database.run({ text: print(count), values: [] })
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
