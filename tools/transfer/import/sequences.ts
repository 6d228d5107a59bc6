import type { Transaction } from '../../../core/database/database.ts'
import { quoteIdentifier as name, quoteText } from '../../../core/sql/identifier.ts'

type Runner = Pick<Transaction, 'run'>

/** Where a sequence is, held still until the transaction ends. */
interface Held {
  /** Its name, quoted. */
  readonly sequence: string
  /** The number that it gave last; 0: none yet. */
  readonly last: number
}

/** Whoever takes a number waits meanwhile: changing a sequence locks it, whatever is changed. */
async function hold(runner: Runner, schema: string, table: string): Promise<Held> {
  const relation = `${name(schema)}.${name(table)}`
  const { rows } = await runner.run({
    name: `find the sequence of ${table}`,
    text: 'SELECT pg_get_serial_sequence($1, $2)',
    values: [relation, 'id'],
  })
  const sequence = String(rows[0]?.[0])
  await runner.run({
    name: `hold the sequence of ${table}`,
    text: `ALTER SEQUENCE ${sequence} CACHE 1`,
    values: [],
  })
  const held = await runner.run({
    name: `read the sequence of ${table}`,
    text: `SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM ${sequence}`,
    values: [],
  })
  return { sequence, last: Number(held.rows[0]?.[0] ?? 0) }
}

const move = (runner: Runner, { sequence }: Held, to: number) =>
  runner.run({
    name: 'move a sequence',
    text: `SELECT setval(${quoteText(sequence)}::regclass, $1::bigint)`,
    values: [to],
  })

/** Takes so many numbers that follow one another; answers the one before the first. */
export async function reserve(runner: Runner, schema: string, table: string, count: number): Promise<number> {
  const held = await hold(runner, schema, table)
  if (count > 0) await move(runner, held, held.last + count)
  return held.last
}

/** No number up to this one is given from now on. */
export async function pass(runner: Runner, schema: string, table: string, number: number): Promise<void> {
  const held = await hold(runner, schema, table)
  if (number > held.last) await move(runner, held, number)
}
