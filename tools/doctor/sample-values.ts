import type { Transaction } from '../../core/database/database.ts'
import type { Holder, ScalarAttribute, ValueType } from '../../core/model/model.ts'
import type { Storage } from '../../core/model/storage.ts'
import { parseValue } from '../../core/query/parse-value.ts'
import type { Value } from '../../core/query/query.ts'
import { quoteIdentifier as name } from '../../core/sql/identifier.ts'
import type { Sampling } from './parse-work.ts'

/** Samples attribute values: the median of some rows. The values are never printed. */
export interface Samples {
  readonly sample: Sampling
  /** Queries the values requested so far. */
  load(transaction: Pick<Transaction, 'run'>): Promise<void>
}

export function openSamples(storage: Storage): Samples {
  const wanted = new Map<ScalarAttribute, Holder>()
  const known = new Map<ScalarAttribute, Value>()
  return {
    sample(holder, attribute) {
      if (!known.has(attribute)) wanted.set(attribute, holder)
      return known.get(attribute) ?? fallbackFor(attribute.type)
    },
    async load(transaction) {
      for (const [attribute, holder] of wanted) {
        const { rows } = await transaction.run(printSample(holder, attribute, storage))
        const value = parseValue(attribute, rows[0]?.[0] ?? null)
        known.set(attribute, value.ok ? value.value : fallbackFor(attribute.type))
      }
      wanted.clear()
    },
  }
}

/** The sample size; small enough to be fast. */
const ROWS = 1000

function printSample(holder: Holder, attribute: ScalarAttribute, storage: Storage) {
  const table = holder.holder === 'component' ? storage.componentTable(holder) : storage.table(holder)
  const column = name(storage.column(holder, attribute.name))
  const some = `SELECT ${column} AS value FROM ${name(table.name)} WHERE ${column} IS NOT NULL LIMIT ${ROWS}`
  const text = `SELECT to_jsonb(value) #>> '{}' FROM (${some}) AS few
    ORDER BY value OFFSET (SELECT count(*) / 2 FROM (${some}) AS few) LIMIT 1`
  return { text, values: [], name: 'look at a value' }
}

const FALLBACKS: { readonly [Type in ValueType]?: Value } = {
  id: 1,
  integer: 1,
  biginteger: '1',
  float: 1,
  decimal: '1',
  boolean: true,
  date: '2026-01-01',
  time: '12:00:00',
  datetime: '2026-01-01T00:00:00.000Z',
  timestamp: '2026-01-01T00:00:00.000Z',
  json: '1',
  blocks: '1',
  array: '1',
}

const fallbackFor = (type: ValueType): Value => FALLBACKS[type] ?? 'a'
