import type { Transaction } from '../../database/database.ts'
import type { Storage, Table } from '../../model/storage.ts'
import { quoteIdentifier as ident, quoteText } from '../../sql/identifier.ts'

/** By table: what the sequence of its ids is called, quoted, with its schema. */
export type Sequences = ReadonlyMap<string, string>

const known = new WeakMap<Storage, Sequences>()

interface SequenceOptions {
  readonly transaction: Pick<Transaction, 'run'>
  readonly storage: Storage
  /** The schema of the tables. */
  readonly schema: string
}

/** Asks for the names of all once: PostgreSQL looks one up for longer than it takes a number. */
export async function sequencesOf(options: SequenceOptions): Promise<Sequences> {
  const before = known.get(options.storage)
  if (before) return before
  const names = await findSequences(options)
  known.set(options.storage, names)
  return names
}

async function findSequences({ transaction, storage, schema }: SequenceOptions): Promise<Sequences> {
  const tables = storage.tables.filter(isNumbered).map(table => table.name)
  const { rows } = await transaction.run({
    name: 'find sequences',
    text: `SELECT pg_get_serial_sequence(relation, 'id') FROM unnest($1::text[]) WITH ORDINALITY AS w (relation, place) ORDER BY place`,
    values: [tables.map(table => `${ident(schema)}.${ident(table)}`)],
  })
  const found = tables.map((table, index) => [table, rows[index]?.[0]] as const)
  return new Map(found.flatMap(([table, one]) => (typeof one === 'string' ? [[table, one]] : [])))
}

const isNumbered = ({ columns }: Table): boolean =>
  columns.some(({ name, generated }) => name === 'id' && generated === 'identity')

/** The sequence of a table's ids. */
export function sequenceOf(sequences: Sequences, table: string): string {
  const sequence = sequences.get(table)
  if (sequence === undefined) throw new TypeError(`no sequence of ${table}`)
  return sequence
}

/** The expression that takes the next id of a sequence. */
export const nextId = (sequence: string): string => `nextval(${quoteText(sequence)}::regclass)`

/** They may have other names now; whether any was known. */
export const forgetSequences = (storage: Storage): boolean => known.delete(storage)
