import type { Database, Transaction } from './database.ts'

/** Where a migration's statements run. */
export interface Site {
  readonly database: Database
  readonly transaction: Transaction
}

/** Characters of SQL to send at once: few round trips, and messages of a bounded size. */
const BATCH = 64 * 1024

/**
 * Runs statements that take no parameters and answer nothing (DDL), many a round trip. They cannot be prepared,
 * and Sequelize's queryInterface has no words for partial indexes, checks and identity columns.
 */
export async function runPlain(site: Site, statements: readonly string[]): Promise<void> {
  for (const batch of batches(statements)) {
    await site.database.sequelize.query(batch, { transaction: site.transaction.sequelize, raw: true })
  }
}

function* batches(statements: readonly string[]): Generator<string> {
  let batch = ''
  for (const statement of statements) {
    batch += `${statement};\n`
    if (batch.length < BATCH) continue
    yield batch
    batch = ''
  }
  if (batch !== '') yield batch
}
