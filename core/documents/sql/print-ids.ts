import { quoteIdentifier as name, quoteText } from '../../sql/identifier.ts'
import type { Statement } from '../../sql/statement.ts'
import type { Sequences } from './known-sequences.ts'

/** How many ids are taken for which tables. */
export interface Allocation {
  readonly counts: ReadonlyMap<string, number>
  /** Of all tables. */
  readonly count: number
  readonly sequences: Sequences
}

/** One list of all ids, those of a table ascending. */
export function printIds({ counts, sequences }: Allocation, isShort: boolean, values: unknown[]): string {
  const next = (table: string) => {
    const sequence = sequences.get(table)
    if (sequence === undefined) throw new TypeError(`no sequence of ${table}`)
    return `nextval(${quoteText(sequence)}::regclass)`
  }
  if (!isShort)
    return Array.from(
      counts,
      ([table, count]) =>
        `ARRAY(SELECT ${next(table)} FROM generate_series(1, $${values.push(count)}::integer))`,
    ).join(' || ')
  const each = [...counts].flatMap(([table, count]) => new Array<string>(count).fill(next(table)))
  return `ARRAY[${each.join(', ')}]`
}

/** Takes ids for several tables: a row (place of the table, id) each, ascending within a table. */
export const printAllocate = (schema: string, counts: Allocation['counts']): Statement => ({
  name: 'take ids',
  text:
    'SELECT w.place, nextval(pg_get_serial_sequence(w.relation, $3)) ' +
    'FROM unnest($1::text[], $2::integer[]) WITH ORDINALITY AS w (relation, wanted, place), generate_series(1, w.wanted)',
  values: [[...counts.keys()].map(table => `${name(schema)}.${name(table)}`), [...counts.values()], 'id'],
})
