import type { Database, Transaction } from '../../core/database/database.ts'
import { takeBack } from '../../core/migrate/run-and-roll-back.ts'
import { printIndex } from '../../core/sql/ddl.ts'
import { quoteIdentifier as name } from '../../core/sql/identifier.ts'
import type { PlanNode } from './explain.ts'
import type { Proposal } from './propose-index.ts'

/** Work that PostgreSQL expects, in units of its own. */
export interface Trial {
  readonly before: number
  readonly after: number
}

/** Makes the index in a transaction that is taken back, and asks what it would change. Writers of the table wait meanwhile. */
export function tryIndex(
  database: Database,
  table: string,
  { index }: Proposal,
  plan: (transaction: Transaction) => Promise<PlanNode>,
): Promise<Trial> {
  return takeBack(database, async transaction => {
    const before = await plan(transaction)
    await transaction.run({ text: printIndex(database.schema, table, index), values: [] })
    await transaction.run({ text: `ANALYZE ${name(database.schema)}.${name(table)}`, values: [] })
    const after = await plan(transaction)
    return { before: before['Total Cost'], after: after['Total Cost'] }
  })
}
