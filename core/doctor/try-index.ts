import type { Database, Transaction } from '../database/database.ts'
import { printIndex } from '../database/schema-print.ts'
import { quoteIdentifier as name } from '../sql/identifier.ts'
import type { PlanNode } from './explain.ts'
import type { Proposal } from './propose-index.ts'

/** Work that PostgreSQL expects, in units of its own. */
export interface Trial {
  readonly before: number
  readonly after: number
}

/** Makes the index in a transaction that is taken back, and asks what it would change. Writers of the table wait meanwhile. */
export async function tryIndex(
  database: Database,
  table: string,
  { index }: Proposal,
  plan: (transaction: Transaction) => Promise<PlanNode>,
): Promise<Trial> {
  const work = async (transaction: Transaction) => {
    const before = await plan(transaction)
    await transaction.run({ text: printIndex(database.schema, table, index), values: [] })
    await transaction.run({ text: `ANALYZE ${name(database.schema)}.${name(table)}`, values: [] })
    const after = await plan(transaction)
    throw new TakenBack({ before: before['Total Cost'], after: after['Total Cost'] })
  }
  try {
    return await database.transaction(work)
  } catch (error) {
    if (error instanceof TakenBack) return error.trial
    throw error
  }
}

/** Carries what was learnt out of the transaction, which is rolled back by it. */
class TakenBack extends Error {
  override readonly name = 'TakenBack'
  readonly trial: Trial

  constructor(trial: Trial) {
    super('tried, and taken back')
    this.trial = trial
  }
}
