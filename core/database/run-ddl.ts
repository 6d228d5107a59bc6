import type { Database, Transaction } from './database.ts'

/** The database and the transaction in which a migration's statements run. */
export interface DdlContext {
  readonly database: Database
  readonly transaction: Transaction
}

/** Characters of SQL per round trip: few round trips, and messages of a bounded size. */
const BATCH = 64 * 1024

/** Runs statements without parameters or results (DDL), many per round trip. They cannot be prepared. */
export async function runDdl(
  { transaction }: Pick<DdlContext, 'transaction'>,
  statements: readonly string[],
): Promise<void> {
  for (const batch of toBatches(statements)) await transaction.runScript(batch)
}

function* toBatches(statements: readonly string[]): Generator<string> {
  let batch = ''
  for (const statement of statements) {
    batch += `${statement};\n`
    if (batch.length < BATCH) continue
    yield batch
    batch = ''
  }
  if (batch !== '') yield batch
}
