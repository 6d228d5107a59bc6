import { isStored } from './desired-state.ts'
import type { Answer } from './documents.ts'
import { toSingleTableStatement } from './read/plan-once.ts'
import type { WriteOptions } from './rows/write-options.ts'
import type { ReturningQuery } from './sql/print-changes.ts'

/** The query of an answer that reads only the written rows; undefined: it reads other tables, or a parameter is a list. */
export function returningQueryOf(
  { query, shape }: Answer,
  documentId: string,
  { storage, defaultLocale }: Pick<WriteOptions, 'storage' | 'defaultLocale'>,
): ReturningQuery | undefined {
  const statement = toSingleTableStatement(query, { storage, defaultLocale, shape }, documentId)
  return statement?.values.every(isStored)
    ? { table: statement.table, text: statement.text, values: statement.values, plan: statement.plan }
    : undefined
}
