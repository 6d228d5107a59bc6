import type { Database, Transaction } from '../database/database.ts'
import { toDatabaseFault } from '../database/database-fault.ts'
import { retryTransaction } from '../database/retry-transaction.ts'
import { runAndRollBack } from '../migrate/plan-migration.ts'

/** Milliseconds per statement: a batch may need long queries. */
export const IMPORT_OPTIONS = { statementTimeout: 300_000 } as const

export interface BatchWork<Source, Value> {
  readonly documents: readonly Source[]
  /** Writes the whole batch. */
  write(transaction: Transaction): Promise<Value>
  /** Writes one of the documents. */
  writeOne(document: Source, transaction: Transaction): Promise<unknown>
  /** The error to throw if the database refuses a document. */
  refusal(document: Source, message: string): Error
}

/** How often a batch is tried that fails because of concurrent writes. */
const ATTEMPTS = 5

/** Writes a batch in a transaction. If the database refuses it twice, finds the document that it refuses. */
export async function transactBatch<Source, Value>(
  database: Pick<Database, 'transaction'>,
  work: BatchWork<Source, Value>,
): Promise<Value> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await retryTransaction(database, transaction => work.write(transaction), IMPORT_OPTIONS)
    } catch (error) {
      if (!isRefusal(error)) throw error
      const refused = attempt === 1 ? null : await findRefused(database, work)
      if (refused) throw refused
      if (attempt >= ATTEMPTS) throw error
    }
  }
}

/** Whether the database refused values; other errors are not the fault of a document. */
function isRefusal(error: unknown): boolean {
  const fault = toDatabaseFault(error)
  if (fault?.kind === 'other') return fault.code?.startsWith('22') === true
  return fault !== undefined && 'constraint' in fault
}

/** Writes one document after the other and rolls back. null: the database refuses none. */
async function findRefused<Source>(
  database: Pick<Database, 'transaction'>,
  { documents, writeOne, refusal }: BatchWork<Source, unknown>,
): Promise<Error | null> {
  let tried: Source | undefined
  const work = async (transaction: Transaction) => {
    for (const document of documents) {
      tried = document
      await writeOne(document, transaction)
      await transaction.run(BARRIER)
    }
    return null
  }
  try {
    return await runAndRollBack(database, work, IMPORT_OPTIONS)
  } catch (error) {
    if (tried === undefined || !isRefusal(error)) throw error
    return refusal(tried, `PostgreSQL does not take it: ${toDatabaseFault(error)?.message ?? ''}`)
  }
}

/** Waits for the results of pipelined statements. */
const BARRIER = { name: 'wait for what was sent', text: 'SELECT 1', values: [] }
